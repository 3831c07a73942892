//! The public API of a file, and the difference between two versions of it.

mod item;
mod signature;
mod modules;
mod collect;
mod resolve;
mod export;
mod difference;

use crate::SourceError;
use crate::syntax::read;
use collect::Collection;
use serde::{Deserialize, Serialize};
use syn::File;

pub use difference::{ApiChange, Change};
pub use item::{ApiItem, ApiKind};

/// The most items that are listed for a file: modules that re-export each other can have endlessly many paths.
const MOST: usize = 100_000;

/// The public API of a file: all items that others can name, by path.
///
/// An item is public if it and its modules are `pub`, or if a `pub use` re-exports it from a private module; `pub(crate)` and the
/// like are not public. Two signatures are equal if they differ only in formatting, comments, names of arguments, the order of
/// bounds, or attributes that change nothing for a caller (documentation, lints, `inline`, `must_use`). Conditions (`cfg`),
/// `repr`, `non_exhaustive` and derived traits are part of a signature. Bodies, values of constants and private fields are not.
///
/// The API is read from the text, and macros are not expanded: a call of a macro between items counts as an item, with all its
/// tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicApi {
    /// The items, sorted by path.
    pub items: Vec<ApiItem>,
}

/// Why the public API of a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// The file is not Rust.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There are too many public paths, as modules re-export each other.
    #[error("{path}: more than {MOST} public paths; let no modules re-export each other")]
    TooMany {
        /// The file.
        path: String,
    },
}

impl PublicApi {
    /// The public API of one file, as if it were a whole crate. Re-exports from other files count by their paths.
    ///
    /// # Errors
    ///
    /// [`ApiError`] if the file is not Rust.
    pub fn of_file(path: &str, text: &str) -> Result<Self, ApiError> {
        read(path, text, |file| Self::of_syntax(path, file))?
    }

    /// Like [`of_file`](Self::of_file), for a file's syntax.
    pub(crate) fn of_syntax(path: &str, file: &File) -> Result<Self, ApiError> {
        export::export(&Collection::of(path, file), path)
    }
}

#[cfg(test)]
mod tests;
