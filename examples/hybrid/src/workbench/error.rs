//! Obstacles to a handler's work.

use crate::types::CratePath;
use interlocking::code_intelligence::{CodeError, Unavailable};
use interlocking::toolchain::{NoBaseline, RunError, TrialError};
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{GitError, PathError};

/// An obstacle to a handler's work: not part of the protocol, but for the operator.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A worktree, or a file in it.
    #[error(transparent)]
    Workspaces(#[from] GitWorkspacesError),
    /// The repository.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A path is not a valid path of a repository.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A command could not be run at all.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file is not text.
    #[error("{path} is not UTF-8: {reason}")]
    NotText {
        /// The file.
        path: CratePath,
        /// Where it is not text.
        reason: std::str::Utf8Error,
    },
    /// The project's files cannot be copied for the language server.
    #[error("the project's files cannot be copied for the language server: {0}")]
    Copy(std::io::Error),
    /// The merged tests do not pass as they are, although they have.
    #[error(transparent)]
    NoBaseline(#[from] NoBaseline),
    /// A mutant could not be tried.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A question about the files has no answer.
    #[error(transparent)]
    Code(CodeError),
    /// There is no language server, and nothing else reads the files.
    #[error("the files cannot be analysed: {0}")]
    NoServer(Unavailable),
    /// Work was stopped, because the program is ending.
    #[error("work was stopped before it was done")]
    Stopped,
    /// The state that an earlier node should have left is not there.
    #[error("the run's memory lacks {what}, which an earlier node should have left there")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
}
