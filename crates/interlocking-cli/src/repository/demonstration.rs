//! A repository of files that are embedded in the program, for a demonstration or a test.

use super::run::{Remembered, RepositoryRun};
use crate::console::Style;
use crate::error::CommandError;
use crate::exit::Exit;
use interlocking_worktree::{CommitError, GitError, InitError, Repository, Signature, SignatureError, WorktreeError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that is embedded in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// The path of the file, relative to the repository.
    pub path: &'static str,
    /// The contents of the file.
    pub contents: &'static str,
}

/// Why a repository could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayOutError {
    /// The files could not be written.
    #[error("{}: {reason}", path.display())]
    Files {
        /// The directory that was written to.
        path: PathBuf,
        /// Why writing failed.
        reason: io::Error,
    },
    /// The repository could not be created.
    #[error(transparent)]
    Init(#[from] InitError),
    /// The first commit could not be made.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The working tree could not be found.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// A git operation failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The author's name or address is invalid.
    #[error(transparent)]
    Author(#[from] SignatureError),
}

impl EmbeddedFile {
    /// Writes files into a directory, which is created if necessary.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write_all(files: &[Self], directory: &Path) -> io::Result<()> {
        for file in files {
            let path = directory.join(file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, file.contents)?;
        }
        Ok(())
    }
}

/// Creates a repository of these files in a directory that is empty or absent, with the branch `main` and one commit by "A user".
/// `before` runs after the files are written and before the commit: for instance a build that completes a lock file.
///
/// # Errors
///
/// [`LayOutError`], or the error of `before`.
pub async fn lay_out<E: From<LayOutError>>(
    directory: &Path,
    files: &[EmbeddedFile],
    message: &str,
    before: impl AsyncFnOnce(&Path) -> Result<(), E>,
) -> Result<Repository, E> {
    let repository = Repository::init(directory).map_err(LayOutError::from)?;
    EmbeddedFile::write_all(files, directory)
        .map_err(|reason| LayOutError::Files { path: directory.to_owned(), reason })?;
    before(directory).await?;
    commit(&repository, message)?;
    Ok(repository)
}

impl<M: Remembered> RepositoryRun<M> {
    /// Prints what the demonstration is, and [lays out](lay_out) these files as the run's repository, with a commit of this
    /// message.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the repository cannot be created.
    pub async fn lay_out(&self, files: &[EmbeddedFile], message: &str, what_it_is: &str) -> Result<(), CommandError> {
        self.start.console.line(Style::Bold, what_it_is);
        let laid_out = lay_out(self.repository(), files, message, async |_| Ok::<_, LayOutError>(())).await;
        laid_out.map(drop).map_err(|error| {
            CommandError::new(format!("the demonstration could not be laid out: {error}")).with_exit(Exit::Failed)
        })
    }
}

fn commit(repository: &Repository, message: &str) -> Result<(), LayOutError> {
    let author = Signature::new("A user", "user@interlocking.invalid")?;
    if let Some(worktree) = repository.main_worktree()? {
        worktree.commit_all(&author, message)?;
    }
    Ok(())
}
