//! Did the tests fail on the stubs, each of them, and for the right reason?

use crate::types::{FailureType, StructuredFailure, TrivialTestsFeedback};
use interlocking::toolchain::{TestOutcome, TestVerdict};

/// What a run of the tests on the skeleton shows (HY-173).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedCheck {
    /// How the properties failed that failed as they should: by an assertion or at a stub.
    pub proof: Vec<StructuredFailure>,
    /// Properties that pass on stubs, and so check nothing (CON-54).
    pub passed: Vec<String>,
    /// Properties that failed otherwise: a panic of their own, no verdict, out of time (CON-53).
    pub failed_otherwise: Vec<StructuredFailure>,
    /// Claimed properties that were not run at all: absent, or set to be ignored.
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

/// What the tests agent is told after its tests were not red (HY-174). `None` if they were.
pub fn rejection_feedback(check: &RedCheck, written: &[String]) -> Option<TrivialTestsFeedback> {
    if check.is_red() {
        return None;
    }
    let mut reasons = Vec::new();
    if !check.passed.is_empty() {
        reasons.push(format!(
            "these properties pass although every function is still a stub, so they check nothing: {}",
            check.passed.join(", ")
        ));
    }
    if !check.failed_otherwise.is_empty() {
        let failure = |failure: &StructuredFailure| format!("{} ({})", failure.property_name, failure.message);
        reasons.push(format!(
            "these fail, but not by an assertion and not at a stub: {}",
            check.failed_otherwise.iter().map(failure).collect::<Vec<_>>().join(", ")
        ));
    }
    if !check.absent.is_empty() {
        reasons.push(format!("these are claimed, but were not run: {}", check.absent.join(", ")));
    }
    if reasons.is_empty() {
        reasons.push("there is no property at all".to_owned());
    }
    Some(TrivialTestsFeedback {
        why_rejected: reasons.join("; "),
        properties_wrote: written.to_vec(),
        suggestion: "Call the functions of the contract in every property and compare what they return with what \
                     the contract says; then run the tests on the stubs and see each of them fail."
            .to_owned(),
    })
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

    /// HY-173, CON-53, CON-54: property by property, and only failures by assertion or stub count.
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

    /// HY-174, HY-114: why, which names, and what to do instead.
    #[test]
    fn a_refusal_says_why_and_what_to_do() {
        let names = ["prop_stub", "prop_trivial", "prop_panic", "prop_none"];
        let written = names.map(str::to_owned);
        let feedback = rejection_feedback(&red_check(&outcome(), names), &written).unwrap();
        assert_eq!(feedback.properties_wrote, written);
        assert_eq!(
            feedback.why_rejected,
            "these properties pass although every function is still a stub, so they check nothing: prop_trivial; \
             these fail, but not by an assertion and not at a stub: prop_panic (ExceptionThrown); \
             these are claimed, but were not run: prop_none"
        );
        assert!(feedback.suggestion.contains("Call the functions") && feedback.suggestion.contains("compare"));
        assert_eq!(rejection_feedback(&red_check(&outcome(), ["prop_stub"]), &[]), None);
        assert!(rejection_feedback(&red_check(&outcome(), []), &[]).is_some());
    }
}
