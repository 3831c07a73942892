//! What a run had done before.

use interlocking_agents::LedgerEntry;
use interlocking_core::run_id::RunId;

/// The calls of one run, by its records.
pub(crate) struct PastCalls {
    pub(crate) run: RunId,
    /// The run that it is a child of, if it is one.
    pub(crate) parent: Option<RunId>,
    pub(crate) calls: Vec<LedgerEntry>,
    /// Whether it has not ended, and has its turn among other runs.
    pub(crate) has_turn: bool,
}
