//! Reading what test harnesses print.
//!
//! How a test failed is read here, from the harness's own output; nobody's word is taken for it (HY-99).

use std::path::Path;

pub mod exit_code;
pub mod libtest;
mod panics;

/// The test name under which a failure is filed that belongs to no single test.
pub const WHOLE_SUITE: &str = "(whole suite)";

/// What is known about the tests before their output is read.
#[derive(Debug, Clone, Copy)]
pub struct KnownTests<'a> {
    /// Tests that must get a verdict: one that the harness could not give counts as a failure.
    pub names: &'a [String],
    /// The test file, relative to the checkout: its tests have canaries, and a panic there that is not one of Rust's own is an assertion's.
    pub test_path: &'a str,
    /// The implementation's file, relative to the checkout, if no test may read it or what lies beside it.
    pub implementation_path: Option<&'a str>,
}

impl<'a> KnownTests<'a> {
    /// What no test may read: the implementation as text, with what lies beside it.
    pub(crate) fn hidden(&self) -> Option<&'a Path> {
        let file = Path::new(self.implementation_path?);
        Some(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(file))
    }
}

/// The end of a text, at most this many bytes, beginning at a character.
fn end_of(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests;
