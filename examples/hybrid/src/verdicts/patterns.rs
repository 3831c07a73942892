//! Recognising failures again.

use std::collections::BTreeSet;

use crate::source::{Exercise, TestFile};
use crate::types::{FailurePattern, FailureType, FunctionSpec, StructuredFailure};

/// What makes two failures the same (HY-181): the property, the kind of failure, and the message without what
/// changes from run to run: numbers, addresses, quoted values, places in files. The counterexample is no part of it.
pub fn signature(failure: &StructuredFailure) -> String {
    format!("{}/{:?}/{}", failure.property_name, failure.failure_type, normalised(&failure.message))
}

/// The first line of a message with every value replaced: what is quoted, bracketed or numeric becomes `#`.
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
            // Up to the outermost end, or to the end of the line if it is never closed.
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
            // Hexadecimal addresses and fractions are one number.
            while rest.next_if(|next| next.is_ascii_alphanumeric() || *next == '.' || *next == '_').is_some() {}
            push_value(&mut text);
        } else if character == '-' && rest.peek().is_some_and(char::is_ascii_digit) {
            // A sign belongs to its number.
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

/// The functions of the contract a failing property calls; what the fix agent has to look at.
pub fn affected_functions(failure: &StructuredFailure, on_disk: &TestFile, functions: &[FunctionSpec]) -> Vec<String> {
    let bare = failure.property_name.rsplit("::").next().unwrap_or_default();
    let Some(test) = on_disk.named(bare) else { return Vec::new() };
    let called = |function: &&FunctionSpec| on_disk.calls(test, &function.name) == Exercise::Seen;
    functions.iter().filter(called).map(|function| function.name.clone()).collect()
}

/// The patterns of one validation run (HY-180): each signature once, however many tests show it.
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

/// The pattern of a build that failed (CON-61): it has no property, and its diagnostics differ every time.
pub(super) fn build_pattern() -> FailurePattern {
    FailurePattern {
        signature: "(build)".to_owned(),
        affected_fns: Vec::new(),
        category: FailureType::ParseError,
        occurrences: 1,
    }
}

/// Adds the patterns of one run to the known ones (HY-179): occurrences add up by signature, new ones go to the
/// end. Call it exactly once per validation run, since the count decides when the loop is stuck (CON-60).
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

fn add_functions(pattern: &mut FailurePattern, functions: Vec<String>) {
    let all: BTreeSet<String> = pattern.affected_fns.drain(..).chain(functions).collect();
    pattern.affected_fns = all.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;
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

    /// HY-127, HY-180: the functions concerned are those of the contract that the failing property calls.
    #[test]
    fn a_failure_concerns_the_functions_its_property_calls() {
        let function = |name: &str| -> FunctionSpec {
            serde_json::from_value(serde_json::json!({"name": name, "signature": "s", "brief": "b", "behavior": "b",
                "examples": [{"description": "d", "input": "i", "expected": "e", "edgeCase": false}],
                "properties": [{"name": "p", "description": "d", "invariant": "i", "type": "Inverse"}],
                "priority": 0}))
            .unwrap()
        };
        let contract = [function("Stack::push"), function("Stack::pop"), function("Stack::peek")];
        let methods = ["push", "pop", "peek"].map(|name| format!("pub fn {name}(&mut self) {{ todo!() }}")).concat();
        let on_disk = TestFile::read(Sources {
            library: "stack",
            implementation: ("src/lib.rs", &format!("pub struct Stack; impl Stack {{ {methods} }}")),
            tests: ("tests/p.rs", "#[test] fn prop_undo(s: stack::Stack) { s.push(); s.pop(); vec![1].peek(); }"),
            prefix: "prop_",
        })
        .unwrap();
        let affected = |name: &str| affected_functions(&failure(name, "m", "c"), &on_disk, &contract);
        assert_eq!(affected("suite::prop_undo"), ["Stack::push", "Stack::pop"]);
        assert_eq!(affected("prop_other"), [""; 0]);
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
