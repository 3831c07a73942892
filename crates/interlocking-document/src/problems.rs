//! The problems of a document.

use std::fmt;

use crate::place::{Place, Position};
use crate::words;

/// The number of problems that are shown at once.
pub(crate) const SHOWN: usize = 20;

/// A problem of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the problem is.
    pub place: Place,
    /// The keys that lead to the field, such as `strictness.maxFixAttempts`; `None` for the outermost table, and if the text is
    /// not a well-formed document.
    pub field: Option<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

/// All problems of a file. As an error it has at least one problem, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    file: String,
    found: Vec<Problem>,
}

impl Problems {
    /// An empty list of problems of `file`.
    pub fn of(file: impl Into<String>) -> Self {
        Self { file: file.into(), found: Vec::new() }
    }

    /// Adds a problem. `field` is empty for the outermost table and for the text as a whole.
    pub fn add(&mut self, position: Position, field: &str, message: impl AsRef<str>) {
        let field = (!field.is_empty()).then(|| field.to_owned());
        self.found.push(Problem { place: position.of(&self.file), field, message: words::message(message.as_ref()) });
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The number of problems.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// The problems, in the order in which they were added; in an error, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.found.iter()
    }

    pub(crate) fn sorted(mut self) -> Self {
        self.found.sort_by_key(|problem| (problem.place.line, problem.place.column));
        self
    }
}

impl<'p> IntoIterator for &'p Problems {
    type Item = &'p Problem;
    type IntoIter = std::slice::Iter<'p, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(field) = &self.field {
            write!(f, "`{field}`: ")?;
        }
        f.write_str(&self.message)
    }
}

/// One line for each problem, up to 20, and the number of further ones.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.found.iter().take(SHOWN).enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "\n" })?;
        }
        match self.found.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            1 => f.write_str("\nand 1 further problem"),
            further => write!(f, "\nand {further} further problems"),
        }
    }
}

impl std::error::Error for Problems {}
