//! What the tests really cover: the agent's claims, held against the file.

use std::collections::BTreeSet;

use crate::source::{PropertyTest, named_by};
use crate::types::{CoverageReport, FunctionSpec, PropertyWritten};

/// A claim of the tests agent that the file or the contract does not bear out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimMismatch {
    /// A property is not in the file (HY-163).
    #[error("`{property}` is claimed, but the test file has no such property")]
    PropertyNotOnDisk {
        /// The property.
        property: String,
    },
    /// A property does not call what it is said to test (HY-141, HY-157).
    #[error("`{property}` is said to exercise {}, but it does not; it calls {}", absent_targets.join(", "), actual_targets.join(", "))]
    TargetsNotCalled {
        /// The property.
        property: String,
        /// The claimed functions that it does not call.
        absent_targets: Vec<String>,
        /// The functions of the contract that it does call.
        actual_targets: Vec<String>,
    },
    /// A property names an example that the contract does not have (CON-90).
    #[error("`{property}` names example {index} of `{function}`, which the contract does not have")]
    NoSuchExample {
        /// The property.
        property: String,
        /// The function as named.
        function: String,
        /// The index as given, counted from 0.
        index: u32,
    },
    /// A property names a sketch that the contract does not have.
    #[error("`{property}` names the sketched property `{sketch}`, which the contract does not have")]
    NoSuchSketch {
        /// The property.
        property: String,
        /// The sketch as named.
        sketch: String,
    },
}

/// The claims after they were held against the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedClaims {
    /// What is covered, going only by claims that were borne out (HY-88, CON-55).
    pub coverage: CoverageReport,
    /// The claims that were not, in the agent's order.
    pub mismatches: Vec<ClaimMismatch>,
}

/// Holds the claims against the contract and the properties on disk, and recomputes the coverage from those that
/// hold. A function counts as covered if a claimed property on disk calls it, whether that was claimed or not; an
/// example or a sketch, if a property whose every claim holds includes it.
pub fn verify_claims(
    functions: &[FunctionSpec],
    claimed: &[PropertyWritten],
    on_disk: &[PropertyTest],
) -> VerifiedClaims {
    let mut mismatches = Vec::new();
    let mut called = BTreeSet::new();
    let mut examples = BTreeSet::new();
    let mut sketches = BTreeSet::new();
    for property in claimed {
        let Some(test) = on_disk.iter().find(|test| test.name == property.name) else {
            mismatches.push(ClaimMismatch::PropertyNotOnDisk { property: property.name.clone() });
            continue;
        };
        let actual: Vec<&FunctionSpec> = functions.iter().filter(|function| test.exercises(&function.name)).collect();
        called.extend(actual.iter().map(|function| function.name.as_str()));
        let before = mismatches.len();
        let absent: Vec<String> = property
            .target_functions
            .iter()
            .filter(|target| !actual.iter().any(|function| named_by(&function.name, target)))
            .cloned()
            .collect();
        if !absent.is_empty() {
            mismatches.push(ClaimMismatch::TargetsNotCalled {
                property: property.name.clone(),
                absent_targets: absent,
                actual_targets: actual.iter().map(|function| function.name.clone()).collect(),
            });
        }
        let mut included = Vec::new();
        for example in &property.covers_examples {
            let position = functions.iter().position(|function| named_by(&function.name, &example.function));
            let index = usize::try_from(example.index).unwrap_or(usize::MAX);
            match position.filter(|position| index < functions[*position].examples.len()) {
                Some(position) => included.push((position, index)),
                None => mismatches.push(ClaimMismatch::NoSuchExample {
                    property: property.name.clone(),
                    function: example.function.clone(),
                    index: example.index,
                }),
            }
        }
        if let Some(sketch) = &property.covers_sketch
            && !sketched(functions).any(|name| name == sketch)
        {
            mismatches.push(ClaimMismatch::NoSuchSketch { property: property.name.clone(), sketch: sketch.clone() });
        }
        if mismatches.len() == before {
            examples.extend(included);
            sketches.extend(property.covers_sketch.as_deref());
        }
    }
    let names = || functions.iter().map(|function| function.name.as_str());
    let coverage = CoverageReport {
        functions_covered: kept(names(), |name| called.contains(name)),
        functions_uncovered: kept(names(), |name| !called.contains(name)),
        examples_covered: count(examples.len()),
        examples_total: count(functions.iter().map(|function| function.examples.len()).sum()),
        sketches_covered: kept(sketched(functions), |name| sketches.contains(name)),
        sketches_uncovered: kept(sketched(functions), |name| !sketches.contains(name)),
    };
    VerifiedClaims { coverage, mismatches }
}

/// The sketches whose absence keeps the run from going on (HY-175): none if the task does not require coverage.
pub fn missing_sketches(coverage: &CoverageReport, required: bool) -> &[String] {
    if required { &coverage.sketches_uncovered } else { &[] }
}

fn sketched(functions: &[FunctionSpec]) -> impl Iterator<Item = &str> {
    functions.iter().flat_map(|function| &function.properties).map(|sketch| sketch.name.as_str())
}

