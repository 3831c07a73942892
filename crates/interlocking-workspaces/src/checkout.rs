//! A workspace in a handler's hands.

use crate::error::GitWorkspacesError;
use crate::fresh::FreshCheckout;
use crate::git_run::GitRun;
use crate::lock::Held;
use interlocking_core::context::Cx;
use interlocking_core::graph::Node;
use interlocking_worktree::{
    BranchName, CommitId, FileChange, Keep, RebaseError, Rebased, RepositoryPath, Signature, Worktree,
};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A worktree or clone of the run, in a handler's hands. What moves its branch is in the journal when the handler's outcome is.
///
/// Each operation either succeeds or, unless its error says more, leaves branch, index and files as they were. It waits while another
/// changes the same branch, also one of another run in this process.
pub struct Checkout<'cx> {
    pub(crate) cx: &'cx mut dyn Commits,
    pub(crate) run: GitRun,
    pub(crate) name: String,
    pub(crate) worktree: Worktree,
    pub(crate) base: CommitId,
    /// The branch's lock, while nobody else is to change it between two operations.
    pub(crate) held: Option<Arc<Held>>,
}

/// Tells the journal of commits: a handler's context, whatever its node.
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

    /// Where its files are.
    pub fn path(&self) -> &Path {
        self.worktree.path()
    }

    /// Its branch; none where every node may only read, which works on a commit.
    pub fn branch(&self) -> Option<&BranchName> {
        // A clone is on one even then; the repository has none of that name.
        self.worktree.branch().filter(|_| !self.run.wanted(&self.name).is_read_only)
    }

    /// The commit that it was made at.
    pub fn base(&self) -> CommitId {
        self.base
    }

    /// The commit that the run knows it to stand at: what was committed last, without what an agent has committed by itself since.
    pub fn head(&self) -> CommitId {
        self.run.place(&self.name).at.unwrap_or(self.base)
    }

    /// Lets nobody else in this process change the branch until this value is dropped, between its operations too (CON-149): those of
    /// others wait, and so do commits of the nodes that work here.
    pub async fn hold(&mut self) {
        if self.held.is_none() {
            self.held = Some(Arc::new(self.run.lock(&self.name).await));
        }
    }

    /// What differs from `commit`, committed or not.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where that cannot be found out.
    pub async fn diff_since(&self, commit: CommitId) -> Result<Vec<FileChange>, GitWorkspacesError> {
        let worktree = self.worktree.clone();
        self.on(move |_, _| Ok(worktree.diff_since(commit)?)).await
    }

    /// The same as a patch.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where that cannot be found out.
    pub async fn patch_since(&self, commit: CommitId) -> Result<String, GitWorkspacesError> {
        let worktree = self.worktree.clone();
        self.on(move |_, _| Ok(worktree.unified_diff_since(commit)?)).await
    }

    /// Commits everything that is not ignored, as one commit on top of [`head`](Self::head): what an agent has committed by itself is
    /// folded in (CON-76). None where that changes no file.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Commit`], of a nested repository for one; [`ReadOnly`](GitWorkspacesError::ReadOnly).
    pub async fn commit(&mut self, message: impl Into<String>) -> Result<Option<CommitId>, GitWorkspacesError> {
        self.commit_since(None, message.into()).await
    }

    /// The same as one commit on top of [`base`](Self::base): what was committed before is folded in, too.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub async fn squash(&mut self, message: impl Into<String>) -> Result<Option<CommitId>, GitWorkspacesError> {
        self.commit_since(Some(self.base), message.into()).await
    }

    /// Makes a commit that changes no file and says what the ones before it amount to. What is not committed stays so.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit).
    pub async fn commit_empty(&mut self, message: impl Into<String>) -> Result<CommitId, GitWorkspacesError> {
        let message = message.into();
        let committed = self.on(move |run, name| run.commit_empty(name, &message)).await;
        self.moved(committed)
    }

    /// A [fresh checkout](crate::GitContext::fresh_checkout) of what [`commit`](Self::commit) would commit now, to be examined before
    /// it is: nothing is committed yet. Where that changes no file, of [`head`](Self::head).
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit); nothing is left behind.
    pub async fn examine(&self) -> Result<FreshCheckout, GitWorkspacesError> {
        self.on(|run, name| run.examine(name)).await
    }

    /// [Commits](Self::commit), if that has the same files as `examined`: the commit of what was [examined](Self::examine).
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

    /// The contents of a file as it is there now, committed or not; none if there is none. No link is followed, and no more than `most`
    /// bytes are read.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::File`].
    pub async fn read_file(&self, path: &RepositoryPath, most: u64) -> Result<Option<Vec<u8>>, GitWorkspacesError> {
        let (worktree, path) = (self.worktree.clone(), path.clone());
        self.on(move |_, _| Ok(worktree.read_file(&path, most)?)).await
    }

    /// Writes a file anew, and directories on the way that are missing. No link is followed.
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

    /// Takes over the commits that an agent has made by itself, as they are, and gives the last; what it has not committed stays so.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where its branch was rewritten or left.
    pub async fn adopt_commits(&mut self) -> Result<CommitId, GitWorkspacesError> {
        let adopted = self.on(|run, name| run.adopt(name)).await;
        self.moved(adopted)
    }

    /// Takes it back to a commit; everything else there is discarded, ignored files too, and it is made ready again. The head that it had
    /// is kept in the archive (CON-74). One that may only be read has no head of its own: it is put there, and stays there unless it
    /// follows another workspace.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Reset`]; [`Setup`](GitWorkspacesError::Setup) and [`Copy`](GitWorkspacesError::Copy) where it could not be made
    /// ready, which stands at the commit then, and is made again when it is asked for.
    pub async fn reset(&mut self, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let reset = self.on(move |run, name| run.reset(name, commit)).await;
        // Also where it could not be made ready.
        if self.head() == commit {
            self.cx.committed(&self.name, commit);
        }
        reset.map(drop)
    }

    /// Merges a commit with a merge commit, even where a fast-forward would do. Gives the commit that it stands at then.
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
        self.moving("merge", move |worktree, at, author| Ok(worktree.merge(commit, author, &message)?.unwrap_or(at)))
            .await
    }

    /// Merges a commit into one with one parent: its changes without its history. Gives the commit that it stands at then.
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
        let work = move |worktree: &Worktree, at, author: &_| {
            Ok(worktree.squash_merge(commit, author, &message)?.unwrap_or(at))
        };
        self.moving("merge", work).await
    }

    /// Picks the commits after `since` up to `commit`, each as one of its own. Gives the commit that it stands at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::CherryPick`], with both sides of each conflict; none is picked then.
    pub async fn cherry_pick(&mut self, since: CommitId, commit: CommitId) -> Result<CommitId, GitWorkspacesError> {
        self.moving("pick", move |worktree, at, author| {
            Ok(worktree.cherry_pick(since..commit, author)?.last().copied().unwrap_or(at))
        })
        .await
    }

    /// Moves the commits after `since` onto `onto`. Gives the commit that it stands at then.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`], with both sides of each conflict; the branch is then left at its old base.
    pub async fn rebase(&mut self, since: CommitId, onto: CommitId) -> Result<CommitId, GitWorkspacesError> {
        self.moving("rebase", move |worktree, _, author| {
            Ok(worktree.rebase(since, onto, author)?.last().copied().unwrap_or(onto))
        })
        .await
    }

    /// The same, where what `onto` has stays as it is, and of lines that both have changed the workspace's own are dropped (V3-101).
    /// [`Rebased::conflicts`] says what gave way.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`], where one side has deleted or renamed what the other has changed; the branch is then left at its old
    /// base.
    pub async fn rebase_preferring_onto(
        &mut self,
        since: CommitId,
        onto: CommitId,
    ) -> Result<Rebased, GitWorkspacesError> {
        let work = move |worktree: &Worktree, author: &Signature| worktree.rebase_preferring_onto(since, onto, author);
        self.rebase_with(work).await
    }

    /// The same, commit by commit, up to the first that conflicts: that commit's change is then in the files, with conflict markers, for
    /// somebody to resolve and [`commit`](Self::commit). It goes on with the rest of `commits`, `conflict.commit..commits.end`, onto that
    /// commit; it is given up by a [`reset`](Self::reset) to `commits.end` (V3-105).
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::Rebase`]; no conflict.
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
        let rebased =
            self.on(move |run, name| run.moving(name, "rebase", |worktree, _, author| Ok(work(worktree, author)?)));
        let rebased = rebased.await?;
        self.moved(Ok(self.head()))?;
        Ok(rebased)
    }

    /// Takes it away before the run ends, because nobody works there any more. What is not committed is gone, its branch stays; it is
    /// made again if a node needs it all the same. Where workspaces are always [kept](crate::GitWorkspaces::with_keep), it stays.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where it cannot be removed; the end of the run tries again.
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

    /// On top of where it stands when its turn comes, unless `since` is given.
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

    /// Has the journal know where it stands.
    fn moved(&mut self, to: Result<CommitId, GitWorkspacesError>) -> Result<CommitId, GitWorkspacesError> {
        let to = to?;
        self.cx.committed(&self.name, to);
        Ok(to)
    }
}
