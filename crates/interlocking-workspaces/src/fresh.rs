//! Fresh checkouts: builds and tests use these instead of directories that an agent can write to.
//!
//! **Invariant:** a checkout has the files of one commit and no others, and is in a directory that is never given to an
//! agent. Each of its objects was hashed again when it was copied.

use crate::blocking::spawn_blocking;
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{BranchName, CommitId, RepositoryPath, Worktree, WrittenFiles, delete_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;

/// The files of a commit, in a directory that is never given to an agent. When this is dropped, they are moved away,
/// and a thread that may block deletes them: the run does not end before. If
/// [worktrees are reused](crate::GitWorkspaces::with_worktrees_reused), they stay for the next checkout, which reuses
/// the files that have not been changed.
///
/// The directory is `DIRECTORY/RUN/.checkouts/NUMBER`, with the smallest number that no other checkout has: build tools
/// cache their results by the project's path.
pub struct FreshCheckout {
    worktree: Worktree,
    commit: CommitId,
    number: u32,
    /// The record of the written files, if they are to be reused.
    written: Option<WrittenFiles>,
    run: GitRun,
}

/// The fresh checkouts of a tree of runs.
#[derive(Default)]
pub(crate) struct Checkouts(Mutex<Numbers>);

#[derive(Default)]
struct Numbers {
    taken: BTreeSet<u32>,
    /// The numbers that are free, and whose files are still there.
    left: BTreeMap<u32, WrittenFiles>,
    /// How many checkouts have been moved away to be deleted.
    moved_away: u64,
    /// Those of them that nothing has begun to delete, by the label of the run that had them.
    to_delete: Vec<(String, PathBuf)>,
}

impl Checkouts {
    fn lock(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the smallest free number, and the record of the files that are left there.
    fn take(&self) -> (u32, Option<WrittenFiles>) {
        let Numbers { taken, left, .. } = &mut *self.lock();
        let free = (1..).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(free);
        (free, left.remove(&free))
    }

    fn give_back(&self, number: u32, left: Option<WrittenFiles>) {
        let mut numbers = self.lock();
        numbers.taken.remove(&number);
        numbers.left.extend(left.map(|left| (number, left)));
    }

    /// Takes a checkout of a run that was moved away. `None` once all are taken.
    fn take_moved_away(&self, label: &str) -> Option<PathBuf> {
        let to_delete = &mut self.lock().to_delete;
        let at = to_delete.iter().position(|(owner, _)| owner == label)?;
        Some(to_delete.swap_remove(at).1)
    }
}

impl FreshCheckout {
    /// The directory of the files, with links resolved.
    pub fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// The commit.
    pub fn commit(&self) -> CommitId {
        self.commit
    }

    /// The current contents of a file; none if there is no file. Links are not followed, and no more than `most` bytes
    /// are read.
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
        // Once the run is over, the end of the root run deletes all checkouts.
        let closed = self.run.0.closed.read().unwrap_or_else(PoisonError::into_inner);
        let left = self.written.take();
        if !*closed && left.is_none() {
            self.run.discard_checkout(self.path());
        }
        self.run.0.tree.checkouts.give_back(self.number, left);
    }
}

impl GitRun {
    /// Checks out a commit. Git work.
    pub(crate) fn check_out(&self, commit: CommitId) -> Result<FreshCheckout, GitWorkspacesError> {
        self.mark_active()?;
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

    /// Deletes a checkout, without making a task of a runtime wait for that: a build may have left many files.
    fn discard_checkout(&self, place: &Path) {
        if Handle::try_current().is_ok() && self.move_away(place) {
            let run = self.clone();
            drop(spawn_blocking(move || {
                // Held to the end of the work, so that the end of the run waits for it.
                let closed = run.0.closed.read().unwrap_or_else(PoisonError::into_inner);
                if !*closed {
                    run.delete_moved_away();
                }
            }));
        } else {
            // If this fails, the next checkout with the same number fails and reports it.
            let _ = delete_directory(place);
        }
    }

    /// Moves a checkout away from its place, which the next one can have at once. Whether that was possible. The name
    /// is none that a killed process has left.
    fn move_away(&self, place: &Path) -> bool {
        let mut numbers = self.0.tree.checkouts.lock();
        numbers.moved_away += 1;
        let moved = place.with_file_name(format!(".deleted-{}-{}", process::id(), numbers.moved_away));
        let is_moved = fs::rename(place, &moved).is_ok();
        if is_moved {
            numbers.to_delete.push((self.0.names.label.clone(), moved));
        }
        is_moved
    }

    /// Deletes the run's checkouts that were moved away, but for those that another thread is deleting. At the end of the
    /// run, no other thread is.
    pub(crate) fn delete_moved_away(&self) {
        while let Some(moved) = self.0.tree.checkouts.take_moved_away(&self.0.names.label) {
            // What stays is deleted at the end of the root run.
            let _ = delete_directory(&moved);
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
            && let Ok(made) = repository.recycle_clone(&directory, &branch, commit, left)
        {
            return Ok(made);
        }
        // Files of a process that was killed, or files that cannot be reused.
        delete_directory(&directory)?;
        Ok(repository.create_recyclable_clone(&directory, &branch, commit)?)
    }

    /// Checks out what would be committed in a workspace. Git work.
    pub(crate) fn examine(&self, name: &str) -> Result<FreshCheckout, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let Some(proposed) = worktree.propose_since(at, &self.author()?, "Under examination")? else {
            return self.check_out(at);
        };
        if worktree.is_clone() {
            self.settings().repository.import_objects(&worktree.export_up_to(at, proposed)?)?;
        }
        self.check_out(proposed)
    }

    /// Commits the changes of a workspace if the result is what was examined. Git work.
    pub(crate) fn commit_examined(
        &self,
        name: &str,
        examined: CommitId,
        message: &str,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let (_, at) = self.writable(name)?;
        let committed = self.commit(name, None, message)?;
        // Compared in the repository, where each object that came from a clone was checked.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git_workspaces::GitWorkspaces;
    use interlocking_core::run_id::RunId;
    use interlocking_runtime::workspaces::RunEnd;
    use interlocking_worktree::{Configuration, Repository};

    /// A child's checkouts are deleted before the root run ends, even if no thread was free for that.
    #[test]
    fn the_end_of_a_run_deletes_its_checkouts_that_no_thread_has_deleted() {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::init_with(place.path().join("project"), Configuration::RepositoryOnly).unwrap();
        let run = GitRun::of_name(GitWorkspaces::new(repository, place.path().join("runs")).0, RunId::DEFAULT);
        let moved = [run.0.names.label.as_str(), "another"].map(|label| {
            let moved = place.path().join(label);
            fs::create_dir(&moved).unwrap();
            run.0.tree.checkouts.lock().to_delete.push((label.to_owned(), moved.clone()));
            moved
        });
        run.end(RunEnd::Stopped).unwrap();
        assert_eq!(moved.map(|moved| moved.exists()), [false, true]);
    }
}
