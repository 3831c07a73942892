//! Compares two times in interleaved rounds: disturbances affect both, and ratios cancel them out.

use std::fmt;
use std::time::{Duration, Instant};

/// The times of a subject and of its baseline, round by round.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    rounds: Vec<(Duration, Duration)>,
}

/// Runs both `rounds` times, after one warm-up round that does not count. The order changes from round to round.
pub fn compare(rounds: usize, mut subject: impl FnMut(), mut baseline: impl FnMut()) -> Comparison {
    compare_by(rounds, || time(&mut subject), || time(&mut baseline))
}

/// The same for functions that measure their own time.
pub fn compare_by(
    rounds: usize,
    mut subject: impl FnMut() -> Duration,
    mut baseline: impl FnMut() -> Duration,
) -> Comparison {
    let mut comparison = Comparison::default();
    for round in 0..=rounds {
        let times = if round % 2 == 0 {
            let first = subject();
            (first, baseline())
        } else {
            let first = baseline();
            (subject(), first)
        };
        if round > 0 {
            comparison.rounds.push(times);
        }
    }
    comparison
}

fn time(work: &mut impl FnMut()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

impl Comparison {
    /// The time of the subject divided by that of the baseline: the minimum, the median and the maximum of all rounds.
    pub fn ratios(&self) -> [f64; 3] {
        spread(self.rounds.iter().map(|(subject, baseline)| subject.as_secs_f64() / baseline.as_secs_f64()).collect())
    }

    /// The median times of the subject and of the baseline, each divided by `count`.
    pub fn times(&self, count: u64) -> [Duration; 2] {
        let middle = |times: Vec<f64>| Duration::from_secs_f64(spread(times)[1] / count as f64);
        [
            middle(self.rounds.iter().map(|(subject, _)| subject.as_secs_f64()).collect()),
            middle(self.rounds.iter().map(|(_, baseline)| baseline.as_secs_f64()).collect()),
        ]
    }

    /// A line of the report, for `count` parts per round.
    pub fn line(&self, name: &str, count: u64, goal: Option<f64>) -> impl fmt::Display {
        let ([least, middle, most], [subject, baseline]) = (self.ratios(), self.times(count));
        let goal = goal.map_or_else(String::new, |goal| format!("  goal {goal:.2}"));
        let rounds = self.rounds.len();
        format!(
            "{name:<34} {subject:>10.1?} / {baseline:>10.1?}   ratio {least:.2} / {middle:.2} / {most:.2} \
             (min / median / max of {rounds}){goal}"
        )
    }
}

fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [values.first(), values.get(values.len() / 2), values.last()].map(|value| value.copied().unwrap_or(f64::NAN))
}
