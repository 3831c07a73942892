//! What gix or the file system said, in words, without gix's types in this crate's API.

use std::fmt;

use crate::untrusted::Refused;

/// A failure below this crate: the object database, the reference store or the file system.
///
/// Its text says what was being done and the whole chain of causes.
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

    /// Something that an agent can write is not sound.
    pub(crate) fn refused(doing: impl Into<String>, refused: Refused) -> Self {
        Self { doing: doing.into(), cause: refused.to_string(), refused: Some(Box::new(refused)) }
    }

    /// What was being done, as in "reading the index of /work/tests-r1".
    #[must_use]
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// What an agent can write and is not sound, if that is the cause.
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

/// Names what was being done when a call into gix or the file system failed.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, GitError>;
}

impl<T> Doing<T> for Result<T, gix::Error> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, GitError> {
        self.map_err(|error| {
            let causes: Vec<String> = error.iter_errors().map(ToString::to_string).collect();
            let mut cause = join_distinct(&causes);
            // By gix's words, which do not say whose limit it is.
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

/// The most characters of one cause that are shown.
const LONGEST_CAUSE: usize = 2_000;

/// A cause often repeats the one before it; say each only once.
fn join_distinct(causes: &[String]) -> String {
    let mut text = String::new();
    for cause in causes {
        if !text.contains(cause.as_str()) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            // Some quote a whole file, of whoever's making.
            let shown = cause.char_indices().nth(LONGEST_CAUSE).map_or(cause.as_str(), |(end, _)| &cause[..end]);
            text.push_str(shown);
            if shown.len() < cause.len() {
                text.push('…');
            }
        }
    }
    text
}

/// Lists at most ten items in a message, and says how many more there are.
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
