//! What a list of runs says of one.

use crate::journal::record::Origin;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};

/// What a journal knows of a run without reading its payloads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The run.
    pub run: RunId,
    /// The graph's name.
    pub graph: String,
    /// Which run it comes from, if it comes from one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// How many records it has.
    pub records: u64,
    /// When its first record was written, in milliseconds since 1970 by the wall clock.
    pub started_at_ms: u64,
    /// When its latest record was written.
    pub updated_at_ms: u64,
    /// How it ended, as its last entry but for addenda says: `finished`, `failed`, `cancelled`; absent where it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Who works on it now: process id and machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
}

impl RunSummary {
    /// Whether it has ended with nothing that somebody could go on with.
    pub(crate) fn came_to_nothing(&self) -> bool {
        matches!(self.ended.as_deref(), Some("failed" | "cancelled"))
    }
}
