//! What a file or a crate offers to others, and how two versions of that differ.

mod item;
mod signature;
mod modules;
mod collect;
mod resolve;
mod export;
mod difference;

use crate::SourceError;
use crate::syntax::read;
use collect::{Awaited, Collection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub use difference::{ApiChange, Change};
pub use item::{ApiItem, ApiKind};

/// The most items that are listed of a crate: modules that export each other can be written to have no end.
const MOST: usize = 100_000;

/// Everything that a file or a crate offers to others, by the path under which they know it.
///
/// Public are items that are `pub` themselves and in modules that are, and those that a `pub use` takes out of a private module; `pub(crate)`
/// and the like are not. A signature is a text that is equal where only formatting, comments, names of arguments, the order of bounds,
/// or attributes differ that change nothing for a caller (documentation, lints, `inline`, `must_use`). Conditions (`cfg`), `repr`,
/// `non_exhaustive` and derived traits are part of it. Bodies, values of constants and private fields are not.
///
/// It is read off the text. What a macro comes to is not seen: a call of one between items counts as an item itself, with all it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicApi {
    /// In the order of their paths.
    pub items: Vec<ApiItem>,
}

/// The interface of a crate could not be read.
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
        /// Where its file could be.
        wanted: Vec<String>,
    },
    /// Modules export each other without end.
    #[error("{path}: more than {MOST} public paths; let no modules re-export each other")]
    TooMany {
        /// The crate's root.
        path: String,
    },
}

impl PublicApi {
    /// What one file offers, as if it were all of its crate. What it re-exports of other files counts by its path.
    ///
    /// # Errors
    ///
    /// [`ApiError`] where the file is not Rust.
    pub fn of_file(path: &str, text: &str) -> Result<Self, ApiError> {
        let collection = read(path, text, |file| Collection::default().with_root(path, file))?;
        export::export(&collection, path)
    }

    /// What a crate offers: its root's file (`src/lib.rs`) and the files of its modules, looked for among `files`, by path. A
    /// `path` that a `cfg_attr` gives a module is not read.
    ///
    /// # Errors
    ///
    /// [`ApiError`] where a file is not Rust, or a module's is not there.
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
            // A file that is a module of its own would be read for ever.
            read_so_far += 1;
            if read_so_far > 2 * files.len() {
                return Err(ApiError::TooMany { path: root.to_owned() });
            }
            collection = read(path, text, |file| collection.with_file(&awaited, path, file))?;
        }
        export::export(&collection, root)
    }
}

#[cfg(test)]
mod tests;
