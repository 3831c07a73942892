//! The places as the executor knows them: by the names in the graph's table.

use super::{Place, PlaceError, Places};
use interlocking::runtime::isolation::IsolationOffer;
use interlocking::runtime::workspaces::{Moment, WorkspaceError, Workspaces};
use interlocking::table::Isolation;
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

    /// A clone has the skeleton and no other commit of this repository (CON-78).
    fn isolation(&self, name: &str) -> IsolationOffer {
        let is_clone = Place::named(name).is_some_and(Place::is_clone);
        IsolationOffer::of(if is_clone { Isolation::Clone } else { Isolation::Worktree })
    }

    /// What an agent does to files is judged by its node, which knows whose they are.
    async fn verify(&self, name: &str, _: Moment) -> Result<Vec<String>, WorkspaceError> {
        let known = self.handed_over().get(&self.named(name)?).cloned();
        let Some(handed_over) = known else { return Ok(Vec::new()) };
        let findings = self.blocking(move || Ok(handed_over.verify()?)).await.map_err(unusable)?;
        Ok(findings.iter().map(ToString::to_string).collect())
    }

    /// The skeleton begins where `main` was when the run started, which a process that takes the run up learns from this. The
    /// others begin at commits of the run's own.
    async fn commit(&self, name: &str) -> Result<Option<String>, WorkspaceError> {
        Ok((self.named(name)? == Place::Skeleton).then(|| self.base().to_string()))
    }

    async fn make(&self, name: &str, commit: &str) -> Result<(), WorkspaceError> {
        let commit = commit.parse().map_err(|error| unusable(PlaceError::Commitless(error)))?;
        self.make_own(self.named(name)?, commit).await.map_err(unusable)
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
