//! How often edges with a budget have been taken.

use super::Frontier;
use crate::net::{Alternative, AlternativeIndex};
use crate::violation::Violation;

impl<P> Frontier<'_, P> {
    /// Whether an edge has been taken as often as its budget allows. A node that then chooses it takes the edge's
    /// exhausted route instead.
    #[inline]
    pub fn is_spent(&self, edge: AlternativeIndex) -> bool {
        // Most nets have no budgeted edge.
        !self.taken.is_empty() && self.net.alternative(edge).is_some_and(|edge| self.has_spent(edge))
    }

    /// How often an edge has been taken so far, if it has a budget.
    pub fn taken(&self, edge: AlternativeIndex) -> Option<u32> {
        let times = self.net.alternative(edge)?.times?;
        self.taken.get(usize::from(times.counter)).copied()
    }

    fn has_spent(&self, edge: &Alternative) -> bool {
        edge.times.is_some_and(|times| self.taken[usize::from(times.counter)] >= times.limit)
    }

    /// Checks that an edge is not spent, and that an edge's exhausted route is taken only once the edge is spent.
    pub(super) fn within_budget(&self, alternative: &Alternative) -> Result<(), Violation> {
        if self.taken.is_empty() {
            return Ok(());
        }
        let from = || self.net.name(alternative.source).to_owned();
        match alternative.times {
            Some(times) if self.has_spent(alternative) => {
                let to = alternative.only.first().map(|&place| self.net.place(place).name.clone()).unwrap_or_default();
                Err(Violation::EdgeSpent { from: from(), to, times: times.limit })
            }
            None if alternative.instead_of.is_some_and(|edge| !self.is_spent(edge)) => {
                Err(Violation::NotInTable { from: from() })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn count_taken(&mut self, alternative: &Alternative) {
        if let Some(times) = alternative.times {
            self.taken[usize::from(times.counter)] += 1;
        }
    }
}
