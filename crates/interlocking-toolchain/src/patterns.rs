//! Recognises recurring failures, and whether repairs make progress.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::failure::{FailurePattern, FailureType, StructuredFailure};

/// Two failures are the same if their signatures are equal (HY-181). A signature consists of the property, the kind of failure,
/// and the message without what changes from run to run: numbers, addresses, quoted values, places in files. The counterexample
/// is not part of it.
pub fn signature(failure: &StructuredFailure) -> String {
    format!("{}/{:?}/{}", failure.property_name, failure.failure_type, normalised(&failure.message))
}

/// The first line of a message, in which every quoted, bracketed or numeric value is replaced by `#`.
fn normalised(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message.lines().next().unwrap_or_default().chars().peekable();
    while let Some(character) = rest.next() {
        let closing = match character {
            '"' => Some('"'),
            '`' => Some('`'),
            '[' => Some(']'),
            '{' => Some('}'),
            _ => None,
        };
        if let Some(closing) = closing {
            // Skips to the matching closing character, or to the end of the line if there is none.
            let mut depth = 1;
            while depth > 0 {
                match rest.next() {
                    Some(next) if next == closing => depth -= 1,
                    Some(next) if next == character => depth += 1,
                    Some('\\') => {
                        rest.next();
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            push_value(&mut text);
        } else if character.is_ascii_digit() {
            // A hexadecimal address or a fraction is one number.
            while rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '.' || *next == '_').is_some() {}
            push_value(&mut text);
        } else if character == '-' && rest.peek().is_some_and(char::is_ascii_digit) {
            // The sign is part of the number.
        } else {
            text.push(character);
        }
    }
    text.trim_end_matches(['.', ' ']).to_owned()
}

fn push_value(text: &mut String) {
    if !text.ends_with('#') {
        text.push('#');
    }
}

/// The patterns of one run of the tests (HY-180): each signature once, even if several tests have it. `affected` returns the
/// functions that a failure concerns.
pub fn patterns_of(
    failures: &[StructuredFailure],
    affected: impl Fn(&StructuredFailure) -> Vec<String>,
) -> Vec<FailurePattern> {
    let seen = failures.iter().map(|failure| FailurePattern {
        signature: signature(failure),
        affected_fns: affected(failure),
        category: failure.failure_type,
        occurrences: 1,
    });
    let mut patterns: Vec<FailurePattern> = Vec::new();
    for pattern in seen {
        match patterns.iter_mut().find(|known| known.signature == pattern.signature) {
            Some(known) => add_functions(known, pattern.affected_fns),
            None => patterns.push(pattern),
        }
    }
    patterns
}

/// A failed build as the failure and the pattern of a failed run (CON-61, HY-178). Failed builds belong to no test and have
/// different diagnostics each time, so all of them are one pattern.
pub fn build_failure(diagnostics: &str) -> (StructuredFailure, FailurePattern) {
    let signature = "(build)".to_owned();
    let failure = StructuredFailure {
        property_name: signature.clone(),
        failure_type: FailureType::ParseError,
        counterexample: None,
        expected: None,
        actual: None,
        message: format!("the code does not build:\n{diagnostics}"),
    };
    let category = failure.failure_type;
    (failure, FailurePattern { signature, affected_fns: Vec::new(), category, occurrences: 1 })
}

/// Adds the patterns of one run to the known ones (HY-179): occurrences add up by signature, new patterns are appended.
/// Call it exactly once per run of the tests, since the count decides when repairs are stuck (CON-60).
pub fn merge_patterns(known: &[FailurePattern], new: &[FailurePattern]) -> Vec<FailurePattern> {
    let mut merged = known.to_vec();
    for pattern in new {
        match merged.iter_mut().find(|known| known.signature == pattern.signature) {
            Some(known) => {
                known.occurrences = known.occurrences.saturating_add(pattern.occurrences);
                add_functions(known, pattern.affected_fns.clone());
            }
            None => merged.push(pattern.clone()),
        }
    }
    merged
}

/// The patterns that were seen in at least `after` runs: repairs are stuck on them.
pub fn stuck_patterns(patterns: &[FailurePattern], after: u32) -> Vec<FailurePattern> {
    patterns.iter().filter(|pattern| pattern.occurrences >= after).cloned().collect()
}

/// What is kept of a failed run of the tests to compare the next run with it (CON-59).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailedRound {
    /// The signatures of the run's failures.
    pub signatures: BTreeSet<String>,
    /// The number of tests that failed.
    pub failures: u32,
}

impl FailedRound {
    /// The round that consists of these failures.
    pub fn of(failures: &[StructuredFailure]) -> Self {
        Self {
            signatures: failures.iter().map(signature).collect(),
            failures: u32::try_from(failures.len()).unwrap_or(u32::MAX),
        }
    }
}

/// Whether repairs seem to make progress (HY-183, CON-59): something was changed, and this run has other signatures or fewer
/// failures than the run before it.
pub fn is_converging(previous: Option<&FailedRound>, current: &FailedRound, something_changed: bool) -> bool {
    let failed_alike = previous
        .is_some_and(|previous| previous.signatures == current.signatures && current.failures >= previous.failures);
    something_changed && !failed_alike
}

fn add_functions(pattern: &mut FailurePattern, functions: Vec<String>) {
    let all: BTreeSet<String> = pattern.affected_fns.drain(..).chain(functions).collect();
    pattern.affected_fns = all.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn failure(name: &str, message: &str, counterexample: &str) -> StructuredFailure {
        StructuredFailure {
            property_name: name.to_owned(),
            failure_type: FailureType::PropertyFailed,
            counterexample: Some(counterexample.to_owned()),
            expected: None,
            actual: None,
            message: message.to_owned(),
        }
    }

    /// HY-181: two runs with different seeds give one signature.
    #[test]
    fn a_signature_survives_another_seed() {
        let same = [
            ("4 is more than half of 7", "13 is more than half of -20"),
            (
                "index out of bounds: the len is 0 but the index is 0",
                "index out of bounds: the len is 3 but the index is 17",
            ),
            ("at 0x7ffe12ab", "at 0x10"),
            (
                "called `Result::unwrap()` on an `Err` value: Full(3)",
                "called `Result::unwrap()` on an `Err` value: Full(-9)",
            ),
            ("got [1, [2]], wanted \"a \\\" b\"", "got [], wanted \"\""),
            ("one line\nleft over", "one line"),
            ("state Stack { items: [1] }", "state Stack { items: [] }"),
            ("0.5 off", "1.25e9 off"),
        ];
        for (first, second) in same {
            assert_eq!(signature(&failure("p", first, "1")), signature(&failure("p", second, "2")));
        }
        let all = [
            failure("p", "too high", "1"),
            failure("q", "too high", "1"),
            failure("p", "too low", "1"),
            StructuredFailure { failure_type: FailureType::Timeout, ..failure("p", "too high", "1") },
        ];
        let signatures: BTreeSet<String> = all.iter().map(signature).collect();
        assert_eq!(signatures.len(), 4, "what differs in kind stays different");
    }

    /// HY-180, HY-127: each signature once per run, with the functions concerned.
    #[test]
    fn a_run_counts_each_pattern_once() {
        let failures = [failure("p", "1 is odd", "1"), failure("p", "3 is odd", "3"), failure("q", "gone", "1")];
        let patterns = patterns_of(&failures, |failure| vec![format!("f_{}", failure.property_name)]);
        let shown: Vec<_> = patterns.iter().map(|one| (one.signature.as_str(), one.occurrences)).collect();
        assert_eq!(shown, [("p/PropertyFailed/# is odd", 1), ("q/PropertyFailed/gone", 1)]);
        assert_eq!(patterns[0].affected_fns, ["f_p"]);
    }

    /// HY-183, CON-59.
    #[test]
    fn runs_that_fail_alike_do_not_converge() {
        let round = |signatures: &[&str], failures| FailedRound {
            signatures: signatures.iter().map(|one| (*one).to_owned()).collect(),
            failures,
        };
        let before = round(&["a", "b"], 4);
        for (what, previous, current, changed, expected) in [
            ("the first", None, round(&["a"], 1), true, true),
            ("nothing changed", None, round(&["a"], 1), false, false),
            ("fewer failures", Some(&before), round(&["a", "b"], 3), true, true),
            ("other patterns", Some(&before), round(&["a", "c"], 4), true, true),
            ("the same again", Some(&before), round(&["a", "b"], 4), true, false),
        ] {
            assert_eq!(is_converging(previous, &current, changed), expected, "{what}");
        }
        assert_eq!(FailedRound::of(&[failure("p", "1", ""), failure("p", "2", "")]), round(&["p/PropertyFailed/#"], 2));
    }

    /// CON-61: failed builds count as one pattern, whatever the compiler said.
    #[test]
    fn failed_builds_are_one_pattern() {
        let (failure, first) = build_failure("error[E0308]");
        let (_, second) = build_failure("error[E0599]");
        assert!(first == second && failure.message.contains("E0308"));
        let twice = merge_patterns(std::slice::from_ref(&first), &[second]);
        assert_eq!((stuck_patterns(&twice, 2).len(), stuck_patterns(&twice, 3).len()), (1, 0));
    }

    fn patterns() -> impl Strategy<Value = Vec<FailurePattern>> {
        let pattern = ("[a-e]", prop::collection::vec("[f-h]", 0..3), 1_u32..5);
        let pattern = pattern.prop_map(|(signature, affected_fns, occurrences)| FailurePattern {
            signature,
            affected_fns,
            category: FailureType::PropertyFailed,
            occurrences,
        });
        prop::collection::vec(pattern, 0..6)
    }

    fn count(patterns: &[FailurePattern], signature: &str) -> u32 {
        patterns.iter().filter(|one| one.signature == signature).map(|one| one.occurrences).sum()
    }

    proptest! {
        /// HY-179, CON-60: occurrences add up exactly, by signature, and nothing is lost or invented.
        #[test]
        fn merging_adds_occurrences(known in patterns(), new in patterns()) {
            let known = merge_patterns(&[], &known);
            let merged = merge_patterns(&known, &new);
            for signature in ["a", "b", "c", "d", "e"] {
                prop_assert_eq!(count(&merged, signature), count(&known, signature) + count(&new, signature));
                prop_assert!(merged.iter().filter(|one| one.signature == signature).count() <= 1);
            }
            prop_assert!(merged.iter().zip(&known).all(|(one, other)| one.signature == other.signature));
        }
    }
}
