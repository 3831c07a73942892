//! The workspaces of simulated nodes: names without any files.

use async_trait::async_trait;
use interlocking_runtime::workspaces::{WorkspaceError, Workspaces};
use std::path::{Path, PathBuf};

pub(crate) struct Places;

#[async_trait]
impl Workspaces for Places {
    fn locate(&self, name: &str) -> Result<PathBuf, WorkspaceError> {
        Ok(Path::new("/simulated").join(name))
    }

    async fn changes(&self, _: &str) -> Result<Vec<String>, WorkspaceError> {
        Ok(Vec::new())
    }
}
