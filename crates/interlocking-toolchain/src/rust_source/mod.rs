//! Test files in Rust as syntax: which tests there are, also within `proptest!`, and a canary for each.
//!
//! The syntax is syn's: a caller that looks further into a file needs no second parser.

mod canaries;
mod proptest;

pub use canaries::{PairedTest, WithCanaries, with_canaries};
pub use proptest::{Drawn, ProptestBody, ProptestFunction, is_proptest, is_test};

/// A file is not Rust.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: not valid Rust: {reason}")]
pub struct SourceError {
    /// The file as it was named.
    pub path: String,
    /// The line of the problem, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// What the parser objects to.
    pub reason: String,
}

/// Parses a file; `path` is for messages.
///
/// # Errors
///
/// [`SourceError`] where the file is not Rust, with the place of the first problem.
pub fn parse(path: &str, text: &str) -> Result<syn::File, SourceError> {
    syn::parse_file(text).map_err(|error| {
        let start = error.span().start();
        SourceError { path: path.to_owned(), line: start.line, column: start.column + 1, reason: error.to_string() }
    })
}
