//! The feedback on tests that did not fail on the stubs as they should.

use crate::types::{StructuredFailure, TrivialTestsFeedback};
use interlocking::toolchain::RedCheck;

/// The feedback for the tests agent after its tests were not red (HY-174). `None` if they were.
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
    use crate::types::FailureType;
    use interlocking::toolchain::{TestOutcome, red_check};

    fn outcome() -> TestOutcome {
        let failure = |name: &str, failure_type| StructuredFailure {
            property_name: name.to_owned(),
            failure_type,
            counterexample: None,
            expected: None,
            actual: None,
            message: format!("{failure_type:?}"),
        };
        let failed =
            vec![failure("prop_stub", FailureType::UndefinedHit), failure("prop_panic", FailureType::ExceptionThrown)];
        TestOutcome { passed: vec!["prop_trivial".to_owned()], failed, ..TestOutcome::default() }
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
