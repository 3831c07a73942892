//! The writer's cache of runs: with it, a record is written without reading from the database.

use crate::payloads::stored::Base;
use interlocking_core::run_id::RunId;
use std::collections::{HashMap, HashSet};

/// The maximum number of cached runs. Beyond it, the cache is cleared.
const RUNS: usize = 16_384;
/// The maximum size of cached payloads, in bytes. Beyond it, the cache is cleared.
const BYTES: usize = 256 << 20;

/// The cache.
#[derive(Debug, Default)]
pub(crate) struct Known {
    runs: HashMap<RunId, KnownRun>,
    bytes: usize,
    /// `PRAGMA data_version` when the cache was last checked: another value says that another connection has written.
    pub(crate) version: Option<i64>,
    /// How many sweeps had removed payloads when the cache was last checked.
    pub(crate) sweeps: Option<i64>,
}

/// What is cached of a run.
#[derive(Debug, Default)]
pub(crate) struct KnownRun {
    /// The run's position; absent if another process may have changed it.
    pub(crate) position: Option<Position>,
    /// The last payload of each place.
    pub(crate) bases: HashMap<String, Base>,
    /// The places whose last payload was looked up in the database.
    pub(crate) looked_up: HashSet<String>,
    /// Whether the run is cached since its first record, so that `bases` has all its places.
    pub(crate) from_the_start: bool,
}

/// The end of a run's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The id of the run's row; absent while the run has no record.
    pub(crate) id: Option<i64>,
    pub(crate) started_ms: i64,
    /// How many records the run has.
    pub(crate) records: u64,
    /// When the last record was written, in milliseconds after the start.
    pub(crate) at_ms: i64,
}

impl Known {
    pub(crate) fn run(&mut self, run: &RunId) -> &mut KnownRun {
        if self.bytes > BYTES || self.runs.len() > RUNS {
            self.forget();
        }
        if !self.runs.contains_key(run) {
            self.runs.insert(run.clone(), KnownRun::default());
        }
        self.runs.entry(run.clone()).or_default()
    }

    /// Notes that the size of a run's bases has changed from `before` to `after` bytes.
    pub(crate) fn grew(&mut self, before: usize, after: usize) {
        self.bytes = (self.bytes + after).saturating_sub(before);
    }

    pub(crate) fn forget(&mut self) {
        self.runs.clear();
        self.bytes = 0;
    }

    pub(crate) fn forget_run(&mut self, run: &RunId) {
        if let Some(known) = self.runs.remove(run) {
            self.bytes = self.bytes.saturating_sub(known.bytes());
        }
    }

    pub(crate) fn forget_positions(&mut self) {
        self.runs.values_mut().for_each(|known| known.position = None);
    }
}

impl KnownRun {
    pub(crate) fn bytes(&self) -> usize {
        self.bases.values().map(|base| base.text.len()).sum()
    }
}
