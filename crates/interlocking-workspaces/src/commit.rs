//! Changes to a workspace's branch. All of it is git work.
//!
//! **Invariant:** whatever moves a branch notes where it is then, which is where the journal is told that it is.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::{CommitId, Signature, Worktree};

impl GitRun {
    /// Commits what a workspace has that `since` has not, or else the commit where it stands now, as one commit; none where that is
    /// nothing.
    pub(crate) fn commit(
        &self,
        name: &str,
        since: Option<CommitId>,
        message: &str,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let since = since.unwrap_or(at);
        let committed = worktree.squash_since(since, &self.author()?, message)?;
        self.bring_back(name, &worktree, since)?;
        self.moved(name, committed.unwrap_or(since));
        Ok(committed)
    }

    /// Takes over the commits that an agent has made by itself, as they are.
    pub(crate) fn adopt(&self, name: &str) -> Result<CommitId, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let head = worktree.head()?;
        self.bring_back(name, &worktree, at)?;
        Ok(self.moved(name, head))
    }

    /// Makes a commit that changes no file.
    pub(crate) fn commit_empty(&self, name: &str, message: &str) -> Result<CommitId, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        let committed = worktree.commit_empty(&self.author()?, message)?;
        self.bring_back(name, &worktree, at)?;
        Ok(self.moved(name, committed))
    }

    /// Takes a workspace back to a commit; what it had is kept in the archive (CON-74). One that may only be read is put there.
    pub(crate) fn reset(&self, name: &str, to: CommitId) -> Result<CommitId, GitWorkspacesError> {
        if self.wanted(name).is_read_only {
            let (worktree, _) = self.make_ready(name)?;
            if !worktree.is_clone() {
                self.make_as_new(name, &worktree, to)?;
                return Ok(to);
            }
            // It has one commit and no other.
            self.retire(name)?;
            self.moved(name, to);
            self.make_ready(name)?;
            return Ok(to);
        }
        let (worktree, at) = self.writable(name)?;
        let repository = &self.settings().repository;
        let branch = self.branch_name(name)?;
        if !repository.is_ancestor(at, to)? {
            repository.archive(&self.archive_name(&branch, at)?, at)?;
        }
        if !worktree.is_clone() {
            let reset = self.make_as_new(name, &worktree, to);
            // Who was stopped amid a commit has left git's locks, which nobody gives back. Nobody else works here.
            if reset.is_err() && worktree.unlock().is_ok_and(|left| !left.is_empty()) {
                self.make_as_new(name, &worktree, to)?;
            } else {
                reset?;
            }
            return Ok(to);
        }
        if let Some(head) = repository.branch_head(&branch)?.filter(|head| *head != to) {
            repository.delete_branch(&branch, head)?;
        }
        self.moved(name, to);
        if worktree.repository().commit(to).is_ok() {
            self.make_as_new(name, &worktree, to)?;
        } else {
            // It has what it began at, and what was made there, and nothing else.
            self.retire(name)?;
            self.make_ready(name)?;
        }
        Ok(to)
    }

    /// Takes a worktree or clone away before the end, because nobody works there any more. Its branch stays; if a node needs it all
    /// the same, it is made again.
    pub(crate) fn retire(&self, name: &str) -> Result<(), GitWorkspacesError> {
        let directory = self.directory_of(name)?;
        self.put_away(&[directory])?;
        self.note(name, |place| place.worktree = None);
        Ok(())
    }

    /// Does something in a worktree that moves its head.
    pub(crate) fn moving<T>(
        &self,
        name: &str,
        operation: &'static str,
        work: impl FnOnce(&Worktree, CommitId, &Signature) -> Result<T, GitWorkspacesError>,
    ) -> Result<T, GitWorkspacesError> {
        let (worktree, at) = self.writable(name)?;
        if worktree.is_clone() {
            return Err(GitWorkspacesError::InClone { name: name.to_owned(), operation });
        }
        let done = work(&worktree, at, &self.author()?)?;
        self.moved(name, worktree.head()?);
        Ok(done)
    }

    /// A workspace that has a branch, and where it is to stand.
    pub(crate) fn writable(&self, name: &str) -> Result<(Worktree, CommitId), GitWorkspacesError> {
        if self.wanted(name).is_read_only {
            return Err(GitWorkspacesError::ReadOnly { name: name.to_owned() });
        }
        let (worktree, base) = self.make_ready(name)?;
        Ok((worktree, self.place(name).at.unwrap_or(base)))
    }

    pub(crate) fn moved(&self, name: &str, to: CommitId) -> CommitId {
        self.note(name, |place| place.stand_at(to));
        to
    }

    /// Brings what was committed in a clone since `since` back to the repository, to the branch of its name. What that had of an
    /// earlier round is kept in the archive.
    pub(crate) fn bring_back(&self, name: &str, clone: &Worktree, since: CommitId) -> Result<(), GitWorkspacesError> {
        if !clone.is_clone() {
            return Ok(());
        }
        let (repository, branch) = (&self.settings().repository, self.branch_name(name)?);
        let mut known = repository.branch_head(&branch)?;
        if let Some(head) = known
            && !repository.is_ancestor(head, since)?
        {
            self.set_aside(&branch, head)?;
            known = None;
        }
        repository.fetch_from_clone(clone, since, known)?;
        Ok(())
    }
}
