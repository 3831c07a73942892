//! Why a specification cannot be used.

use interlocking::document::Problems;

/// Why a specification cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The system's words.
        reason: String,
    },
    /// The file's name does not say how it is written.
    #[error("{file}: not a known kind of file; name it `.toml` or `.json`")]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// It is not well-formed, or contains an impossible value.
    #[error("{problems}")]
    Bad {
        /// All mistakes that were found.
        problems: Problems,
    },
}
