//! Judges test by test whether all tests fail on stubs for the right reason (red), and whether they pass on finished code
//! (green).

use super::failure::{FailureType, StructuredFailure};
use super::outcome::{TestOutcome, TestVerdict};

/// The result of a run of the tests on stubs (HY-173).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedCheck {
    /// The failures of properties that failed as they should: by an assertion or at a stub.
    pub proof: Vec<StructuredFailure>,
    /// Properties that pass on stubs, and so check nothing (CON-54).
    pub passed: Vec<String>,
    /// The failures of properties that failed in another way: by another panic, without a verdict, or out of time (CON-53).
    pub failed_otherwise: Vec<StructuredFailure>,
    /// Claimed properties that were not run: absent or ignored.
    pub absent: Vec<String>,
}

impl RedCheck {
    /// Whether every property failed as it should, and there is at least one.
    pub fn is_red(&self) -> bool {
        !self.proof.is_empty() && self.passed.is_empty() && self.failed_otherwise.is_empty() && self.absent.is_empty()
    }
}

/// Judges property by property (CON-54) whether the tests failed on the stubs.
pub fn red_check<'n>(outcome: &TestOutcome, properties: impl IntoIterator<Item = &'n str>) -> RedCheck {
    let mut check = RedCheck::default();
    for property in properties {
        match outcome.verdict_of(property) {
            TestVerdict::Passed => check.passed.push(property.to_owned()),
            TestVerdict::Failed(failure) => match failure.failure_type {
                FailureType::PropertyFailed | FailureType::UndefinedHit => check.proof.push(failure.clone()),
                FailureType::ExceptionThrown | FailureType::Timeout | FailureType::ParseError => {
                    check.failed_otherwise.push(failure.clone());
                }
            },
            TestVerdict::Ignored | TestVerdict::Absent => check.absent.push(property.to_owned()),
        }
    }
    check
}

/// The result of a run of the tests on finished code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GreenCheck {
    /// Tests that passed.
    pub passed: Vec<String>,
    /// The failures of the tests that failed.
    pub failed: Vec<StructuredFailure>,
    /// Tests that should pass and were not run: absent or ignored.
    pub absent: Vec<String>,
}

impl GreenCheck {
    /// Whether every test passed, and there is at least one.
    pub fn is_green(&self) -> bool {
        !self.passed.is_empty() && self.failed.is_empty() && self.absent.is_empty()
    }
}

/// Judges test by test whether these tests pass.
pub fn green_check<'n>(outcome: &TestOutcome, tests: impl IntoIterator<Item = &'n str>) -> GreenCheck {
    let mut check = GreenCheck::default();
    for test in tests {
        match outcome.verdict_of(test) {
            TestVerdict::Passed => check.passed.push(test.to_owned()),
            TestVerdict::Failed(failure) => check.failed.push(failure.clone()),
            TestVerdict::Ignored | TestVerdict::Absent => check.absent.push(test.to_owned()),
        }
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(name: &str, failure_type: FailureType) -> StructuredFailure {
        StructuredFailure {
            property_name: name.to_owned(),
            failure_type,
            counterexample: None,
            expected: None,
            actual: None,
            message: format!("{failure_type:?}"),
        }
    }

    fn outcome() -> TestOutcome {
        use FailureType::*;
        TestOutcome {
            passed: vec!["prop_trivial".to_owned()],
            failed: vec![
                failure("prop_stub", UndefinedHit),
                failure("suite::prop_assert", PropertyFailed),
                failure("prop_panic", ExceptionThrown),
                failure("prop_slow", Timeout),
                failure("prop_lost", ParseError),
            ],
            ignored: vec!["prop_skipped".to_owned()],
            timed_out: false,
        }
    }

    /// HY-173, CON-53, CON-54: each property is judged, and only failures by an assertion or a stub count.
    #[test]
    fn red_means_failed_by_assertion_or_stub() {
        let red = red_check(&outcome(), ["prop_stub", "prop_assert"]);
        assert!(red.is_red());
        assert_eq!(red.proof.len(), 2);
        for other in ["prop_trivial", "prop_panic", "prop_slow", "prop_lost", "prop_skipped", "prop_none"] {
            let check = red_check(&outcome(), ["prop_stub", other]);
            assert!(!check.is_red(), "{other}");
            assert_eq!(check.proof.len(), 1, "{other}");
        }
        assert!(!red_check(&outcome(), []).is_red(), "no property is no proof");
    }

    /// Green is more than the absence of failures: a test that was not run has not passed.
    #[test]
    fn green_means_that_each_test_passed() {
        assert!(green_check(&outcome(), ["prop_trivial"]).is_green());
        for other in ["prop_stub", "prop_assert", "prop_slow", "prop_lost", "prop_skipped", "prop_none"] {
            let check = green_check(&outcome(), ["prop_trivial", other]);
            assert!(!check.is_green(), "{other}");
            assert_eq!(check.failed.len() + check.absent.len(), 1, "{other}");
        }
        assert!(!green_check(&outcome(), []).is_green(), "no test is no proof");
    }
}
