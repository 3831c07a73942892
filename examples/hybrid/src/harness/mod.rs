//! Reading what test harnesses print.
//!
//! Agents never say how a test failed: the handler reads it here, from the harness's own output (HY-99).

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
    /// The test file, relative to the crate: a panic there that is not one of Rust's own is an assertion's.
    pub test_path: &'a str,
}

#[cfg(test)]
mod tests;
