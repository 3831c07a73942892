//! What came of a build or a run of the tests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failure::StructuredFailure;

/// What came of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildOutcome {
    /// It succeeded.
    Passed,
    /// It failed.
    Failed {
        /// What the build printed, its end if it was long.
        diagnostics: String,
    },
    /// It was stopped.
    TimedOut {
        /// How long it had been given.
        after: Duration,
        /// What it had printed, its end if it was long.
        diagnostics: String,
    },
}

impl BuildOutcome {
    /// Whether the build succeeded.
    pub fn passed(&self) -> bool {
        matches!(self, Self::Passed)
    }

    /// What the build printed; empty if it passed.
    pub fn diagnostics(&self) -> &str {
        match self {
            Self::Passed => "",
            Self::Failed { diagnostics } | Self::TimedOut { diagnostics, .. } => diagnostics,
        }
    }
}

/// What came of running the test command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestRun {
    /// No test ran, because the tests could not be built. Not the same as failing tests (CON-53).
    DidNotBuild {
        /// What the command printed, its end if it was long.
        diagnostics: String,
    },
    /// The tests ran.
    Ran(TestOutcome),
    /// What the tests say is not to be believed: something answers for them.
    Forged {
        /// Each test that was answered for.
        tests: Vec<Forgery>,
    },
}

/// A test passes, and its canary does too, which calls the same test and then fails by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error(
    "`{test}` passes, and so does its canary, which calls it and then fails: the code under test ends the program, or answers for it, before the test is over"
)]
pub struct Forgery {
    /// The test's name.
    pub test: String,
}

/// The tests' verdicts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestOutcome {
    /// Names of the tests that passed.
    pub passed: Vec<String>,
    /// The tests that failed, in the harness's order.
    pub failed: Vec<StructuredFailure>,
    /// Names of the tests that were skipped by their own wish.
    pub ignored: Vec<String>,
    /// Whether the command had to be stopped.
    pub timed_out: bool,
}

/// One test's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict<'a> {
    /// It passed.
    Passed,
    /// It failed.
    Failed(&'a StructuredFailure),
    /// It was skipped by its own wish.
    Ignored,
    /// There is no test of that name.
    Absent,
}

impl TestOutcome {
    /// Whether nothing failed and the command finished in time. A run without any test passes too: look at
    /// [`TestOutcome::passed`] for the ones that matter.
    pub fn all_passed(&self) -> bool {
        self.failed.is_empty() && !self.timed_out
    }

    /// What became of a test, named with or without its modules (`prop_x` is also found as `suite::prop_x`).
    /// Where several bear the name, a failure counts before a pass.
    pub fn verdict_of(&self, name: &str) -> TestVerdict<'_> {
        if let Some(failure) = self.failed.iter().find(|failure| names(&failure.property_name, name)) {
            TestVerdict::Failed(failure)
        } else if self.passed.iter().any(|passed| names(passed, name)) {
            TestVerdict::Passed
        } else if self.ignored.iter().any(|ignored| names(ignored, name)) {
            TestVerdict::Ignored
        } else {
            TestVerdict::Absent
        }
    }
}

/// Whether a harness's name for a test is the given one, perhaps inside modules.
fn names(reported: &str, name: &str) -> bool {
    reported == name || reported.strip_suffix(name).is_some_and(|modules| modules.ends_with("::"))
}
