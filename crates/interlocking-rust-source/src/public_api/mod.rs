//! The public API of a file or a crate, and the difference between two versions of it.

mod item;
mod signature;
mod modules;
mod collect;
mod resolve;
mod export;
mod difference;

use crate::SourceError;
use crate::syntax::{on_large_stack, read};
use collect::{Awaited, Collection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use syn::File;

pub use difference::{ApiChange, Change};
pub use item::{ApiItem, ApiKind};

/// The most items that are listed for a crate: modules that re-export each other can have endlessly many paths.
const MOST: usize = 100_000;

/// The public API of a file or a crate: all items that others can name, by path.
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

/// Why the public API of a crate could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    /// A file is not Rust.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A module's file is not among those given.
    #[error("{path}:{line}:{column}: the file of module `{module}` is not there: give {}", wanted.join(" or "))]
    NoFile {
        /// The file that names the module.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// The module.
        module: String,
        /// The possible paths of its file.
        wanted: Vec<String>,
    },
    /// There are too many public paths, as modules re-export each other.
    #[error("{path}: more than {MOST} public paths; let no modules re-export each other")]
    TooMany {
        /// The crate's root.
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
        export::export(&Collection::default().with_root(path, file), path)
    }

    /// The public API of a crate: of its root file (`src/lib.rs`) and the files of its modules, which are looked up by path in
    /// `files`. A `path` attribute inside a `cfg_attr` is ignored.
    ///
    /// # Errors
    ///
    /// [`ApiError`] if a file is not Rust, or the file of a module is missing.
    pub fn of_crate(root: &str, files: &BTreeMap<String, String>) -> Result<Self, ApiError> {
        let missing = |awaited: &Awaited| ApiError::NoFile {
            path: awaited.place.file.clone(),
            line: awaited.place.line,
            column: awaited.place.column,
            module: awaited.name.clone(),
            wanted: awaited.paths.clone(),
        };
        let nowhere = || ApiError::NoFile {
            path: root.to_owned(),
            line: 1,
            column: 1,
            module: "crate".to_owned(),
            wanted: vec![root.to_owned()],
        };
        let text = files.get(root).ok_or_else(nowhere)?;
        let mut collection = read(root, text, |file| Collection::default().with_root(root, file))?;
        let mut read_so_far = 0;
        while let Some(awaited) = collection.awaited.pop() {
            let found = awaited.paths.iter().find_map(|path| files.get_key_value(path));
            let (path, text) = found.ok_or_else(|| missing(&awaited))?;
            // Stops at a file that is its own module, which would be read for ever.
            read_so_far += 1;
            if read_so_far > 2 * files.len() {
                return Err(ApiError::TooMany { path: root.to_owned() });
            }
            collection = read(path, text, |file| collection.with_file(&awaited, path, file))?;
        }
        on_large_stack(root, || export::export(&collection, root))?
    }
}

#[cfg(test)]
mod tests;
