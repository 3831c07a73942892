//! The run to resume where a command names a child run.

use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Journal, JournalError, Origin, RunSummary};

/// The run that was started and whose execution includes a child run: its topmost ancestor in the journal. `None` if `origin`,
/// where the run comes from, is no parent.
pub(crate) async fn topmost_ancestor(
    journal: &dyn Journal,
    origin: Option<&Origin>,
) -> Result<Option<RunSummary>, JournalError> {
    let Some(nearest) = parent(origin) else { return Ok(None) };
    let runs = journal.runs().await?;
    let named = |name: &RunId| runs.iter().find(|run| run.run == *name);
    let ancestors = std::iter::successors(named(nearest), |run| named(parent(run.origin.as_ref())?));
    // Even if the journal is damaged, the search ends.
    Ok(ancestors.take(runs.len()).last().cloned())
}

fn parent(origin: Option<&Origin>) -> Option<&RunId> {
    match origin {
        Some(Origin::Child { parent, .. }) => Some(parent),
        _ => None,
    }
}
