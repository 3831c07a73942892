//! Changes to a workspace's branch. All of these functions do git work.
//!
//! **Invariant:** every function that moves a branch notes the branch's new commit, which is the one that is recorded
//! in the journal.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{CommitError, CommitId, FileChange, RepositoryPath, Signature, Worktree};

impl GitRun {
    /// Commits, as one commit, what differs in a workspace from `since`, or from its recorded commit if `since` is
    /// none. None if nothing differs.
    pub(crate) fn commit(
        &self,
        name: &str,
        since: Option<CommitId>,
        message: &str,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let since = since.unwrap_or(at);
        let committed = worktree.squash_since(since, &self.author()?, message)?;
        self.fetch_clone(name, &worktree, since)?;
        self.moved(name, committed.unwrap_or(since));
        Ok(committed)
    }

    /// Like [`commit`](Self::commit), without the git repositories inside the workspace, whose paths are returned. If there
    /// are any, the commits that an agent has made by itself are adopted instead of folded in.
    pub(crate) fn commit_beside_repositories(
        &self,
        name: &str,
        message: &str,
    ) -> Result<(Option<CommitId>, Vec<RepositoryPath>), GitWorkspacesError> {
        let nested = match self.commit(name, None, message) {
            Err(GitWorkspacesError::Commit(CommitError::NestedRepository { paths })) => paths,
            committed => return Ok((committed?, Vec::new())),
        };
        let (worktree, at) = self.writable(name)?;
        let is_outside = |path: &&RepositoryPath| !nested.iter().any(|nested| path.is_in(nested));
        let changes = worktree.diff_since(at)?;
        let rest: Vec<_> = changes.iter().flat_map(FileChange::touched).filter(is_outside).cloned().collect();
        worktree.commit_paths(&rest, &self.author()?, message)?;
        Ok((Some(self.adopt(name)?), nested))
    }

    /// Adopts the commits that an agent has made by itself, unchanged.
    pub(crate) fn adopt(&self, name: &str) -> Result<CommitId, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let head = worktree.head()?;
        self.fetch_clone(name, &worktree, at)?;
        Ok(self.moved(name, head))
    }

    /// Makes a commit that changes no file.
    pub(crate) fn commit_empty(&self, name: &str, message: &str) -> Result<CommitId, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let committed = worktree.commit_empty(&self.author()?, message)?;
        self.fetch_clone(name, &worktree, at)?;
        Ok(self.moved(name, committed))
    }

    /// Resets a workspace to a commit and keeps its previous head in the archive (CON-74). A read-only workspace is
    /// moved to the commit. Unless it is moved, it counts as being where it was.
    pub(crate) fn reset(&self, name: &str, to: CommitId) -> Result<CommitId, GitWorkspacesError> {
        if self.wanted(name).is_read_only {
            let (worktree, _) = self.make_ready(name)?;
            if !worktree.is_clone() {
                self.reset_and_prepare(name, &worktree, to)?;
                return Ok(to);
            }
            // A read-only clone has one commit and no other.
            self.retire(name)?;
            self.moved(name, to);
            self.make_ready(name)?;
            return Ok(to);
        }
        let (worktree, at) = self.writable(name)?;
        let (repository, branch) = (&self.settings().repository, self.branch_name(name)?);
        let head = self.head_on(at, &worktree).unwrap_or_else(|error| {
            let directory = worktree.path().display();
            tracing::warn!(%error, %directory, "commits that are not the run's are lost when a workspace is reset");
            at
        });
        if !repository.is_ancestor(head, to)? {
            repository.archive(&self.archive_name(&branch, head)?, head)?;
        }
        if !worktree.is_clone() {
            self.reset_and_prepare(name, &worktree, to)?;
            return Ok(to);
        }
        let reset = match worktree.repository().commit(to) {
            Ok(_) => self.reset_and_prepare(name, &worktree, to),
            // A clone has only the commit that it began at and those made in it.
            Err(_) => self.retire(name).map(|()| self.note(name, |place| place.set_current(to))),
        };
        // Also if its setup failed.
        if self.place(name).at == Some(to)
            && let Some(fetched) = repository.branch_head(&branch)?.filter(|fetched| *fetched != to)
        {
            match repository.is_ancestor(fetched, head)? {
                true => repository.delete_branch(&branch, fetched)?,
                // Somebody else has moved it, or an earlier round.
                false => self.archive_and_delete(&branch, fetched)?,
            }
        }
        reset?;
        self.make_ready(name)?;
        Ok(to)
    }

    /// The head of a worktree or clone if it descends from the recorded commit `at`, with the commits that an agent has
    /// made by itself; otherwise `at`. A clone's commits are fetched, but into no branch.
    pub(crate) fn head_on(&self, at: CommitId, worktree: &Worktree) -> Result<CommitId, GitWorkspacesError> {
        let head = self.head_in(worktree)?;
        Ok(if self.settings().repository.is_ancestor(at, head)? { head } else { at })
    }

    /// Removes a worktree or clone before the run ends, because it is no longer needed. Its branch stays. If a node
    /// needs the workspace after all, it is made again.
    pub(crate) fn retire(&self, name: &str) -> Result<(), GitWorkspacesError> {
        let directory = self.directory_of(name)?;
        let removed = self.remove_workspaces(&[directory]);
        // Also if not all of it could be removed.
        self.note(name, |place| place.worktree = None);
        removed
    }

    /// Runs an operation in a worktree that moves its head. It gets the current head, with the commits that an agent has
    /// made by itself: they are recorded with what the operation makes, also if it makes nothing.
    pub(crate) fn moving<T>(
        &self,
        name: &str,
        operation: &'static str,
        work: impl FnOnce(&Worktree, CommitId, &Signature) -> Result<T, GitWorkspacesError>,
    ) -> Result<T, GitWorkspacesError> {
        let (worktree, _) = self.writable(name)?;
        if worktree.is_clone() {
            return Err(GitWorkspacesError::InClone { name: name.to_owned(), operation });
        }
        let head = worktree.head()?;
        let done = work(&worktree, head, &self.author()?)?;
        self.moved(name, worktree.head()?);
        Ok(done)
    }

    /// A workspace that has a branch, and the commit that it must be at.
    pub(crate) fn writable(&self, name: &str) -> Result<(Worktree, CommitId), GitWorkspacesError> {
        if self.wanted(name).is_read_only {
            return Err(GitWorkspacesError::ReadOnly { name: name.to_owned() });
        }
        let (worktree, base) = self.make_ready(name)?;
        Ok((worktree, self.place(name).at.unwrap_or(base)))
    }

    pub(crate) fn moved(&self, name: &str, to: CommitId) -> CommitId {
        self.note(name, |place| place.set_current(to));
        to
    }

    /// Fetches the commits that were made in a clone after `since` into the repository's branch of the same name. If
    /// that branch is at another commit from an earlier round, its head is archived first.
    pub(crate) fn fetch_clone(&self, name: &str, clone: &Worktree, since: CommitId) -> Result<(), GitWorkspacesError> {
        if !clone.is_clone() {
            return Ok(());
        }
        let (repository, branch) = (&self.settings().repository, self.branch_name(name)?);
        let mut known = repository.branch_head(&branch)?;
        if let Some(head) = known
            && !repository.is_ancestor(head, since)?
        {
            self.archive_and_delete(&branch, head)?;
            known = None;
        }
        repository.fetch_from_clone(clone, since, known)?;
        Ok(())
    }
}
