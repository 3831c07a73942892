//! The calls that a run made before this process.

use interlocking_agents::LedgerEntry;
use interlocking_core::run_id::RunId;

/// The calls of one run, according to its records.
pub(crate) struct PastCalls {
    pub(crate) run: RunId,
    /// The run's parent, if it is a child run.
    pub(crate) parent: Option<RunId>,
    pub(crate) calls: Vec<LedgerEntry>,
    /// Whether the run has not ended, and has its turn among other runs.
    pub(crate) has_turn: bool,
}
