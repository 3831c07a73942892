//! What the tests really cover: the agent's claims, held against the file.

use std::collections::BTreeSet;

use crate::types::{CoverageReport, FunctionSpec, PropertyWritten};
use interlocking::rust_source::{Exercise, PropertyTest, TestFile, meant_among};

/// A claim of the tests agent that the file or the contract does not bear out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimMismatch {
    /// A property is not in the file (HY-163).
    #[error("`{property}` is claimed, but the test file has no one property of that name")]
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
    /// The test file does not show whether a claim holds.
    #[error("whether `{property}` does what is said of it cannot be seen: {}", claims.join("; "))]
    NotVerified {
        /// The property.
        property: String,
        /// Each of those claims, with the reason.
        claims: Vec<String>,
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
/// hold. A function counts as covered if a claimed property on disk is seen to call it, whether that was claimed or not; an
/// example or a sketch, if a property whose every claim holds includes it.
///
/// An example is included where what its function gives is compared with its outcome; a sketch, where a function that it
/// is about is called and something is compared.
pub fn verify_claims(functions: &[FunctionSpec], claimed: &[PropertyWritten], on_disk: &TestFile) -> VerifiedClaims {
    let mut all = Covered::default();
    let mut mismatches = Vec::new();
    for property in claimed {
        let Some(test) = on_disk.named(&property.name) else {
            mismatches.push(ClaimMismatch::PropertyNotOnDisk { property: property.name.clone() });
            continue;
        };
        let mut claims = Claims { functions, property, test, on_disk, wrong: Vec::new(), unclear: Vec::new() };
        claims.note_calls(&mut all);
        claims.targets();
        let examples = claims.examples();
        claims.sketch();
        let Claims { mut wrong, unclear, .. } = claims;
        if !unclear.is_empty() {
            all.not_verified.extend(unclear.iter().map(|claim| format!("`{}`: {claim}", property.name)));
            wrong.push(ClaimMismatch::NotVerified { property: property.name.clone(), claims: unclear });
        }
        if wrong.is_empty() {
            all.examples.extend(examples);
            all.sketches.extend(property.covers_sketch.as_deref());
        }
        mismatches.append(&mut wrong);
    }
    VerifiedClaims { coverage: all.report(functions), mismatches }
}

/// What is covered so far.
#[derive(Default)]
struct Covered<'a> {
    called: BTreeSet<&'a str>,
    /// Functions of which it cannot be seen, with the first reason.
    perhaps: Vec<(&'a str, String)>,
    examples: BTreeSet<(usize, usize)>,
    sketches: BTreeSet<&'a str>,
    not_verified: Vec<String>,
}

/// The claims about one property.
struct Claims<'a> {
    functions: &'a [FunctionSpec],
    property: &'a PropertyWritten,
    test: &'a PropertyTest,
    on_disk: &'a TestFile,
    wrong: Vec<ClaimMismatch>,
    /// Claims that cannot be judged, with the reason.
    unclear: Vec<String>,
}

impl<'a> Claims<'a> {
    fn calls(&self, function: &FunctionSpec) -> Exercise {
        self.on_disk.calls(self.test, &function.name)
    }

    /// The function of the contract that a name means; none where it could mean several.
    fn function(&self, name: &str) -> Option<(usize, &'a FunctionSpec)> {
        let meant = meant_among(self.functions.iter().map(|function| function.name.as_str()), name)?;
        self.functions.iter().enumerate().find(|(_, function)| function.name == meant)
    }

    fn note_calls(&self, all: &mut Covered<'a>) {
        for function in self.functions {
            match self.calls(function) {
                Exercise::Seen => _ = all.called.insert(&function.name),
                Exercise::Unclear(why) => {
                    all.perhaps.push((&function.name, format!("`{}`, {why}", self.property.name)))
                }
                Exercise::Absent => {}
            }
        }
    }

    fn targets(&mut self) {
        let mut absent = Vec::new();
        for target in &self.property.target_functions {
            match self.function(target).map(|(_, function)| self.calls(function)) {
                Some(Exercise::Seen) => {}
                Some(Exercise::Unclear(why)) => self.unclear.push(format!("calling `{target}`: {why}")),
                Some(Exercise::Absent) | None => absent.push(target.clone()),
            }
        }
        if !absent.is_empty() {
            let wrong = self.not_called(absent);
            self.wrong.push(wrong);
        }
    }

    fn not_called(&self, absent_targets: Vec<String>) -> ClaimMismatch {
        let called = self.functions.iter().filter(|function| self.calls(function) == Exercise::Seen);
        let actual_targets = called.map(|function| function.name.clone()).collect();
        ClaimMismatch::TargetsNotCalled { property: self.property.name.clone(), absent_targets, actual_targets }
    }

