//! The directories that a command can write to, and their deletion.

use super::execution::RunError;
use interlocking_sandbox::deletion::delete_tree;
use std::io;
use std::path::{Path, PathBuf};

/// A directory that is made for one command, and deleted after it, whatever code under test has made in it.
///
/// If it is dropped, because the command has failed or was cancelled, this thread deletes it.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    is_deleted: bool,
}

impl Temporary {
    /// A new directory beside the checkout, so that it is removed with the checkout if this process is killed.
    pub(super) fn beside(checkout: &Path) -> Result<Self, RunError> {
        let directory = checkout.parent().unwrap_or(checkout);
        let made =
            tempfile::tempdir_in(directory).map_err(|source| RunError::File { path: directory.to_owned(), source })?;
        Ok(Self { path: made.keep(), is_deleted: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Deletes it, on a thread that may wait for the disk.
    ///
    /// # Errors
    ///
    /// [`RunError::NotDeleted`]: the code under test has left something.
    pub(super) async fn delete(mut self) -> Result<(), RunError> {
        let path = self.path.clone();
        let deletion = tokio::task::spawn_blocking(move || self.delete_here()).await;
        let deletion = deletion.unwrap_or_else(|error| Err(io::Error::other(error)));
        deletion.map_err(|source| RunError::NotDeleted { path, source })
    }

    fn delete_here(&mut self) -> io::Result<()> {
        self.is_deleted = true;
        delete_tree(&self.path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_deleted
            && let Err(error) = self.delete_here()
        {
            tracing::warn!(%error, directory = %self.path.display(), "a temporary directory is left: delete it by hand");
        }
    }
}
