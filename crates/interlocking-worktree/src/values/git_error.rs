//! Errors of gix and the file system as text, so that this crate's API has no types of gix.

use std::fmt;

use crate::untrusted::Refused;

/// A failure below this crate: the object database, the reference store or the file system.
///
/// Its text says what was being done, and all causes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {cause}")]
pub struct GitError {
    doing: String,
    cause: String,
    refused: Option<Box<Refused>>,
}

impl GitError {
    pub(crate) fn new(doing: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { doing: doing.into(), cause: cause.into(), refused: None }
    }

    /// Data that an agent can write is not valid.
    pub(crate) fn refused(doing: impl Into<String>, refused: Refused) -> Self {
        Self { doing: doing.into(), cause: refused.to_string(), refused: Some(Box::new(refused)) }
    }

    /// What was being done, such as "reading the index of /work/tests-r1".
    #[must_use]
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// The reason, if the cause is invalid data that an agent can write.
    #[must_use]
    pub fn reason(&self) -> Option<&Refused> {
        self.refused.as_deref()
    }

    /// The causes, outermost first, joined by `: `.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// Adds what was being done to an error of gix or the file system.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, GitError>;
}

impl<T> Doing<T> for Result<T, gix::Error> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, GitError> {
        self.map_err(|error| {
            let causes: Vec<String> = error.iter_errors().map(ToString::to_string).collect();
            let mut cause = join_distinct(&causes);
            // Recognized by gix's text, which does not say which limit it is.
            if cause.contains("allocation limit") {
                cause.push_str("; if that is meant, raise `Limits::object`");
            }
            GitError::new(what(), cause)
        })
    }
}

impl<T> Doing<T> for std::io::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, GitError> {
        self.map_err(|error| GitError::new(what(), error.to_string()))
    }
}

/// How many characters of one cause are shown.
const LONGEST_CAUSE: usize = 2_000;

/// Joins causes without repetition: a cause often repeats the one before it.
fn join_distinct(causes: &[String]) -> String {
    let mut text = String::new();
    for cause in causes {
        if !text.contains(cause.as_str()) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            // Some causes quote a whole file, which an agent may have written.
            let shown = cause.char_indices().nth(LONGEST_CAUSE).map_or(cause.as_str(), |(end, _)| &cause[..end]);
            text.push_str(shown);
            if shown.len() < cause.len() {
                text.push('…');
            }
        }
    }
    text
}

/// Lists at most ten items in a message, and the number of the others.
pub(crate) struct Listed<'a, T>(pub(crate) &'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 10;
        for (position, item) in self.0.iter().take(SHOWN).enumerate() {
            if position > 0 {
                formatter.write_str(", ")?;
            }
            write!(formatter, "{item}")?;
        }
        if self.0.len() > SHOWN {
            write!(formatter, " and {} more", self.0.len() - SHOWN)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_and_counted() {
        let items: Vec<u32> = (0..12).collect();
        assert_eq!(Listed(&items).to_string(), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
        assert_eq!(Listed(&items[..2]).to_string(), "0, 1");
    }

    #[test]
    fn a_cause_that_quotes_a_whole_file_is_cut() {
        let text = join_distinct(&["ü".repeat(1 << 20)]);
        assert_eq!(text, "ü".repeat(LONGEST_CAUSE) + "…");
    }

    #[test]
    fn a_repeated_cause_is_said_once() {
        let causes = ["no such file".to_owned(), "no such file".to_owned()];
        assert_eq!(join_distinct(&causes), "no such file");
    }
}
