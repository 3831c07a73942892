//! What can be wrong with a specification.

use std::fmt;

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
    /// It is not well-formed, or says something that cannot be.
    #[error("{}", listed(problems))]
    Bad {
        /// Everything that was found wrong; at least one, in the order of the file.
        problems: Vec<SpecProblem>,
    },
}

/// One thing that is wrong with a specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecProblem {
    /// The file, or the name it was parsed under.
    pub file: String,
    /// The place, line and column counted from 1; `None` for something that is missing altogether.
    pub place: Option<(usize, usize)>,
    /// The field, such as `strictness.maxFixAttempts`; `None` if the text is not well-formed.
    pub field: Option<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        if let Some(field) = &self.field {
            write!(f, " `{field}`:")?;
        }
        write!(f, " {}", self.message)
    }
}

fn listed(problems: &[SpecProblem]) -> String {
    problems.iter().map(SpecProblem::to_string).collect::<Vec<_>>().join("\n")
}

/// A problem whose place is still an offset into the text, in bytes.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) offset: Option<usize>,
    pub(super) field: Option<String>,
    pub(super) message: String,
}

impl Found {
    /// The problem as it is shown, columns counted in characters.
    pub(super) fn locate(self, file: &str, text: &str) -> SpecProblem {
        let place = self.offset.map(|offset| {
            let before = &text[..text.floor_char_boundary(offset)];
            let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
            (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
        });
        SpecProblem { file: file.to_owned(), place, field: self.field, message: self.message }
    }
}
