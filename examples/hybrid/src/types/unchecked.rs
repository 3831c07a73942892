//! Checks that are made for Rust, and not for other languages.

use crate::language::Language;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that was not checked, because the task's files are not read as syntax. A success reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unchecked {
    /// Whether files contain constructs that could fake a verdict.
    Constructs,
    /// Whether each test runs to its end: there are no canaries.
    Canaries,
    /// Whether the calls in a property's text are run.
    Reached,
    /// Whether properties compare results with an example's outcome, or with anything.
    Assertions,
}

impl Unchecked {
    /// What is not checked for a task in this language.
    pub fn of(language: Language) -> Vec<Self> {
        match language {
            Language::Rust => Vec::new(),
            Language::Python => vec![Self::Constructs, Self::Canaries, Self::Reached, Self::Assertions],
        }
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Constructs => "whether the code contains what its verdict could be talked round with",
            Self::Canaries => "whether the code ends its tests, or answers for them",
            Self::Reached => "whether what a test calls is reached when it runs",
            Self::Assertions => "whether the tests compare anything, and with an example's outcome",
        })
    }
}
