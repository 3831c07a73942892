//! What the tests cover, in a language in which only a language server finds the calls.

use super::coverage::{ClaimMismatch, VerifiedClaims};
use crate::types::{CoverageReport, FunctionSpec, PropertyWritten};
use interlocking::rust_source::resolve_name;
use std::collections::{BTreeMap, BTreeSet};

/// A language server's answers about the properties of a test file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerAnswers {
    /// The source of the answers.
    pub by: String,
    /// For each property that the file has exactly once: the functions of the implementation that it calls.
    pub calls: BTreeMap<String, BTreeSet<String>>,
}

/// Compares the claims with the server's answers. Calls are known. What a property compares is not: an example never counts as
/// covered, and a sketched property counts if a function that it is about is called; both are reported as unverified.
pub fn verify_claims_by_server(
    functions: &[FunctionSpec],
    claimed: &[PropertyWritten],
    answers: &ServerAnswers,
) -> VerifiedClaims {
    let names = || functions.iter().map(|function| function.name.as_str());
    let (mut called, mut sketches) = (BTreeSet::new(), BTreeSet::new());
    let (mut mismatches, mut not_verified) = (Vec::new(), Vec::new());
    for property in claimed {
        let name = || property.name.clone();
        let Some(calls) = answers.calls.get(&property.name) else {
            mismatches.push(ClaimMismatch::PropertyNotOnDisk { property: name() });
            continue;
        };
        let is_called = |function: &str| calls.iter().any(|call| resolve_name([function].into_iter(), call).is_some());
        let actual: Vec<String> = names().filter(|function| is_called(function)).map(str::to_owned).collect();
        called.extend(actual.iter().cloned());
        let meant = |target: &str| resolve_name(names(), target);
        let mut absent: Vec<String> = property.target_functions.clone();
        absent.retain(|target| !meant(target).is_some_and(is_called));
        for example in &property.covers_examples {
            let function = functions.iter().find(|function| meant(&example.function) == Some(&function.name));
            let index = usize::try_from(example.index).unwrap_or(usize::MAX);
            if function.is_none_or(|function| index >= function.examples.len()) {
                let (function, index) = (example.function.clone(), example.index);
                mismatches.push(ClaimMismatch::NoSuchExample { property: name(), function, index });
            } else {
                not_verified.push(format!("`{}`: example {} of `{}`", property.name, example.index, example.function));
            }
        }
        if let Some(sketch) = &property.covers_sketch {
            let has_it = |function: &&FunctionSpec| function.properties.iter().any(|one| one.name == *sketch);
            let about: Vec<&FunctionSpec> = functions.iter().filter(has_it).collect();
            if about.is_empty() {
                mismatches.push(ClaimMismatch::NoSuchSketch { property: name(), sketch: sketch.clone() });
            } else if about.iter().any(|function| is_called(&function.name)) {
                not_verified.push(format!("`{}`: what it compares for `{sketch}`", property.name));
                sketches.insert(sketch.clone());
            } else {
                absent.extend(about.iter().map(|function| function.name.clone()));
            }
        }
        if !absent.is_empty() {
            absent.dedup();
            let (absent_targets, actual_targets) = (absent, actual);
            mismatches.push(ClaimMismatch::TargetsNotCalled { property: name(), absent_targets, actual_targets });
        }
    }
    let all_sketches: Vec<String> =
        functions.iter().flat_map(|function| &function.properties).map(|sketch| sketch.name.clone()).collect();
    let split = |all: Vec<String>, kept: &BTreeSet<String>| all.into_iter().partition(|name| kept.contains(name));
    let (functions_covered, functions_uncovered) = split(names().map(str::to_owned).collect(), &called);
    let (sketches_covered, sketches_uncovered) = split(all_sketches, &sketches);
    let examples = functions.iter().map(|function| function.examples.len()).sum::<usize>();
    let coverage = CoverageReport {
        functions_covered,
        functions_uncovered,
        examples_covered: 0,
        examples_total: u32::try_from(examples).unwrap_or(u32::MAX),
        sketches_covered,
        sketches_uncovered,
        not_verified,
        told_by: Some(answers.by.clone()),
    };
    VerifiedClaims { coverage, mismatches }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ConcreteExample, ExampleRef, NonEmpty, PropertySketch, PropertyType};

    fn function(name: &str) -> FunctionSpec {
        let example = ConcreteExample {
            description: "One.".to_owned(),
            input: "1".to_owned(),
            expected: "1".to_owned(),
            edge_case: false,
        };
        let sketch = PropertySketch {
            name: format!("prop_{name}"),
            description: "It holds.".to_owned(),
            invariant: "true".to_owned(),
            property_type: PropertyType::Identity,
        };
        FunctionSpec {
            name: format!("Stack.{name}"),
            signature: String::new(),
            brief: String::new(),
            behavior: String::new(),
            examples: NonEmpty::try_from(vec![example]).unwrap(),
            properties: NonEmpty::try_from(vec![sketch]).unwrap(),
            priority: 1,
        }
    }

    fn property(name: &str, targets: &[&str], example: Option<u32>, sketch: Option<&str>) -> PropertyWritten {
        let covers = |index| ExampleRef { function: "Stack.push".to_owned(), index };
        PropertyWritten {
            name: name.to_owned(),
            target_functions: targets.iter().map(|target| (*target).to_owned()).collect(),
            property_type: PropertyType::Identity,
            description: String::new(),
            covers_examples: example.map(covers).into_iter().collect(),
            covers_sketch: sketch.map(str::to_owned),
        }
    }

    /// TC-25, HY-141, HY-157, HY-163: calls are compared with the server's answers; what a property compares never counts.
    #[test]
    fn claims_are_held_against_what_the_server_tells() {
        let functions = [function("push"), function("pop")];
        let calls = [("a", vec!["Stack.push"]), ("b", vec!["Stack.push", "Stack.pop"]), ("c", vec![])];
        let calls = calls.map(|(name, called)| (name.to_owned(), called.into_iter().map(str::to_owned).collect()));
        let answers = ServerAnswers { by: "Pyright".to_owned(), calls: calls.into() };
        let claimed = [
            property("a", &["Stack.push"], Some(0), Some("prop_push")),
            property("b", &["Stack.push", "Stack.pop"], None, None),
            property("a", &["Stack.pop"], Some(1), Some("prop_pop")),
            property("c", &["Stack.push", "Stack.peek"], None, Some("prop_none")),
            property("d", &[], None, None),
        ];
        let VerifiedClaims { coverage, mismatches } = verify_claims_by_server(&functions, &claimed, &answers);
        let said: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "`a` names example 1 of `Stack.push`, which the contract does not have",
                "`a` is said to exercise Stack.pop, but it does not; it calls Stack.push",
                "`c` names the sketched property `prop_none`, which the contract does not have",
                "`c` is said to exercise Stack.push, Stack.peek, but it does not; it calls none of the contract's functions",
                "`d` is claimed, but the test file has no one property of that name",
            ]
        );
        assert_eq!(coverage.functions_covered, ["Stack.push", "Stack.pop"]);
        assert_eq!((coverage.examples_covered, coverage.examples_total), (0, 2));
        assert_eq!(
            (&coverage.sketches_covered[..], &coverage.sketches_uncovered[..]),
            (&["prop_push".to_owned()][..], &["prop_pop".to_owned()][..])
        );
        assert_eq!(coverage.not_verified, ["`a`: example 0 of `Stack.push`", "`a`: what it compares for `prop_push`"]);
        assert_eq!(coverage.told_by.as_deref(), Some("Pyright"));
    }
}
