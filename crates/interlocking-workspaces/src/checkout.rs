//! The workspace that a handler works in.

use crate::error::GitWorkspacesError;
use crate::fresh::FreshCheckout;
use crate::git_run::GitRun;
use crate::lock::BranchGuard;
use interlocking_core::context::Cx;
use interlocking_core::graph::Node;
use interlocking_worktree::{
    BranchName, CommitId, FileChange, Keep, RebaseError, Rebased, RepositoryPath, Signature, Worktree,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A worktree or clone of the run that a handler works in. The commits that its branch moves to are recorded in the
/// journal with the handler's outcome.
///
/// Each operation either succeeds or leaves branch, index and files unchanged, unless its error says otherwise. It
/// waits while another operation, of this run or of another run in this process, changes the same branch.
pub struct Checkout<'cx> {
    pub(crate) cx: &'cx mut dyn Commits,
    pub(crate) run: GitRun,
    pub(crate) name: String,
    pub(crate) worktree: Worktree,
    pub(crate) base: CommitId,
    /// The branch's lock, if it is held between operations.
    pub(crate) held: Option<Arc<BranchGuard>>,
}

/// Records commits in the journal: implemented by the context of a handler of any node.
pub(crate) trait Commits: Send + Sync {
    fn committed(&mut self, workspace: &str, commit: CommitId);
}

impl<N: Node> Commits for Cx<'_, N> {
    fn committed(&mut self, workspace: &str, commit: CommitId) {
        self.committed(workspace, commit.to_string());
    }
}

