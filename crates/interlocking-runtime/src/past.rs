//! What a run and its child runs used up before it was taken up again.

use crate::journal::account::family;
use crate::journal::{Entry, Journal, JournalError};
use interlocking_agents::{LedgerEntry, Usage};
use interlocking_core::run_id::RunId;

/// What `run` and its children, and theirs, have used up, by their records.
pub(crate) async fn past(journal: &dyn Journal, run: &RunId) -> Result<Usage, JournalError> {
    let mut used = Usage::default();
    for member in family(&journal.runs().await?, run) {
        for record in journal.load(&member.run).await? {
            used += calls(&record.entry).iter().map(|call| call.usage).sum::<Usage>();
        }
    }
    Ok(used)
}

/// The calls that an entry records.
fn calls(entry: &Entry) -> &[LedgerEntry] {
    match entry {
        Entry::Outcome(outcome) => &outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => &[],
    }
}
