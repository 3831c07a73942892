//! Counters of a journal's work.

use std::sync::atomic::{AtomicU64, Ordering};

/// What an open journal has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Committed transactions.
    pub commits: u64,
    /// Committed transactions that waited for the disk. Checkpoints are not counted.
    pub syncs: u64,
    /// Records written.
    pub records: u64,
    /// Payload objects written.
    pub objects: u64,
    /// Payload objects read. A chain of splices counts as one.
    pub reads: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) commits: AtomicU64,
    pub(crate) syncs: AtomicU64,
    pub(crate) records: AtomicU64,
    pub(crate) objects: AtomicU64,
    pub(crate) reads: AtomicU64,
}

impl Counters {
    pub(crate) fn now(&self) -> Stats {
        let Self { commits, syncs, records, objects, reads } = self;
        let [commits, syncs, records, objects, reads] =
            [commits, syncs, records, objects, reads].map(|counter| counter.load(Ordering::Relaxed));
        Stats { commits, syncs, records, objects, reads }
    }
}
