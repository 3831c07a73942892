//! What the writer remembers of runs, so that a record is written without reading.

use crate::payloads::stored::Base;
use interlocking_core::run_id::RunId;
use std::collections::{HashMap, HashSet};

/// Of how many runs and of how many bytes of payloads it remembers something.
const RUNS: usize = 16_384;
const BYTES: usize = 256 << 20;

/// What is remembered.
#[derive(Debug, Default)]
pub(crate) struct Known {
    runs: HashMap<RunId, KnownRun>,
    bytes: usize,
    /// The database's state as this connection saw it, and how often payloads had been removed.
    pub(crate) version: Option<i64>,
    pub(crate) sweeps: Option<i64>,
}

/// What is remembered of a run.
#[derive(Debug, Default)]
pub(crate) struct KnownRun {
    /// Where it stands; unknown if another process may have changed it.
    pub(crate) position: Option<Position>,
    /// The last payload of each place.
    pub(crate) bases: HashMap<String, Base>,
    /// The places that were looked up.
    pub(crate) looked_up: HashSet<String>,
    /// Whether all places were seen: the run was started here.
    pub(crate) from_the_start: bool,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Its row; absent while it has no record.
    pub(crate) id: Option<i64>,
    pub(crate) started_ms: i64,
    /// How many records it has.
    pub(crate) records: u64,
    /// When the last was written, in milliseconds after the start.
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

    /// What a run's bases amount to has changed.
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
