//! Bringing commits of other workspaces to a workspace.

use crate::checkout::Checkout;
use crate::error::GitWorkspacesError;
use interlocking_worktree::{CommitId, RebaseError, Rebased, Signature, Worktree};
use std::ops::Range;

impl Checkout<'_> {
    /// Merges a commit with a merge commit, even where a fast-forward would do. Returns the commit that the workspace
    /// is at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Merge`], with both sides of each conflict.
    pub async fn merge(
        &mut self,
        commit: CommitId,
        message: impl Into<String>,
    ) -> Result<CommitId, GitWorkspacesError> {
        let message = message.into();
        self.moving("merge", move |worktree, head, author| {
            Ok(worktree.merge(commit, author, &message)?.unwrap_or(head))
        })
        .await
    }

    /// Merges a commit as one commit with one parent: its changes without its history. Returns the commit that the
    /// workspace is at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Merge`], with both sides of each conflict.
    pub async fn squash_merge(
        &mut self,
        commit: CommitId,
        message: impl Into<String>,
    ) -> Result<CommitId, GitWorkspacesError> {
        let message = message.into();
        let work = move |worktree: &Worktree, head, author: &_| {
            Ok(worktree.squash_merge(commit, author, &message)?.unwrap_or(head))
        };
        self.moving("merge", work).await
    }

    /// Cherry-picks the commits after `since` up to `commit`, each as a commit of its own. Returns the commit that the
    /// workspace is at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::CherryPick`], with both sides of each conflict; no commit is picked then.
    pub async fn cherry_pick(&mut self, since: CommitId, commit: CommitId) -> Result<CommitId, GitWorkspacesError> {
        self.moving("pick", move |worktree, head, author| {
            Ok(worktree.cherry_pick(since..commit, author)?.last().copied().unwrap_or(head))
        })
        .await
    }

    /// Like [`cherry_pick`](Self::cherry_pick), as one commit. Nothing is committed if they change no file.
    ///
    /// # Errors
    ///
    /// As [`cherry_pick`](Self::cherry_pick) and [`commit`](Self::commit).
    pub async fn cherry_pick_as_one(
        &mut self,
        since: CommitId,
        commit: CommitId,
        message: impl Into<String>,
    ) -> Result<CommitId, GitWorkspacesError> {
        let message = message.into();
        self.moving("pick", move |worktree, head, author| {
            worktree.cherry_pick(since..commit, author)?;
            Ok(worktree.squash_since(head, author, &message)?.unwrap_or(head))
        })
        .await
    }

    /// Moves the commits after `since` onto `onto`. Returns the commit that the workspace is at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`], with both sides of each conflict; the branch then stays on its old base.
    pub async fn rebase(&mut self, since: CommitId, onto: CommitId) -> Result<CommitId, GitWorkspacesError> {
        self.moving("rebase", move |worktree, _, author| {
            Ok(worktree.rebase(since, onto, author)?.last().copied().unwrap_or(onto))
        })
        .await
    }

    /// Like [`rebase`](Self::rebase), but prefers `onto`: of lines that both sides have changed, the workspace's are
    /// dropped (V3-101). [`Rebased::conflicts`] has the dropped changes.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`] if one side has deleted or renamed a file that the other has changed; the branch
    /// then stays on its old base.
    pub async fn rebase_preferring_onto(
        &mut self,
        since: CommitId,
        onto: CommitId,
    ) -> Result<Rebased, GitWorkspacesError> {
        let work = move |worktree: &Worktree, author: &Signature| worktree.rebase_preferring_onto(since, onto, author);
        self.rebase_with(work).await
    }

    /// Like [`rebase`](Self::rebase), up to the first commit that conflicts: the files then have that commit's change
    /// with conflict markers, to be resolved and [committed](Self::commit). After that, the rebase continues with the
    /// rest of `commits`, `conflict.commit..commits.end`, onto the new commit. A [`reset`](Self::reset) to
    /// `commits.end` aborts it (V3-105).
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`], except for conflicts; also if an agent has made commits by itself after
    /// `commits.end`, which would be lost: [adopt](Self::adopt_commits) them first.
    pub async fn rebase_until_conflict(
        &mut self,
        commits: Range<CommitId>,
        onto: CommitId,
    ) -> Result<Rebased, GitWorkspacesError> {
        let work = move |worktree: &Worktree, author: &Signature| worktree.rebase_until_conflict(commits, onto, author);
        self.rebase_with(work).await
    }

    async fn rebase_with(
        &mut self,
        work: impl FnOnce(&Worktree, &Signature) -> Result<Rebased, RebaseError> + Send + 'static,
    ) -> Result<Rebased, GitWorkspacesError> {
        let rebasing = move |worktree: &Worktree, _, author: &Signature| {
            let rebased = work(worktree, author)?;
            // Read before the lock is released.
            Ok((rebased, worktree.head()?))
        };
        let (rebased, head) = self.on(move |run, name| run.moving(name, "rebase", rebasing)).await?;
        self.moved(Ok(head))?;
        Ok(rebased)
    }

    async fn moving(
        &mut self,
        operation: &'static str,
        work: impl FnOnce(&Worktree, CommitId, &Signature) -> Result<CommitId, GitWorkspacesError> + Send + 'static,
    ) -> Result<CommitId, GitWorkspacesError> {
        let done = self.on(move |run, name| run.moving(name, operation, work)).await;
        self.moved(done)
    }
}
