//! The summary of a run in a list of runs.

use crate::journal::record::Origin;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};

/// A summary of a run, which a journal has without reading payloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// The graph's name.
    pub graph: String,
    /// The run that it comes from, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// How many records it has.
    pub records: u64,
    /// When its first record was written, in milliseconds since 1970 by the wall clock.
    pub started_at_ms: u64,
    /// When its latest record was written, in milliseconds since 1970 by the wall clock.
    pub updated_at_ms: u64,
    /// How it ended: `finished`, `failed` or `cancelled`; absent where it has not ended. Addenda after the end do not change
    /// this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The present executor: process id and machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

impl RunSummary {
    /// The summary of a run that is not derived from another one, is not being executed, and whose number of records and times a
    /// journal has yet to fill in: they are 0.
    pub fn new(run: RunId, graph: impl Into<String>) -> Self {
        let (origin, records, started_at_ms, updated_at_ms, ended, holder) = Default::default();
        Self { run, graph: graph.into(), origin, records, started_at_ms, updated_at_ms, ended, holder }
    }

    /// Whether it has failed or was cancelled.
    pub(crate) fn ended_without_result(&self) -> bool {
        matches!(self.ended.as_deref(), Some("failed" | "cancelled"))
    }
}