impl Checkout<'_> {
    /// The workspace's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The directory of its files.
    pub fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// Its branch; none if every node of the workspace is `read_only`: it then works on a commit.
    pub fn branch(&self) -> Option<&BranchName> {
        // A clone has a branch even then, but the repository has none of that name.
        self.worktree.branch().filter(|_| !self.run.wanted(&self.name).is_read_only)
    }

    /// The commit that it was made at.
    pub fn base(&self) -> CommitId {
        self.base
    }

    /// The last commit that the run has recorded for it, without commits that an agent has made by itself since.
    pub fn head(&self) -> CommitId {
        self.run.place(&self.name).at.unwrap_or(self.base)
    }

    /// Locks the branch within this process until this value is dropped, also between its operations (CON-149):
    /// operations of others wait, and so do commits of the nodes that work here.
    pub async fn hold(&mut self) {
        if self.held.is_none() {
            self.held = Some(Arc::new(self.run.lock(&self.name).await));
        }
    }

    /// What differs from `commit`, committed or not.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if something cannot be read.
    pub async fn diff_since(&self, commit: CommitId) -> Result<Vec<FileChange>, GitWorkspacesError> {
        let worktree = self.worktree.clone();
        self.on(move |_, _| Ok(worktree.diff_since(commit)?)).await
    }

    /// What differs from `commit`, committed or not, as a patch.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if something cannot be read.
    pub async fn patch_since(&self, commit: CommitId) -> Result<String, GitWorkspacesError> {
        let worktree = self.worktree.clone();
        self.on(move |_, _| Ok(worktree.unified_diff_since(commit)?)).await
    }

    /// Commits everything that is not ignored, as one commit on top of [`head`](Self::head): commits that an agent has
    /// made by itself are folded in (CON-76). None if that changes no file.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Commit`], for example because of a nested repository;
    /// [`ReadOnly`](GitWorkspacesError::ReadOnly).
    pub async fn commit(&mut self, message: impl Into<String>) -> Result<Option<CommitId>, GitWorkspacesError> {
        self.commit_since(None, message.into()).await
    }

    /// Like [`commit`](Self::commit), without the git repositories inside the workspace, which cannot be committed: they stay as
    /// they are, and their paths are returned. If there are any, commits that an agent has made by itself stay commits of
    /// their own.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit), but not because of a nested repository.
    pub async fn commit_beside_repositories(
        &mut self,
        message: impl Into<String>,
    ) -> Result<Vec<RepositoryPath>, GitWorkspacesError> {
        let message = message.into();
        let (committed, nested) = self.on(move |run, name| run.commit_beside_repositories(name, &message)).await?;
        if let Some(to) = committed {
            self.moved(Ok(to))?;
        }
        Ok(nested)
    }

    /// Like [`commit`](Self::commit), as one commit on top of [`base`](Self::base): earlier commits are folded in, too.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub async fn squash(&mut self, message: impl Into<String>) -> Result<Option<CommitId>, GitWorkspacesError> {
        self.commit_since(Some(self.base), message.into()).await
    }

    /// Makes a commit that changes no file, whose message sums up the ones before it. Uncommitted changes stay
    /// uncommitted.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub async fn commit_empty(&mut self, message: impl Into<String>) -> Result<CommitId, GitWorkspacesError> {
        let message = message.into();
        let committed = self.on(move |run, name| run.commit_empty(name, &message)).await;
        self.moved(committed)
    }

    /// A [fresh checkout](crate::GitContext::fresh_checkout) of what [`commit`](Self::commit) would commit, to examine
    /// it first: nothing is committed yet. If that changes no file, the checkout is of [`head`](Self::head).
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit); nothing is left behind.
    pub async fn examine(&self) -> Result<FreshCheckout, GitWorkspacesError> {
        self.on(|run, name| run.examine(name)).await
    }

    /// [Commits](Self::commit) if the result has the same files as `examined`, the commit of what was
    /// [examined](Self::examine).
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit); [`ChangedMeanwhile`](GitWorkspacesError::ChangedMeanwhile).
    pub async fn commit_examined(
        &mut self,
        examined: CommitId,
        message: impl Into<String>,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let message = message.into();
        let committed = self.on(move |run, name| run.commit_examined(name, examined, &message)).await?;
        if let Some(to) = committed {
            self.moved(Ok(to))?;
        }
        Ok(committed)
    }

    /// The current contents of a file, committed or not; none if there is no file. Links are not followed, and no more
    /// than `most` bytes are read.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::File`].
    pub async fn read_file(&self, path: &RepositoryPath, most: u64) -> Result<Option<Vec<u8>>, GitWorkspacesError> {
        let (worktree, path) = (self.worktree.clone(), path.clone());
        self.on(move |_, _| Ok(worktree.read_file(&path, most)?)).await
    }

    /// Replaces a file, and creates missing directories of its path. Links are not followed.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::File`].
    pub async fn write_file(
        &mut self,
        path: &RepositoryPath,
        contents: impl Into<Vec<u8>>,
    ) -> Result<(), GitWorkspacesError> {
        let (worktree, path, contents) = (self.worktree.clone(), path.clone(), contents.into());
        self.on(move |_, _| Ok(worktree.write_file(&path, &contents)?)).await
    }

    /// Adopts the commits that an agent has made by itself, unchanged, and returns the last. Uncommitted changes stay
    /// uncommitted.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if the agent has rewritten or left the branch.
    pub async fn adopt_commits(&mut self) -> Result<CommitId, GitWorkspacesError> {
        let adopted = self.on(|run, name| run.adopt(name)).await;
        self.moved(adopted)
    }

    /// Resets the workspace to a commit. Everything else in it is discarded, ignored files too, and its setup runs
    /// again. The previous head is kept in the archive (CON-74), with the commits that an agent has made on top of it
    /// by itself. A read-only workspace has no head of its own: it is moved to the commit, and stays there unless it
    /// follows another workspace.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Reset`]; [`Setup`](GitWorkspacesError::Setup) and [`Copy`](GitWorkspacesError::Copy) if
    /// its setup failed: the workspace is then at the commit, and is made again when it is needed.
    pub async fn reset(&mut self, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let reset = self.on(move |run, name| run.reset(name, commit)).await;
        // Also if its setup failed.
        if self.head() == commit {
            self.cx.committed(&self.name, commit);
        }
        reset.map(drop)
    }

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

    /// Removes the worktree or clone before the run ends, because it is no longer needed. Uncommitted changes are lost;
    /// its branch stays. If a node needs the workspace after all, it is made again. If workspaces are always
    /// [kept](crate::GitWorkspaces::with_keep), it stays.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if it cannot be removed; the end of the run tries again.
    pub async fn retire(self) -> Result<(), GitWorkspacesError> {
        match self.run.settings().keep {
            Keep::Always => Ok(()),
            Keep::OnFailure | Keep::Never => self.on(|run, name| run.retire(name)).await,
        }
    }

    async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&GitRun, &str) -> Result<T, GitWorkspacesError> + Send + 'static,
    ) -> Result<T, GitWorkspacesError> {
        let name = self.name.clone();
        match &self.held {
            Some(held) => self.run.blocking(held.clone(), move |run| work(run, &name)).await,
            None => self.run.on(&self.name, work).await,
        }
    }

    /// Commits on top of `since`, or else of where the workspace is once the lock is acquired.
    async fn commit_since(
        &mut self,
        since: Option<CommitId>,
        message: String,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let committed = self.on(move |run, name| run.commit(name, since, &message)).await?;
        if let Some(to) = committed.or(since) {
            self.moved(Ok(to))?;
        }
        Ok(committed)
    }

    async fn moving(
        &mut self,
        operation: &'static str,
        work: impl FnOnce(&Worktree, CommitId, &Signature) -> Result<CommitId, GitWorkspacesError> + Send + 'static,
    ) -> Result<CommitId, GitWorkspacesError> {
        let done = self.on(move |run, name| run.moving(name, operation, work)).await;
        self.moved(done)
    }

    /// Records in the journal where the workspace is.
    fn moved(&mut self, to: Result<CommitId, GitWorkspacesError>) -> Result<CommitId, GitWorkspacesError> {
        let to = to?;
        self.cx.committed(&self.name, to);
        Ok(to)
    }
}