    fn examples(&mut self) -> Vec<(usize, usize)> {
        let mut included = Vec::new();
        for claim in &self.property.covers_examples {
            let named = format!("example {} of `{}`", claim.index, claim.function);
            let index = usize::try_from(claim.index).unwrap_or(usize::MAX);
            let found = self.function(&claim.function);
            let Some((position, function, example)) =
                found.and_then(|(position, function)| Some((position, function, function.examples.get(index)?)))
            else {
                let (property, function) = (self.property.name.clone(), claim.function.clone());
                self.wrong.push(ClaimMismatch::NoSuchExample { property, function, index: claim.index });
                continue;
            };
            match self.on_disk.checks(self.test, &function.name, &example.input, &example.expected) {
                Exercise::Seen => included.push((position, index)),
                Exercise::Unclear(why) => self.unclear.push(format!("{named}: {why}")),
                Exercise::Absent => {
                    let wrong = self.not_called(vec![format!("{} with {named}", function.name)]);
                    self.wrong.push(wrong);
                }
            }
        }
        included
    }

    fn sketch(&mut self) {
        let Some(sketch) = &self.property.covers_sketch else { return };
        let about: Vec<&FunctionSpec> = self
            .functions
            .iter()
            .filter(|function| function.properties.iter().any(|property| property.name == *sketch))
            .collect();
        let exercised: Vec<Exercise> = about.iter().map(|function| self.calls(function)).collect();
        let names = || about.iter().map(|function| function.name.clone()).collect::<Vec<_>>();
        let unclear = exercised.iter().find_map(|exercise| match exercise {
            Exercise::Unclear(why) => Some(why.clone()),
            _ => None,
        });
        if about.is_empty() {
            let (property, sketch) = (self.property.name.clone(), sketch.clone());
            self.wrong.push(ClaimMismatch::NoSuchSketch { property, sketch });
        } else if exercised.contains(&Exercise::Seen) {
            if !TestFile::asserts(self.test) {
                self.unclear.push(format!("the sketched property `{sketch}`: no assertion is seen in it"));
            }
        } else if let Some(why) = unclear {
            self.unclear.push(format!("the sketched property `{sketch}`: {why}"));
        } else {
            let wrong = self.not_called(vec![format!("{}, which `{sketch}` is about", names().join(", "))]);
            self.wrong.push(wrong);
        }
    }
}

