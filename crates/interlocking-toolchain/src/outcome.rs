//! The results of builds and of runs of the tests.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failure::StructuredFailure;

/// The result of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildOutcome {
    /// The build succeeded.
    Passed,
    /// The build failed.
    Failed {
        /// What the build printed, or the end of it.
        diagnostics: String,
    },
    /// The build ran out of time and was stopped.
    TimedOut {
        /// The time limit.
        after: Duration,
        /// What the build had printed, or the end of it.
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

/// The result of the test command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestRun {
    /// No test ran, because the tests could not be built. Not the same as failing tests (CON-53).
    DidNotBuild {
        /// What the command printed, or the end of it.
        diagnostics: String,
    },
    /// The tests ran.
    Ran(TestOutcome),
    /// Test results are forged: the code under test makes tests pass before they have ended.
    Forged {
        /// The tests whose results are forged.
        tests: Vec<Forgery>,
    },
}

/// A test whose result is forged: its canary passes too, although the canary calls the test and then fails.
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
    /// Names of the tests that are marked to be skipped, or skip themselves.
    pub ignored: Vec<String>,
    /// Whether the command had to be stopped.
    pub timed_out: bool,
}

/// One test's verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestVerdict<'a> {
    /// The test passed.
    Passed,
    /// The test failed.
    Failed(&'a StructuredFailure),
    /// The test is marked to be skipped, or skips itself.
    Ignored,
    /// There is no test of that name.
    Absent,
}

impl TestOutcome {
    /// Whether no test failed and the command finished in time. A run without any test passes too: check
    /// [`TestOutcome::passed`] for the tests that matter.
    pub fn all_passed(&self) -> bool {
        self.failed.is_empty() && !self.timed_out
    }

    /// The verdict on a test, named with or without its modules (`prop_x` is also found as `suite::prop_x`). If several tests
    /// have the name, a failure takes precedence over a pass.
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

/// Whether the reported name is the given name, with or without modules before it.
pub(super) fn names(reported: &str, name: &str) -> bool {
    reported == name || reported.strip_suffix(name).is_some_and(|modules| modules.ends_with("::"))
}
