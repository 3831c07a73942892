//! The workspace that a handler works in.

use crate::error::GitWorkspacesError;
use crate::fresh::FreshCheckout;
use crate::git_run::GitRun;
use crate::lock::BranchGuard;
use interlocking_core::context::Cx;
use interlocking_core::graph::Node;
use interlocking_worktree::{BranchName, CommitId, FileChange, Keep, RepositoryPath, Worktree};
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

    pub(crate) async fn on<T: Send + 'static>(
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

    /// Records in the journal where the workspace is.
    pub(crate) fn moved(&mut self, to: Result<CommitId, GitWorkspacesError>) -> Result<CommitId, GitWorkspacesError> {
        let to = to?;
        self.cx.committed(&self.name, to);
        Ok(to)
    }
}
