//! Files as text: what an agent has left at a path may be none.

use crate::checkout::Checkout;
use crate::error::GitWorkspacesError;
use crate::fresh::FreshCheckout;
use interlocking_worktree::{FileError, RepositoryPath};

/// The most bytes of a text.
const LONGEST: u64 = 16 << 20;

/// What is at a path is a link or a directory, or is below one that is not a directory, or has more than 16 MiB, or is
/// not UTF-8. Whoever wrote it can correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NotText {
    /// What it is, with its path.
    pub reason: String,
    /// Whether it is a file that is not too long, but not UTF-8.
    pub is_file: bool,
}

impl Checkout<'_> {
    /// The current text of a file, committed or not; none if there is no file. Links are not followed. The inner error
    /// is what is there instead of text.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if it cannot be read.
    pub async fn text(&self, path: &RepositoryPath) -> Result<Result<Option<String>, NotText>, GitWorkspacesError> {
        text(path, self.read_file(path, LONGEST).await)
    }
}

impl FreshCheckout {
    /// The current text of a file; none if there is no file. Links are not followed. The inner error is what is there
    /// instead of text.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if it cannot be read.
    pub async fn text(&self, path: &RepositoryPath) -> Result<Result<Option<String>, NotText>, GitWorkspacesError> {
        text(path, self.read_file(path, LONGEST).await)
    }
}

fn text(
    path: &RepositoryPath,
    read: Result<Option<Vec<u8>>, GitWorkspacesError>,
) -> Result<Result<Option<String>, NotText>, GitWorkspacesError> {
    match read {
        Ok(bytes) => {
            let text = bytes.map(String::from_utf8).transpose();
            Ok(text.map_err(|error| NotText { reason: format!("{path} is not UTF-8: {error}"), is_file: true }))
        }
        Err(GitWorkspacesError::File(
            error @ (FileError::NotAFile { .. } | FileError::NotADirectory { .. } | FileError::TooLarge { .. }),
        )) => Ok(Err(NotText { reason: error.to_string(), is_file: false })),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent is told what it has left at a path, and of nothing else.
    #[test]
    fn only_what_is_at_the_path_is_not_text() {
        let path: RepositoryPath = "src/lib.rs".parse().unwrap();
        let at = || path.clone();
        for (read, reason) in [
            (Ok(Some(b"\xff".to_vec())), "src/lib.rs is not UTF-8: "),
            (Err(FileError::TooLarge { path: at(), most: 3 }), "src/lib.rs has more than 3 bytes"),
            (Err(FileError::NotAFile { path: at(), found: "a link" }), "src/lib.rs is a link, not a file"),
            (Err(FileError::NotADirectory { path: at(), found: "a link" }), "src/lib.rs is a link, not a dir"),
        ] {
            let wrong = text(&path, read.map_err(GitWorkspacesError::from)).unwrap().unwrap_err().to_string();
            assert!(wrong.starts_with(reason), "{wrong}");
        }
        assert_eq!(text(&path, Ok(None)).unwrap(), Ok(None));
        assert_eq!(text(&path, Ok(Some(b"x".to_vec()))).unwrap(), Ok(Some("x".to_owned())));
        assert!(matches!(text(&path, Err(GitWorkspacesError::NotOnGit)), Err(GitWorkspacesError::NotOnGit)));
    }
}
