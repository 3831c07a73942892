//! The commits that a run has landed, read from its journal.

use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{Entry, Journal, JournalError, RecordedPayload};
use interlocking_worktree::CommitId;

/// The prefix of the names of the effects that record what is about to land; a number follows.
pub(crate) const LANDING: &str = "land ";

/// The commits that a run was about to [land](crate::GitContext::land), in order. A landing that was interrupted or
/// refused may not have happened: the commits that the target branch contains have landed.
///
/// # Errors
///
/// [`JournalError`] where the journal cannot be read.
pub async fn landings(journal: &dyn Journal, run: &RunId) -> Result<Vec<CommitId>, JournalError> {
    let mut commits = Vec::new();
    for record in journal.load(run).await? {
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