fn kept<'n>(names: impl Iterator<Item = &'n str>, keep: impl Fn(&str) -> bool) -> Vec<String> {
    names.filter(|name| keep(name)).map(str::to_owned).collect()
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ConcreteExample, ExampleRef, NonEmpty, PropertySketch, PropertyType};

    fn function(name: &str, examples: usize, sketches: &[&str]) -> FunctionSpec {
        let example = || ConcreteExample {
            description: "d".to_owned(),
            input: "i".to_owned(),
            expected: "e".to_owned(),
            edge_case: false,
        };
        let sketch = |name: &&str| PropertySketch {
            name: (*name).to_owned(),
            description: "d".to_owned(),
            invariant: "i".to_owned(),
            property_type: PropertyType::Inverse,
        };
        FunctionSpec {
            name: name.to_owned(),
            signature: "s".to_owned(),
            brief: "b".to_owned(),
            behavior: "b".to_owned(),
            examples: (0..examples).map(|_| example()).collect::<Vec<_>>().try_into().unwrap(),
            properties: NonEmpty::try_from(sketches.iter().map(sketch).collect::<Vec<_>>()).unwrap(),
            priority: 0,
        }
    }

    fn contract() -> [FunctionSpec; 2] {
        [function("Stack::push", 2, &["prop_full"]), function("Stack::pop", 1, &["prop_lifo", "prop_empty"])]
    }

    fn claim(name: &str, targets: &[&str], examples: &[(&str, u32)], sketch: Option<&str>) -> PropertyWritten {
        let example = |(function, index): &(&str, u32)| ExampleRef { function: (*function).to_owned(), index: *index };
        PropertyWritten {
            name: name.to_owned(),
            target_functions: targets.iter().map(|target| (*target).to_owned()).collect(),
            property_type: PropertyType::Inverse,
            description: "d".to_owned(),
            covers_examples: examples.iter().map(example).collect(),
            covers_sketch: sketch.map(str::to_owned),
        }
    }

    fn test(name: &str, calls: &[&str]) -> PropertyTest {
        let calls = calls.iter().map(|call| (*call).to_owned()).collect();
        PropertyTest { name: name.to_owned(), line: 1, calls }
    }

    /// HY-88, CON-55: coverage is computed from what the file bears out.
    #[test]
    fn coverage_is_computed_from_claims_that_hold() {
        let claimed = [
            claim("prop_full", &["Stack::push"], &[("push", 1), ("Stack::push", 0)], Some("prop_full")),
            claim("prop_lifo", &["pop"], &[("Stack::pop", 0)], Some("prop_lifo")),
        ];
        let on_disk = [test("prop_full", &["push", "vec"]), test("prop_lifo", &["Stack::pop", "push"])];
        let verified = verify_claims(&contract(), &claimed, &on_disk);
        assert_eq!(verified.mismatches, []);
        assert_eq!(
            verified.coverage,
            CoverageReport {
                functions_covered: vec!["Stack::push".to_owned(), "Stack::pop".to_owned()],
                functions_uncovered: vec![],
                examples_covered: 3,
                examples_total: 3,
                sketches_covered: vec!["prop_full".to_owned(), "prop_lifo".to_owned()],
                sketches_uncovered: vec!["prop_empty".to_owned()],
            }
        );
    }

    /// HY-87, HY-141, HY-157, HY-163, CON-90: every kind of false claim is named, and none of them counts.
    #[test]
    fn false_claims_are_named_and_do_not_count() {
        let claimed = [
            claim("prop_absent", &["push"], &[], None),
            claim("prop_full", &["push", "pop"], &[("push", 0)], Some("prop_full")),
            claim("prop_lifo", &["pop"], &[("pop", 1), ("peek", 0)], Some("prop_other")),
        ];
        let on_disk = [test("prop_full", &["push"]), test("prop_lifo", &["pop"])];
        let verified = verify_claims(&contract(), &claimed, &on_disk);
        let no_example = |function: &str, index| ClaimMismatch::NoSuchExample {
            property: "prop_lifo".to_owned(),
            function: function.to_owned(),
            index,
        };
        assert_eq!(
            verified.mismatches,
            [
                ClaimMismatch::PropertyNotOnDisk { property: "prop_absent".to_owned() },
                ClaimMismatch::TargetsNotCalled {
                    property: "prop_full".to_owned(),
                    absent_targets: vec!["pop".to_owned()],
                    actual_targets: vec!["Stack::push".to_owned()],
                },
                no_example("pop", 1),
                no_example("peek", 0),
                ClaimMismatch::NoSuchSketch { property: "prop_lifo".to_owned(), sketch: "prop_other".to_owned() },
            ]
        );
        assert_eq!(verified.coverage.examples_covered, 0);
        assert_eq!(verified.coverage.sketches_covered, [""; 0]);
        assert_eq!(verified.coverage.functions_covered.len(), 2, "they are called all the same");
    }

    /// HY-175, CON-55: the flag decides.
    #[test]
    fn coverage_is_enforced_only_if_required() {
        let coverage = verify_claims(&contract(), &[], &[]).coverage;
        assert_eq!(missing_sketches(&coverage, true), ["prop_full", "prop_lifo", "prop_empty"]);
        assert_eq!(missing_sketches(&coverage, false), [""; 0]);
    }
}
