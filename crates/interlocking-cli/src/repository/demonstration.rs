//! A repository of files that a program has in itself, for a demonstration or a test.

use interlocking_worktree::{CommitError, GitError, InitError, Repository, Signature, SignatureError, WorktreeError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file that a program has in itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// Where it goes, relative to the repository.
    pub path: &'static str,
    /// What it says.
    pub contents: &'static str,
}

/// Why a repository could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayOutError {
    /// The files could not be written.
    #[error("{}: {reason}", path.display())]
    Files {
        /// Where to.
        path: PathBuf,
        /// Why not.
        reason: io::Error,
    },
    /// The repository could not be made.
    #[error(transparent)]
    Init(#[from] InitError),
    /// Its first commit could not be made.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Its working tree could not be found.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Git.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The author is none.
    #[error(transparent)]
    Author(#[from] SignatureError),
}

impl EmbeddedFile {
    /// Writes files into a directory, which is made if need be.
    ///
    /// # Errors
    ///
    /// Where they cannot be written.
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

/// Makes a repository of these files in a directory that is empty or absent, with the branch `main` and one commit of "A user". `before` is
/// done when the files are there, and before the commit: such as a build that completes a lock file.
///
/// # Errors
///
/// [`LayOutError`], or what `before` gives.
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

fn commit(repository: &Repository, message: &str) -> Result<(), LayOutError> {
    let author = Signature::new("A user", "user@interlocking.invalid")?;
    if let Some(worktree) = repository.main_worktree()? {
        worktree.commit_all(&author, message)?;
    }
    Ok(())
}
