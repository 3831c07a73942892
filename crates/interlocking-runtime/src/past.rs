//! What a run and its child runs used up before it was taken up again.

use crate::journal::{Entry, Journal, JournalError, Origin, RunSummary};
use interlocking_agents::{LedgerEntry, Usage};
use interlocking_core::run_id::RunId;
use std::collections::BTreeSet;

/// What `run` and its children, and theirs, have used up, by their records.
pub(crate) async fn past(journal: &dyn Journal, run: &RunId) -> Result<Usage, JournalError> {
    let mut used = Usage::default();
    for member in family(&journal.runs().await?, run) {
        for record in journal.load(&member).await? {
            used += calls(&record.entry).iter().map(|call| call.usage).sum::<Usage>();
        }
    }
    Ok(used)
}

/// The run, its children and theirs.
fn family(runs: &[RunSummary], run: &RunId) -> BTreeSet<RunId> {
    let mut family = BTreeSet::from([run.clone()]);
    let mut size = 0;
    // Children may be listed before their parents.
    while family.len() > size {
        size = family.len();
        for RunSummary { run, origin, .. } in runs {
            if let Some(Origin::Child { parent, .. }) = origin
                && family.contains(parent)
            {
                family.insert(run.clone());
            }
        }
    }
    family
}

/// The calls that an entry records.
fn calls(entry: &Entry) -> &[LedgerEntry] {
    match entry {
        Entry::Outcome(outcome) => &outcome.calls,
        Entry::Report { calls, .. } | Entry::Spent { calls, .. } => calls,
        _ => &[],
    }
}
