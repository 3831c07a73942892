//! Reading what test harnesses print.
//!
//! Agents never say how a test failed: the handler reads it here, from the harness's own output (HY-99).

use crate::types::StackSpec;
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
    /// The test file, relative to the crate: a panic there that is not one of Rust's own is an assertion's.
    pub test_path: &'a str,
    /// The implementation's file, relative to the crate: no test may read it, or what lies beside it.
    pub implementation_path: &'a str,
}

impl<'a> KnownTests<'a> {
    /// These tests of a task.
    pub fn of(spec: &'a StackSpec, names: &'a [String]) -> Self {
        Self { names, test_path: spec.test_path.as_str(), implementation_path: spec.impl_path.as_str() }
    }

    /// What no test may read: the implementation as text, with what lies beside it.
    pub fn hidden(&self) -> &'a Path {
        let file = Path::new(self.implementation_path);
        file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(file)
    }
}

#[cfg(test)]
mod tests;
