//! The bound on the work of a check besides the number of markings, so that no table takes too much of the compiler's
//! time or memory.
//!
//! Effort is counted in words of bit sets and not in seconds, so that a verdict is the same on every machine. Small
//! tables do not come near the bound: it is for tables with large markings.

use std::cell::Cell;

/// How many words may be touched per marking that may be visited. A search that visits few markings leaves its share to
/// other searches and to their preparation.
const WORDS_PER_MARKING: usize = 100_000;

/// The cost of storing a word, in touches: with the default limit, at most half a gigabyte is stored.
const STORE_COST: u64 = 32;

#[derive(Debug)]
pub(crate) struct Effort(Cell<u64>);

impl Effort {
    /// The effort for a limit of `limit` markings.
    pub(crate) fn of(limit: usize) -> Self {
        Self(Cell::new(limit.saturating_mul(WORDS_PER_MARKING) as u64))
    }

    pub(crate) fn touch(&self, words: usize) {
        self.0.set(self.0.get().saturating_sub(words as u64));
    }

    pub(crate) fn keep(&self, words: usize) {
        self.0.set(self.0.get().saturating_sub((words as u64).saturating_mul(STORE_COST)));
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// How many words a set of that capacity has.
pub(crate) fn words(capacity: usize) -> usize {
    capacity / 64 + 1
}
