//! The places where nodes work: a git worktree for the root, plain directories for its children.

use crate::gazette::Part;
use async_trait::async_trait;
use interlocking::prelude::NodeError;
use interlocking::runtime::{WorkspaceError, Workspaces};
use interlocking::worktree::{BranchName, CommitId, Configuration, Repository, Signature, Worktree};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The places below one directory.
#[derive(Clone, Debug)]
pub struct Places(Arc<Path>);

impl Places {
    /// The places below `directory`.
    pub fn new(directory: &Path) -> Self {
        Self(directory.into())
    }

    /// Makes a repository with one commit, and a worktree.
    ///
    /// # Errors
    ///
    /// If git fails.
    pub fn make(&self) -> Result<(), NodeError> {
        let repository = Repository::init_with(self.0.join("repository"), Configuration::RepositoryOnly)?;
        let user = repository.main_worktree()?.ok_or("it is bare")?;
        std::fs::write(user.path().join("README"), "# Gazette\n")?;
        let begin = user.commit_all(&signature()?, "Begin")?.ok_or("nothing to commit")?;
        repository.create_worktree(self.0.join("desk"), BranchName::new("desk")?, begin)?;
        Ok(())
    }

    /// The worktree.
    ///
    /// # Errors
    ///
    /// If there is no worktree.
    pub fn worktree(&self) -> Result<Worktree, NodeError> {
        let repository = Repository::open_with(self.0.join("repository"), Configuration::RepositoryOnly)?;
        Ok(repository.open_worktree(self.0.join("desk"))?)
    }

    /// Commits everything in the worktree and gives the commit's id.
    ///
    /// # Errors
    ///
    /// If git fails, or nothing has changed.
    pub async fn commit_all(&self, message: String) -> Result<String, NodeError> {
        self.blocking(move |worktree| {
            let commit = worktree.commit_all(&signature()?, &message)?;
            Ok(commit.ok_or("nothing has changed")?.to_string())
        })
        .await
    }

    /// The plain directory of a child, created if it is missing.
    ///
    /// # Errors
    ///
    /// If the system refuses.
    pub fn child(&self, part: Part) -> Result<PathBuf, NodeError> {
        let place = self.0.join(part.name());
        std::fs::create_dir_all(&place)?;
        Ok(place)
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Worktree) -> Result<T, NodeError> + Send + 'static,
    ) -> Result<T, NodeError> {
        let this = self.clone();
        tokio::task::spawn_blocking(move || work(&this.worktree()?)).await?
    }
}

/// The author of the commits.
fn signature() -> Result<Signature, NodeError> {
    Ok(Signature::new("Press", "press@example.org")?.at(0))
}

fn unusable(error: NodeError) -> WorkspaceError {
    WorkspaceError::Unusable { reason: error.to_string() }
}

#[async_trait]
impl Workspaces for Places {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(self.0.join(name))
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }

    async fn commit(&self, _: &str) -> Result<Option<String>, WorkspaceError> {
        let head = self.blocking(|worktree| Ok(worktree.head()?.to_string())).await;
        head.map(Some).map_err(unusable)
    }

    async fn restore(&self, _: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = commit.parse::<CommitId>().map_err(|error| unusable(error.into()))?;
        let restored = self.blocking(move |worktree| {
            // Only this process executes the run, so a lock is left over from a process that was
            // killed.
            worktree.unlock()?;
            Ok(worktree.reset_to(commit)?)
        });
        restored.await.map_err(unusable)
    }
}
