//! Obstacles to a handler's work.

use crate::types::CratePath;
use interlocking::code_intelligence::{CodeError, Unavailable};
use interlocking::rust_source::SourceError;
use interlocking::toolchain::{NoBaseline, RunError, TrialError};
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{FileError, GitError, PathError};

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

impl WorkError {
    /// What is wrong with a source file, if that is why it could not be read: whoever wrote it can correct it. Everything else
    /// stays an obstacle.
    pub(super) fn of_source(self, path: &CratePath) -> Result<SourceError, Self> {
        use GitWorkspacesError::File;
        match self {
            Self::NotText { .. }
            | Self::Workspaces(File(
                FileError::NotAFile { .. } | FileError::NotADirectory { .. } | FileError::TooLarge { .. },
            )) => {
                let (path, reason) = (path.to_string(), self.to_string());
                Ok(SourceError { path, line: 1, column: 1, reason })
            }
            _ => Err(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::text;

    /// An agent is blamed for what it can leave at a path, and for nothing else.
    #[test]
    fn only_what_stands_at_the_path_is_wrong_with_a_file() {
        let path = CratePath::new("src/lib.rs").unwrap();
        let at = || "src/lib.rs".parse().unwrap();
        let of_file = |error: FileError| WorkError::from(GitWorkspacesError::from(error));
        for (error, reason) in [
            (text(&path, b"\xff".to_vec()).unwrap_err(), "src/lib.rs is not UTF-8: "),
            (of_file(FileError::TooLarge { path: at(), most: 3 }), "src/lib.rs has more than 3 bytes"),
            (of_file(FileError::NotAFile { path: at(), found: "a link" }), "src/lib.rs is a link, not a file"),
            (of_file(FileError::NotADirectory { path: at(), found: "a link" }), "src/lib.rs is a link, not a dir"),
        ] {
            let wrong = error.of_source(&path).unwrap();
            assert!(wrong.to_string().starts_with(&format!("src/lib.rs:1:1: {reason}")), "{wrong}");
        }
        assert!(matches!(WorkError::Stopped.of_source(&path), Err(WorkError::Stopped)));
        let not_on_git = WorkError::from(GitWorkspacesError::NotOnGit);
        assert!(matches!(not_on_git.of_source(&path), Err(WorkError::Workspaces(_))));
    }
}
