//! What a journal counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// What an open journal has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions that it committed.
    pub commits: u64,
    /// Those of them that waited for the disk. Checkpoints are not among them.
    pub syncs: u64,
    /// Records that it wrote.
    pub records: u64,
    /// Payload objects that it wrote.
    pub objects: u64,
    /// Payload objects that were read, a chain of splices as one.
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
