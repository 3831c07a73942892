//! How a test of a JUnit report failed.

use super::bounded;
use super::junit::{Case, CaseKind};
use super::panics::explain;
use crate::failure::{FailureType, StructuredFailure};

/// Reads how a test failed: tests in Rust from their panic, others from the failure's type and message.
pub(super) fn failure(case: Case, test_path: &str) -> StructuredFailure {
    if let Some(captured) = [&case.errors, &case.text].into_iter().find(|text| is_rust(text)) {
        return explain(&case.name, captured, test_path);
    }
    let whole = if case.message.trim().is_empty() { case.text.trim() } else { case.message.trim() };
    let (said, counterexample) = without_counterexample(whole);
    let failure_type = classify(&case, said);
    let (actual, expected) = sides(said).unzip();
    let said = if said.is_empty() { case.failure_kind.as_str() } else { said };
    let message = said.to_owned();
    bounded(StructuredFailure { failure_type, counterexample, expected, actual, message, property_name: case.name })
}

/// Whether the text is the output of a failed test in Rust.
fn is_rust(text: &str) -> bool {
    text.starts_with("Error: ")
        || text.lines().any(|line| line.starts_with("thread '") && line.contains(" panicked at "))
}

fn classify(case: &Case, said: &str) -> FailureType {
    let (kind, first) = (case.failure_kind.as_str(), said.lines().next().unwrap_or_default());
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| first.starts_with(beginning));
    // Not `TimeoutError`, which the code under test has thrown.
    let is_late = first.strip_prefix("Timeout").is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    if kind == "test timeout" || is_late || begins(&["Failed: Timeout"]) {
        FailureType::Timeout
    } else if kind == "test abort" {
        // The test program died for an unknown reason.
        FailureType::ParseError
    } else if begins(&["NotImplementedError", "not implemented", "not yet implemented"])
        || kind.contains("NotImplemented")
    {
        FailureType::UndefinedHit
    } else if case.kind == CaseKind::Failed
        && (begins(&["assert ", "AssertionError", "assertion "]) || kind.contains("Assertion"))
    {
        FailureType::PropertyFailed
    } else {
        FailureType::ExceptionThrown
    }
}

/// Splits a message into the text before, and Hypothesis's smallest failing input on one line.
fn without_counterexample(message: &str) -> (&str, Option<String>) {
    for announced in ["Failing test case: ", "Falsifying example: "] {
        if let Some((before, after)) = message.split_once(announced) {
            let input = after.split_once("\n)").map_or(after, |(input, _)| input);
            let input = input.split_once('(').map_or(input, |(_, arguments)| arguments);
            let words = input.split_whitespace().collect::<Vec<_>>().join(" ");
            return (before.trim_end(), Some(words.trim_end_matches([',', ')']).to_owned()));
        }
    }
    (message, None)
}

/// Both sides of `assert 4 == 3`: the actual and the expected value.
fn sides(message: &str) -> Option<(String, String)> {
    let compared = message.lines().find_map(|line| line.strip_prefix("assert "))?;
    let (actual, expected) = compared.split_once(" == ")?;
    (!expected.contains(" == ")).then(|| (actual.to_owned(), expected.to_owned()))
}
