//! Reading what test harnesses print.
//!
//! How a test failed is read here, from the harness's own output; nobody's word is taken for it (HY-99).

use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::{TestOutcome, TestVerdict};
use std::collections::BTreeSet;
use std::path::Path;

pub mod exit_code;
pub mod libtest;
pub mod junit;
pub mod go_test;
mod junit_failure;
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
        let path = Path::new(self.implementation_path?);
        let file = path.strip_prefix(".").unwrap_or(path);
        Some(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(file))
    }
}

/// A failure of which nothing is known but its kind and a message.
pub(crate) fn bare_failure(name: &str, failure_type: FailureType, message: &str) -> StructuredFailure {
    StructuredFailure {
        property_name: name.to_owned(),
        failure_type,
        counterexample: None,
        expected: None,
        actual: None,
        message: message.to_owned(),
    }
}

/// How much of the output becomes the message of a run without verdicts, in bytes.
const LONGEST_MESSAGE: usize = 2000;

/// The outcome of a run that gave no verdicts: every known test failed, or the suite where none is known.
fn no_verdict(finished: &Finished, known: KnownTests<'_>, why: &str) -> TestOutcome {
    let timed_out = finished.ending == Ending::TimedOut;
    let failure_type = if timed_out { FailureType::Timeout } else { FailureType::ParseError };
    let said = end_of(finished.stderr.trim(), LONGEST_MESSAGE);
    let message = if said.is_empty() { why.to_owned() } else { format!("{why}: {said}") };
    let suite = [WHOLE_SUITE.to_owned()];
    let names = if known.names.is_empty() { &suite } else { known.names };
    let failed = names.iter().map(|name| bare_failure(name, failure_type, &message)).collect();
    TestOutcome { failed, timed_out, ..TestOutcome::default() }
}

/// Files failures for the known tests that a harness said nothing of.
fn add_unreported(outcome: &mut TestOutcome, known: KnownTests<'_>) {
    let is_absent = |name: &&String| outcome.verdict_of(name) == TestVerdict::Absent;
    let missing: Vec<&String> = known.names.iter().filter(is_absent).collect();
    let failure_type = if outcome.timed_out { FailureType::Timeout } else { FailureType::ParseError };
    outcome.failed.extend(
        missing.into_iter().map(|name| bare_failure(name, failure_type, "the harness reported nothing of this test")),
    );
}

/// Leaves each test one verdict: a failure before a pass, a pass before a skip.
fn without_duplicates(outcome: &mut TestOutcome) {
    let mut seen = BTreeSet::new();
    outcome.failed.retain(|failure| seen.insert(failure.property_name.clone()));
    outcome.passed.retain(|name| seen.insert(name.clone()));
    outcome.ignored.retain(|name| seen.insert(name.clone()));
}

/// The end of a text, at most this many bytes, beginning at a character.
fn end_of(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod report_tests;
