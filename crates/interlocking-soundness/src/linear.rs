//! Linear programs, solved by the simplex method, as far as [`agent_calls`](crate::agent_calls()) needs them.

/// A linear program: maximises a weighted sum of non-negative variables under upper limits on other weighted sums.
#[derive(Default)]
pub(crate) struct Program {
    /// By variable: the coefficient in the sum to maximise.
    objective: Vec<f64>,
    limits: Vec<Limit>,
}

struct Limit {
    terms: Vec<(Variable, f64)>,
    at_most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variable(usize);

/// The greatest value, and the variables' values there.
pub(crate) struct Optimum {
    pub(crate) value: f64,
    values: Vec<f64>,
}

/// Smaller than any significant number: all coefficients are integers.
const EPSILON: f64 = 1e-9;

/// How many numbers of its table a solution may read or change, about a second without optimisation: a table must not
/// stop a compiler.
const MOST_NUMBERS: usize = 1 << 26;

impl Program {
    pub(crate) fn variable(&mut self, objective: f64) -> Variable {
        self.objective.push(objective);
        Variable(self.objective.len() - 1)
    }

    /// Limits a sum. The limit must not be negative, so that all variables can be 0.
    pub(crate) fn limit(&mut self, terms: Vec<(Variable, f64)>, at_most: f64) {
        self.limits.push(Limit { terms, at_most });
    }

    /// The optimum; `None` if the sum is unbounded, or the optimum is not found with [`MOST_NUMBERS`].
    pub(crate) fn maximise(&self) -> Option<Optimum> {
        let (variables, limits) = (self.objective.len(), self.limits.len());
        let width = variables + limits + 1;
        let mut left = MOST_NUMBERS.checked_sub(limits.saturating_mul(width))?;
        // Each row defines one basic variable; at first the slack variable of each limit is basic.
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(limits);
        for (at, limit) in self.limits.iter().enumerate() {
            let mut row = vec![0.0; width];
            limit.terms.iter().for_each(|(variable, factor)| row[variable.0] += factor);
            row[variables + at] = 1.0;
            row[width - 1] = limit.at_most;
            rows.push(row);
        }
        let mut basic: Vec<usize> = (variables..variables + limits).collect();
        let mut objective: Vec<f64> = self.objective.clone();
        objective.resize(width, 0.0);
        // Bland's rule: the lowest index that gains enters, and the lowest that may leave leaves, so no basis repeats.
        while let Some(enters) = objective[..width - 1].iter().position(|&objective| objective > EPSILON) {
            let mut leaves: Option<(f64, usize)> = None;
            for (at, row) in rows.iter().enumerate().filter(|(_, row)| row[enters] > EPSILON) {
                let ratio = row[width - 1] / row[enters];
                let better = leaves.is_none_or(|(least, best)| {
                    ratio < least - EPSILON || (ratio < least + EPSILON && basic[at] < basic[best])
                });
                if better {
                    leaves = Some((ratio, at));
                }
            }
            let (_, leaves) = leaves?;
            let changed = pivot(&mut rows, &mut objective, leaves, enters);
            left = left.checked_sub(width + limits + changed)?;
            basic[leaves] = enters;
        }
        let mut values = vec![0.0; variables];
        for (&variable, row) in basic.iter().zip(&rows).filter(|(variable, _)| **variable < variables) {
            values[variable] = row[width - 1];
        }
        Some(Optimum { value: -objective[width - 1], values })
    }
}

/// Makes `enters` basic in row `leaves`. Returns how many numbers of other rows are changed.
fn pivot(rows: &mut [Vec<f64>], objective: &mut [f64], leaves: usize, enters: usize) -> usize {
    let factor = rows[leaves][enters];
    rows[leaves].iter_mut().for_each(|value| *value /= factor);
    let pivot = rows[leaves].clone();
    let used: Vec<(usize, f64)> = pivot.iter().copied().enumerate().filter(|(_, value)| *value != 0.0).collect();
    let others = rows.iter_mut().enumerate().filter(|(at, _)| *at != leaves).map(|(_, row)| &mut row[..]);
    let mut changed = 0;
    for row in others.chain([objective]) {
        let factor = row[enters];
        if factor != 0.0 {
            used.iter().for_each(|&(column, value)| row[column] -= factor * value);
            row[enters] = 0.0;
            changed += used.len();
        }
    }
    changed
}

impl Optimum {
    pub(crate) fn of(&self, variable: Variable) -> f64 {
        self.values[variable.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optimum_lies_where_limits_meet() {
        let mut program = Program::default();
        let (x, y) = (program.variable(3.0), program.variable(5.0));
        program.limit(vec![(x, 1.0)], 4.0);
        program.limit(vec![(y, 2.0)], 12.0);
        program.limit(vec![(x, 3.0), (y, 2.0)], 18.0);
        let optimum = program.maximise().unwrap();
        assert!((optimum.value - 36.0).abs() < 1e-6);
        assert!((optimum.of(x) - 2.0).abs() < 1e-6 && (optimum.of(y) - 6.0).abs() < 1e-6);
    }

    #[test]
    fn without_a_limit_there_is_none() {
        let mut program = Program::default();
        let (x, y) = (program.variable(1.0), program.variable(0.0));
        program.limit(vec![(x, 1.0), (y, -1.0)], 2.0);
        assert!(program.maximise().is_none());
        program.limit(vec![(y, 1.0)], 3.0);
        assert!(program.maximise().is_some_and(|optimum| (optimum.value - 5.0).abs() < 1e-6));
    }

    #[test]
    fn degenerate_corners_do_not_go_round() {
        // Beale's example, on which the rule of the greatest gain cycles for ever.
        let mut program = Program::default();
        let x = [0.75, -150.0, 0.02, -6.0].map(|objective| program.variable(objective));
        program.limit(vec![(x[0], 0.25), (x[1], -60.0), (x[2], -0.04), (x[3], 9.0)], 0.0);
        program.limit(vec![(x[0], 0.5), (x[1], -90.0), (x[2], -0.02), (x[3], 3.0)], 0.0);
        program.limit(vec![(x[2], 1.0)], 1.0);
        assert!(program.maximise().is_some_and(|optimum| (optimum.value - 0.05).abs() < 1e-6));
    }
}
