//! Lays out the demonstration: the seed crate as a repository with one commit, ready for a run.

use crate::demo;
use interlocking::toolchain::{Checkout, RunError, Runner, Toolchain, Unconfined, share_dependencies};
use interlocking::worktree::{CommitError, InitError, Repository, Signature, SignatureError, WorktreeError};
use std::io;
use std::path::{Path, PathBuf};

/// Why the demonstration could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The seed's files could not be written.
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
    Git(#[from] interlocking::worktree::GitError),
    /// The author is none.
    #[error(transparent)]
    Author(#[from] SignatureError),
    /// This system cannot confine what is built.
    #[error(transparent)]
    Unconfined(#[from] Unconfined),
    /// Cargo could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The seed does not build.
    #[error("the seed crate does not build:\n{diagnostics}")]
    Build {
        /// What the build printed.
        diagnostics: String,
    },
}

/// Makes the repository in `directory`, which must be empty or absent, and whose parent must be the demonstration's own:
/// builds below that parent share their dependencies. Builds the seed once, which compiles what every
/// worktree shares and cuts the lock file down to what the seed needs.
///
/// # Errors
///
/// [`StageError`].
pub async fn lay_out(
    directory: &Path,
    target_directory: &Path,
    accept_weaker_isolation: bool,
) -> Result<Repository, StageError> {
    let repository = Repository::init(directory)?;
    let files = |reason| StageError::Files { path: directory.to_owned(), reason };
    let parent = directory.parent().unwrap_or(directory);
    share_dependencies(parent).map_err(files)?;
    demo::write_seed(directory).map_err(files)?;
    let toolchain = Toolchain::default();
    let runner = if accept_weaker_isolation {
        Runner::with_weaker_isolation(toolchain, target_directory, parent)
    } else {
        Runner::new(toolchain, target_directory, parent)?
    };
    // No agent has been there yet.
    let build = runner.build(&Checkout::at(directory)).await?;
    if !build.passed() {
        return Err(StageError::Build { diagnostics: build.diagnostics().to_owned() });
    }
    let author = Signature::new("A user", "user@interlocking.invalid")?;
    if let Some(worktree) = repository.main_worktree()? {
        worktree.commit_all(&author, "A crate to build on")?;
    }
    Ok(repository)
}
