//! Test failures in a form that can be counted, compared and shown.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One failed test, read from the harness's output (HY-99). It is also read under names with the prefix `sf`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StructuredFailure {
    /// The test function's name.
    #[serde(alias = "sfPropertyName")]
    pub property_name: String,
    /// How it failed.
    #[serde(alias = "sfFailureType")]
    pub failure_type: FailureType,
    /// The smallest failing input, if the harness found one.
    #[serde(alias = "sfCounterexample", default)]
    pub counterexample: Option<String>,
    /// The expected value, if the assertion reported it: the right-hand side of a comparison.
    #[serde(alias = "sfExpected", default)]
    pub expected: Option<String>,
    /// The actual value: the left-hand side of a comparison.
    #[serde(alias = "sfActual", default)]
    pub actual: Option<String>,
    /// The harness's message.
    #[serde(alias = "sfMessage")]
    pub message: String,
}

/// How a test failed (HY-100).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FailureType {
    /// An assertion did not hold.
    PropertyFailed,
    /// The test panicked, but not by an assertion or a stub, or it returned an error.
    ExceptionThrown,
    /// The test was still running when its time was up.
    Timeout,
    /// The test reached a stub.
    UndefinedHit,
    /// The harness's output has no verdict for the test: the test program crashed, its output could not be read, or the test was
    /// skipped.
    ParseError,
}

/// Spelt as in JSON.
impl fmt::Display for FailureType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Failures that look alike, across runs (HY-127). It is also read under names with the prefix `fp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailurePattern {
    /// The signature that the failures have in common: stable from run to run (HY-181).
    #[serde(alias = "fpSignature")]
    pub signature: String,
    /// The functions that the failures concern.
    #[serde(alias = "fpAffectedFns")]
    pub affected_fns: Vec<String>,
    /// How the tests fail.
    #[serde(alias = "fpCategory")]
    pub category: FailureType,
    /// The number of validation runs in which the failures were seen.
    #[serde(alias = "fpOccurrences")]
    pub occurrences: u32,
}
