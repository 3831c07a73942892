//! How much a check may do, beside the markings that it looks at: so that no table takes a compiler's time or memory away.
//!
//! It is counted in words of bit sets and not in seconds, so that a verdict is the same on every machine. Small tables do not
//! come near it: it is for those whose every marking is large.

use std::cell::Cell;

/// How many words may be touched for each marking that may be looked at; those of a search that looks at few are spent on
/// others, and on what comes before it.
const A_MARKING: usize = 100_000;

/// Keeping a word costs as much as touching it so often: the default limit keeps half a gigabyte at most.
const KEPT: u64 = 32;

#[derive(Debug)]
pub(crate) struct Effort(Cell<u64>);

impl Effort {
    /// What looking at `limit` markings is worth.
    pub(crate) fn of(limit: usize) -> Self {
        Self(Cell::new(limit.saturating_mul(A_MARKING) as u64))
    }

    pub(crate) fn touch(&self, words: usize) {
        self.0.set(self.0.get().saturating_sub(words as u64));
    }

    pub(crate) fn keep(&self, words: usize) {
        self.0.set(self.0.get().saturating_sub((words as u64).saturating_mul(KEPT)));
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// How many words a set of so many has.
pub(crate) fn words(capacity: usize) -> usize {
    capacity / 64 + 1
}
