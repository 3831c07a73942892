//! The commits that a run has landed, read from its journal.

use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Entry, Journal, JournalError, Origin, Record, RecordedPayload};
use interlocking_worktree::CommitId;

/// The prefix of the names of the effects that record what is about to land; a number follows.
pub(crate) const LANDING: &str = "land ";

/// The commits that a run was about to [land](crate::GitContext::land), in order. A landing that was interrupted or
/// refused may not have happened: the commits that the target branch contains have landed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Landings {
    /// Of a fork, those of the run that it was forked from, up to the point of the fork. If that run's records were
    /// removed, they are in [`own`](Self::own).
    pub inherited: Vec<CommitId>,
    /// Those of the run itself.
    pub own: Vec<CommitId>,
}

/// Reads a run's [`Landings`] from its journal; not all of them need have happened.
///
/// # Errors
///
/// [`JournalError`] where the journal cannot be read.
pub async fn landings(journal: &dyn Journal, run: &RunId) -> Result<Landings, JournalError> {
    let records = journal.load(run).await?;
    let inherited = match records.first().map(|record| &record.entry) {
        Some(Entry::Started { origin: Some(Origin::Fork { of, records }), .. }) => {
            let mut before = journal.load(of).await?;
            before.truncate(usize::try_from(*records).unwrap_or(usize::MAX));
            recorded(journal, of, before).await?
        }
        _ => Vec::new(),
    };
    let mut own = recorded(journal, run, records).await?;
    // A fork's first records are those of the other run, unless that was removed and another has its name.
    let copied = own.iter().zip(&inherited).take_while(|(own, inherited)| own == inherited).count();
    let inherited = own.drain(..copied).collect();
    Ok(Landings { inherited, own })
}

async fn recorded(journal: &dyn Journal, run: &RunId, records: Vec<Record>) -> Result<Vec<CommitId>, JournalError> {
    let mut commits = Vec::new();
    for record in records {
        let Entry::Once { name, value, .. } = record.entry else { continue };
        let is_landing = name.strip_prefix(LANDING).is_some_and(|number| number.parse::<u32>().is_ok());
        if !is_landing {
            continue;
        }
        let text = match value {
            RecordedPayload::Json(text) => Some(text),
            RecordedPayload::Stored(digest) => journal.fetch(run, &[digest]).await?.pop(),
        };
        commits.extend(text.and_then(|text| text.trim_matches('"').parse::<CommitId>().ok()));
    }
    Ok(commits)
}