impl Covered<'_> {
    fn report(mut self, functions: &[FunctionSpec]) -> CoverageReport {
        let names = || functions.iter().map(|function| function.name.as_str());
        for (function, why) in &self.perhaps {
            if !self.called.contains(function) {
                self.not_verified.push(format!("whether `{function}` is called: {why}"));
            }
        }
        CoverageReport {
            functions_covered: kept(names(), |name| self.called.contains(name)),
            functions_uncovered: kept(names(), |name| !self.called.contains(name)),
            examples_covered: count(self.examples.len()),
            examples_total: count(functions.iter().map(|function| function.examples.len()).sum()),
            sketches_covered: kept(sketched(functions), |name| self.sketches.contains(name)),
            sketches_uncovered: kept(sketched(functions), |name| !self.sketches.contains(name)),
            not_verified: self.not_verified,
        }
    }
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
    use interlocking::rust_source::Sources;

    /// Examples as input and outcome.
    fn function(name: &str, examples: &[(&str, &str)], sketches: &[&str]) -> FunctionSpec {
        let example = |(input, expected): &(&str, &str)| ConcreteExample {
            description: "d".to_owned(),
            input: (*input).to_owned(),
            expected: (*expected).to_owned(),
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
            examples: examples.iter().map(example).collect::<Vec<_>>().try_into().unwrap(),
            properties: NonEmpty::try_from(sketches.iter().map(sketch).collect::<Vec<_>>()).unwrap(),
            priority: 0,
        }
    }

    fn contract() -> [FunctionSpec; 2] {
        [
            function("Stack::push", &[("push 1", "true"), ("push 2", "false")], &["prop_full"]),
            function("Stack::pop", &[("pop after 3", "Some(3)")], &["prop_lifo", "prop_empty"]),
        ]
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

    /// The contract's implementation, and properties with these bodies.
    fn on_disk(properties: &[(&str, &str)]) -> TestFile {
        let implementation = "pub struct Stack;\nimpl Stack {\n    pub fn push(&mut self, value: i64) -> bool { todo!() }\n    \
            pub fn pop(&mut self) -> Option<i64> { todo!() }\n}";
        let test = |(name, body): &(&str, &str)| format!("#[test] fn {name}(mut s: Stack) {{ {body} }}\n");
        let tests: String = properties.iter().map(test).collect();
        TestFile::read(Sources {
            library: "stack",
            implementation: ("src/lib.rs", implementation),
            tests: ("tests/p.rs", &format!("use stack::Stack;\n{tests}")),
            prefix: "prop_",
        })
        .unwrap()
    }

    /// HY-88, CON-55: coverage is computed from what the file bears out.
    #[test]
    fn coverage_is_computed_from_claims_that_hold() {
        let claimed = [
            claim("prop_full", &["Stack::push"], &[("push", 1), ("Stack::push", 0)], Some("prop_full")),
            claim("prop_lifo", &["pop"], &[("Stack::pop", 0)], Some("prop_lifo")),
        ];
        let on_disk = on_disk(&[
            ("prop_full", "assert!(s.push(1)); assert!(!s.push(2));"),
            ("prop_lifo", "s.push(3); assert_eq!(s.pop(), Some(3));"),
        ]);
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
                not_verified: vec![],
            }
        );
    }

    /// HY-87, HY-141, HY-157, HY-163, CON-90: every kind of false claim is named, and none of them counts.
    #[test]
    fn false_claims_are_named_and_do_not_count() {
        let claimed = [
            claim("prop_absent", &["push"], &[], None),
            claim("prop_full", &["push", "pop"], &[("push", 0)], Some("prop_full")),
            claim("prop_lifo", &["pop"], &[("pop", 1), ("peek", 0), ("push", 0)], Some("prop_other")),
            claim("prop_empty", &[], &[], Some("prop_full")),
        ];
        let on_disk = on_disk(&[
            ("prop_full", "assert!(s.push(1));"),
            ("prop_lifo", "assert_eq!(s.pop(), Some(3));"),
            ("prop_empty", "let mut v = vec![1]; v.push(1); assert_eq!(v.pop(), Some(1));"),
        ]);
        let verified = verify_claims(&contract(), &claimed, &on_disk);
        let no_example = |function: &str, index| ClaimMismatch::NoSuchExample {
            property: "prop_lifo".to_owned(),
            function: function.to_owned(),
            index,
        };
        let not_called = |property: &str, absent: &str, actual: &[&str]| ClaimMismatch::TargetsNotCalled {
            property: property.to_owned(),
            absent_targets: vec![absent.to_owned()],
            actual_targets: actual.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(
            verified.mismatches,
            [
                ClaimMismatch::PropertyNotOnDisk { property: "prop_absent".to_owned() },
                not_called("prop_full", "pop", &["Stack::push"]),
                no_example("pop", 1),
                no_example("peek", 0),
                not_called("prop_lifo", "Stack::push with example 0 of `push`", &["Stack::pop"]),
                ClaimMismatch::NoSuchSketch { property: "prop_lifo".to_owned(), sketch: "prop_other".to_owned() },
                not_called("prop_empty", "Stack::push, which `prop_full` is about", &[]),
            ]
        );
        assert_eq!(verified.coverage.examples_covered, 0);
        assert_eq!(verified.coverage.sketches_covered, [""; 0]);
        assert_eq!(verified.coverage.functions_covered.len(), 2, "they are called all the same");
    }

    /// HY-156: what the file does not show is no claim that holds, whatever it is about; nothing of it counts, and all of it is said.
    #[test]
    fn what_cannot_be_seen_does_not_count() {
        let claimed = [
            claim("prop_full", &["push"], &[("push", 0)], Some("prop_full")),
            claim("prop_lifo", &["pop"], &[("pop", 0)], Some("prop_lifo")),
            claim("prop_empty", &["pop"], &[], Some("prop_empty")),
        ];
        let on_disk = on_disk(&[
            ("prop_full", "let s = of_unknown_type(); assert!(s.push(1));"),
            ("prop_lifo", "let top = s.pop();"),
            ("prop_empty", "s.pop(); go!(push);"),
        ]);
        let VerifiedClaims { coverage, mismatches } = verify_claims(&contract(), &claimed, &on_disk);
        let unclear = |property: &str, claims: &[&str]| ClaimMismatch::NotVerified {
            property: property.to_owned(),
            claims: claims.iter().map(|claim| (*claim).to_owned()).collect(),
        };
        let why = "line 2: what `push` is called on cannot be seen; write its type with `let`";
        assert_eq!(
            mismatches,
            [
                unclear(
                    "prop_full",
                    &[
                        &format!("calling `push`: {why}"),
                        &format!("example 0 of `push`: {why}"),
                        &format!("the sketched property `prop_full`: {why}"),
                    ]
                ),
                unclear(
                    "prop_lifo",
                    &[
                        "example 0 of `pop`: no comparison of what it gives with Some(3) is seen",
                        "the sketched property `prop_lifo`: no assertion is seen in it",
                    ]
                ),
                unclear("prop_empty", &["the sketched property `prop_empty`: no assertion is seen in it"]),
            ]
        );
        assert_eq!(
            (coverage.functions_covered, coverage.functions_uncovered),
            (vec!["Stack::pop".to_owned()], vec!["Stack::push".to_owned()])
        );
        assert_eq!((coverage.examples_covered, coverage.sketches_covered.len()), (0, 0));
        assert_eq!(coverage.not_verified.len(), 3 + 2 + 1 + 2, "{:#?}", coverage.not_verified);
        let last = "whether `Stack::push` is called: `prop_empty`, line 4: it is named inside `go!`, which cannot be looked into";
        assert_eq!(coverage.not_verified.last().unwrap(), last);
    }

    /// HY-175, CON-55: the flag decides.
    #[test]
    fn coverage_is_enforced_only_if_required() {
        let coverage = verify_claims(&contract(), &[], &TestFile::default()).coverage;
        assert_eq!(missing_sketches(&coverage, true), ["prop_full", "prop_lifo", "prop_empty"]);
        assert_eq!(missing_sketches(&coverage, false), [""; 0]);
    }
}
