//! Where something stands in a file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where something stands in a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file's path, or the name that the document was parsed under.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

/// The same within one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
}

impl Position {
    /// Where a file begins.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The place in a file of that name.
    pub fn of(self, file: &str) -> Place {
        Place { file: file.to_owned(), line: self.line, column: self.column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}
