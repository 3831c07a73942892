//! Where something stands in a file.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where something stands in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file's path; of an embedded protocol `embedded:NAME.yaml`.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The same within one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Spot {
    pub(crate) const START: Self = Self { line: 1, column: 1 };

    pub(crate) fn of(self, file: &str) -> Place {
        Place { file: file.to_owned(), line: self.line, column: self.column }
    }
}
