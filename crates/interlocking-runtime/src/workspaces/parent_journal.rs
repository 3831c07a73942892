//! What a child run records in its parent's journal.

use crate::journal::{By, Entry, JournalError};
use async_trait::async_trait;
use interlocking_core::context::Commit;
use interlocking_core::run_id::RunId;
use std::fmt;
use std::sync::Arc;

/// The journal of a run's parent, for [workspaces](crate::Workspaces) in which a child moves a place of its parent to another
/// commit.
#[derive(Clone)]
pub struct ParentJournal {
    /// `None` where nothing is recorded.
    pub(crate) entries: Option<Arc<dyn WriteEntry>>,
    pub(crate) by: By,
    pub(crate) child: RunId,
}

/// Writes the entries of one run, and numbers them.
#[async_trait]
pub(crate) trait WriteEntry: Send + Sync {
    /// Writes an entry, even if the returned future is dropped before it resolves.
    async fn write_entry(&self, entry: Entry) -> Result<(), JournalError>;
}

impl ParentJournal {
    /// The execution of the parent's node that continues the child.
    pub fn by(&self) -> &By {
        &self.by
    }

    /// Records that the parent's place called `workspace` is at `commit`: a process that resumes the parent finds it there.
    ///
    /// # Errors
    ///
    /// The journal's error, for example because the parent is not executed any more.
    pub async fn landed(&self, workspace: &str, commit: &str) -> Result<(), JournalError> {
        let Some(entries) = &self.entries else { return Ok(()) };
        let commit = Commit { workspace: workspace.to_owned(), id: commit.to_owned() };
        entries.write_entry(Entry::Landed { by: self.by.clone(), child: self.child.clone(), commit }).await
    }
}

impl fmt::Debug for ParentJournal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParentJournal").field("by", &self.by).field("child", &self.child).finish_non_exhaustive()
    }
}
