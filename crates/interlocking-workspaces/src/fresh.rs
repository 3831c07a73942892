//! Fresh checkouts: what is built and tested, in place of what an agent has been at.
//!
//! **Invariant:** a checkout has the files of one commit and no others, each object of it hashed again when it was copied, in a
//! directory that no agent is given.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, RepositoryPath, Worktree, WrittenFiles, delete_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files of a commit, in a directory that no agent is given. They are deleted when this is dropped; where [worktrees are used
/// again](crate::GitWorkspaces::with_worktrees_reused), they stay for the next one, which is made from those that nobody has touched.
///
/// The directory is `DIRECTORY/RUN/.checkouts/NUMBER`, with the smallest number that no other checkout has: builds know a project by its
/// path, and use again what they know.
pub struct FreshCheckout {
    worktree: Worktree,
    commit: CommitId,
    number: u32,
    /// What was written there, where it is used again.
    written: Option<WrittenFiles>,
    run: GitRun,
}

/// The fresh checkouts of a tree of runs.
#[derive(Default)]
pub(crate) struct Checkouts(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    taken: BTreeSet<u32>,
    /// Those that nobody needs any more, and whose files are there.
    left: BTreeMap<u32, WrittenFiles>,
}

impl Checkouts {
    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the smallest number that is free, and what is left there.
    fn take(&self) -> (u32, Option<WrittenFiles>) {
        let Numbers { taken, left } = &mut *self.lock();
        let free = (1..).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(free);
        (free, left.remove(&free))
    }

    fn give_back(&self, number: u32, left: Option<WrittenFiles>) {
        let mut numbers = self.lock();
        numbers.taken.remove(&number);
        numbers.left.extend(left.map(|left| (number, left)));
    }
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
        let left = self.written.take();
        if !*closed && left.is_none() {
            // What cannot be deleted is in the way of the next one with its number, which says so.
            let _ = delete_directory(self.path());
        }
        self.run.0.tree.checkouts.give_back(self.number, left);
    }
}

impl GitRun {
    /// Checks a commit out. Git work.
    pub(crate) fn check_out(&self, commit: CommitId) -> Result<FreshCheckout, GitWorkspacesError> {
        self.lives()?;
        let (number, left) = self.0.tree.checkouts.take();
        match self.make_checkout(number, commit, left) {
            Ok((worktree, written)) => {
                let written = written.filter(|_| self.settings().reuses_worktrees);
                Ok(FreshCheckout { worktree, commit, number, written, run: self.clone() })
            }
            Err(error) => {
                self.0.tree.checkouts.give_back(number, None);
                Err(error)
            }
        }
    }

    fn make_checkout(
        &self,
        number: u32,
        commit: CommitId,
        left: Option<WrittenFiles>,
    ) -> Result<(Worktree, Option<WrittenFiles>), GitWorkspacesError> {
        let (repository, branch) = (&self.settings().repository, BranchName::new("checkout")?);
        let directory = self.checkouts_directory().join(number.to_string());
        if let Some(left) = left
            && let Ok(made) = repository.create_clone_again(&directory, &branch, commit, left)
        {
            return Ok(made);
        }
        // Of a process that was killed, or not fit to be used again.
        delete_directory(&directory)?;
        Ok(repository.create_noted_clone(&directory, &branch, commit)?)
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
}

impl std::fmt::Debug for FreshCheckout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FreshCheckout")
            .field("path", &self.path())
            .field("commit", &self.commit)
            .finish_non_exhaustive()
    }
}
