//! Fresh checkouts: what is built and tested, in place of what an agent has been at.
//!
//! **Invariant:** a checkout has the files of one commit and no others, each object of it hashed again when it was copied, in a
//! directory that no agent is given.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, RepositoryPath, Worktree, delete_directory};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

/// The files of a commit, in a directory that no agent is given. They are deleted when this is dropped.
///
/// The directory is `DIRECTORY/RUN/.checkouts/NUMBER`, with the smallest number that no other checkout has: builds know a project by its
/// path, and use again what they know.
pub struct FreshCheckout {
    worktree: Worktree,
    commit: CommitId,
    number: u32,
    run: GitRun,
}

impl FreshCheckout {
    /// Where they are: as that really lies, without links.
    pub fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// The commit.
    pub fn commit(&self) -> CommitId {
        self.commit
    }

    /// The contents of a file as it is there now; none if there is none. No link is followed, and no more than `most` bytes are read.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::File`].
    pub async fn read_file(&self, path: &RepositoryPath, most: u64) -> Result<Option<Vec<u8>>, GitWorkspacesError> {
        let (worktree, path) = (self.worktree.clone(), path.clone());
        self.run.blocking((), move |_| Ok(worktree.read_file(&path, most)?)).await
    }
}

impl Drop for FreshCheckout {
    fn drop(&mut self) {
        // Once the run is over, its end deletes all of them.
        let closed = self.run.0.closed.read().unwrap_or_else(PoisonError::into_inner);
        if !*closed {
            // What cannot be deleted is in the way of the next one with its number, which says so.
            let _ = delete_directory(self.path());
        }
        self.run.checkouts().remove(&self.number);
    }
}

impl GitRun {
    /// Checks a commit out. Git work.
    pub(crate) fn check_out(&self, commit: CommitId) -> Result<FreshCheckout, GitWorkspacesError> {
        self.lives()?;
        let number = self.take_number();
        match self.make_checkout(number, commit) {
            Ok(worktree) => Ok(FreshCheckout { worktree, commit, number, run: self.clone() }),
            Err(error) => {
                self.checkouts().remove(&number);
                Err(error)
            }
        }
    }

    fn make_checkout(&self, number: u32, commit: CommitId) -> Result<Worktree, GitWorkspacesError> {
        let directory = self.checkouts_directory().join(number.to_string());
        // Of a process that was killed.
        delete_directory(&directory)?;
        Ok(self.settings().repository.create_clone(&directory, &BranchName::new("checkout")?, commit)?)
    }

    /// Checks out what would be committed in a workspace now. Git work.
    pub(crate) fn examine(&self, name: &str) -> Result<FreshCheckout, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let Some(proposed) = worktree.propose_since(at, &self.author()?, "Under examination")? else {
            return self.check_out(at);
        };
        if worktree.is_clone() {
            self.settings().repository.take_in_objects(&worktree.export_up_to(at, proposed)?)?;
        }
        self.check_out(proposed)
    }

    /// Commits what a workspace has, if that is what was examined. Git work.
    pub(crate) fn commit_examined(
        &self,
        name: &str,
        examined: CommitId,
        message: &str,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let (_, at) = self.writable(name)?;
        let committed = self.commit(name, None, message)?;
        // Here, where each object was checked that has come from a clone.
        let changes = self.settings().repository.diff(examined, committed.unwrap_or(at))?;
        match changes.into_iter().next() {
            None => Ok(committed),
            Some(change) => {
                self.moved(name, at);
                Err(GitWorkspacesError::ChangedMeanwhile { name: name.to_owned(), path: change.path })
            }
        }
    }

    fn take_number(&self) -> u32 {
        let mut taken = self.checkouts();
        let free = (1..).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(free);
        free
    }

    fn checkouts(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.0.tree.checkouts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for FreshCheckout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FreshCheckout")
            .field("path", &self.path())
            .field("commit", &self.commit)
            .finish_non_exhaustive()
    }
}
