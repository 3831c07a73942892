//! The places as the executor knows them: by the names in the graph's table.

use super::{Place, PlaceError, Places};
use interlocking::runtime::workspaces::{WorkspaceError, Workspaces};
use std::path::PathBuf;

#[async_trait::async_trait]
impl Workspaces for Places {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        self.path(self.named(name)?).map_err(|_| self.unknown())
    }

    async fn changes(&self, name: &str) -> Result<Vec<String>, WorkspaceError> {
        let worktree = self.worktree(self.named(name)?).map_err(unusable)?;
        let changes = self.blocking(move || {
            let head = format!("HEAD is at {}", worktree.head()?);
            let status = worktree.status()?;
            Ok(std::iter::once(head).chain(status.iter().map(ToString::to_string)).collect())
        });
        changes.await.map_err(unusable)
    }

    /// The skeleton begins where `main` was when the run started, which a process that takes the run up learns from this. The
    /// others begin at commits of the run's own.
    async fn commit(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        Ok((self.named(name)? == Place::Skeleton).then(|| self.base().to_string()))
    }

    async fn open(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = commit.parse().map_err(|error| unusable(PlaceError::Commitless(error)))?;
        self.find_again(self.named(name)?, commit).await.map_err(unusable)
    }

    async fn restore(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = commit.parse().map_err(|error| unusable(PlaceError::Commitless(error)))?;
        self.put_back(self.named(name)?, commit).await.map_err(unusable)
    }
}

impl Places {
    fn named(&self, name: &str) -> Result<Place, WorkspaceError> {
        Place::named(name).ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> WorkspaceError {
        WorkspaceError::Unknown { known: self.open_places().keys().map(|place| place.name().to_owned()).collect() }
    }
}

fn unusable(error: PlaceError) -> WorkspaceError {
    WorkspaceError::Unusable { reason: error.to_string() }
}
