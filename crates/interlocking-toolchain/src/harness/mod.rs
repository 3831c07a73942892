//! Reads the output of test harnesses.
//!
//! How a test failed is read from the harness's own output, never from what an agent reports (HY-99).

use crate::execution::{Ending, Finished};
use crate::failure::{FailureType, StructuredFailure};
use crate::outcome::{TestOutcome, TestVerdict};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) mod exit_code;
pub(crate) mod libtest;
pub(crate) mod junit;
pub(crate) mod go_test;
mod junit_failure;
mod panics;

/// The test name of a failure that belongs to no single test.
pub(crate) const WHOLE_SUITE: &str = "(whole suite)";

/// What is known about the tests before their output is read.
#[derive(Debug, Clone, Copy)]
pub struct KnownTests<'a> {
    /// Tests that must get a verdict: a test without a verdict counts as failed.
    pub names: &'a [String],
    /// The test file, relative to the checkout. Its tests get canaries. A panic in this file counts as a failed assertion, unless
    /// its message is one of Rust's own.
    pub test_path: &'a str,
    /// The implementation's file, relative to the checkout, if no test may read that file and its directory.
    pub implementation_path: Option<&'a str>,
}

impl<'a> KnownTests<'a> {
    /// The path that no test may read: the implementation's directory, or its file if that is at the root of the checkout.
    pub(crate) fn hidden(&self) -> Option<&'a Path> {
        let path = Path::new(self.implementation_path?);
        let file = path.strip_prefix(".").unwrap_or(path);
        Some(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(file))
    }
}

/// A failure with nothing but its kind and a message.
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

/// The longest part of a harness's words that each text of a failure keeps, in bytes.
const LONGEST_TEXT: usize = 2000;

/// The outcome of a run without verdicts: every known test failed, or the suite if none is known.
pub(crate) fn no_verdict(finished: &Finished, known: KnownTests<'_>, why: &str) -> TestOutcome {
    let timed_out = finished.ending == Ending::TimedOut;
    let failure_type = if timed_out { FailureType::Timeout } else { FailureType::ParseError };
    let (why, said) = (beginning_of(why, LONGEST_TEXT), end_of(finished.stderr.trim(), LONGEST_TEXT));
    let message = if said.is_empty() { why.to_owned() } else { format!("{why}: {said}") };
    let suite = [WHOLE_SUITE.to_owned()];
    let names = if known.names.is_empty() { &suite } else { known.names };
    let failed = names.iter().map(|name| bare_failure(name, failure_type, &message)).collect();
    TestOutcome { failed, timed_out, ..TestOutcome::default() }
}

/// Adds failures for the known tests that the harness did not report.
fn add_unreported(outcome: &mut TestOutcome, known: KnownTests<'_>) {
    let is_absent = |name: &&String| outcome.verdict_of(name) == TestVerdict::Absent;
    let missing: Vec<&String> = known.names.iter().filter(is_absent).collect();
    let failure_type = if outcome.timed_out { FailureType::Timeout } else { FailureType::ParseError };
    outcome.failed.extend(
        missing.into_iter().map(|name| bare_failure(name, failure_type, "the harness reported nothing of this test")),
    );
}

/// Keeps one verdict for each test: a failure takes precedence over a pass, and a pass over a skip.
fn without_duplicates(outcome: &mut TestOutcome) {
    let mut seen = BTreeSet::new();
    outcome.failed.retain(|failure| seen.insert(failure.property_name.clone()));
    outcome.passed.retain(|name| seen.insert(name.clone()));
    outcome.ignored.retain(|name| seen.insert(name.clone()));
}

/// A failure with the beginning of each of its texts: code under test decides how long they are.
fn bounded(mut failure: StructuredFailure) -> StructuredFailure {
    let StructuredFailure { counterexample, expected, actual, message, .. } = &mut failure;
    for text in [counterexample, expected, actual].into_iter().flatten().chain([message]) {
        text.truncate(text.floor_char_boundary(LONGEST_TEXT));
    }
    failure
}

/// The beginning of a text: at most `most` bytes, ending at a character boundary.
fn beginning_of(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The end of a text: at most `most` bytes, beginning at a character boundary.
fn end_of(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod report_tests;
