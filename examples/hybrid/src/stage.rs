//! Writes the demonstration's files: the seed crate as a repository with one commit, ready for a run.

use crate::demo;
use interlocking::cli::repository::LayOutError;
use interlocking::toolchain::{Checkout, RunError, Runner, Toolchain, Unconfined};
use interlocking::worktree::Repository;
use std::fs;
use std::path::Path;

/// Why the demonstration could not be written.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The repository could not be made.
    #[error(transparent)]
    LayOut(#[from] LayOutError),
    /// This system cannot confine the builds.
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

/// Makes the repository in `directory`, which must be empty or absent. Builds the seed once, which compiles the dependencies that
/// all checkouts share and reduces the lock file to the seed's needs.
///
/// # Errors
///
/// [`StageError`].
pub async fn lay_out(
    directory: &Path,
    target_directory: &Path,
    accept_weaker_isolation: bool,
) -> Result<Repository, StageError> {
    let parent = directory.parent().unwrap_or(directory);
    let files = |reason| LayOutError::Files { path: parent.to_owned(), reason };
    let toolchain = Toolchain::default();
    let runner = Runner::with_weaker_isolation_if(toolchain, target_directory, parent, accept_weaker_isolation)?;
    let build = async |directory: &Path| {
        // The dependencies of tests are compiled only for tests, and the seed has none.
        let tests = directory.join("tests");
        fs::create_dir(&tests).and_then(|()| fs::write(tests.join("none.rs"), "")).map_err(files)?;
        // No agent has worked there yet.
        let build = runner.build(&Checkout::at(directory)).await?;
        fs::remove_dir_all(&tests).map_err(files)?;
        match build.passed() {
            true => Ok(()),
            false => Err(StageError::Build { diagnostics: build.diagnostics().to_owned() }),
        }
    };
    interlocking::cli::repository::lay_out(directory, &demo::SEED, "A crate to build on", build).await
}
