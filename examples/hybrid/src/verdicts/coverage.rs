//! What the tests really cover: the agent's claims, compared with the file.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::resolved::ResolvedCalls;
use crate::types::{CoverageReport, FunctionSpec, PropertyWritten, called};
use interlocking::rust_source::{Exercise, PropertyTest, TestFile, resolve_name};

/// A claim of the tests agent that the file or the contract contradicts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimMismatch {
    /// A property is not in the file (HY-163).
    #[error("`{property}` is claimed, but the test file has no one property of that name")]
    PropertyNotOnDisk {
        /// The property.
        property: String,
    },
    /// A property does not call the functions that it is claimed to test (HY-141, HY-157).
    #[error("`{property}` is said to exercise {}, but it does not; it calls {}", absent_targets.join(", "), called(actual_targets))]
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

/// The claims after the comparison with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedClaims {
    /// What is covered, counting only confirmed claims (HY-88, CON-55).
    pub coverage: CoverageReport,
    /// The other claims, in the agent's order.
    pub mismatches: Vec<ClaimMismatch>,
}

/// Compares the claims with the contract and the properties on disk, and recomputes the coverage from those that hold. A function
/// counts as covered if a claimed property on disk certainly calls it, whether that was claimed or not; an example or a sketch,
/// if a property whose every claim holds includes it.
///
/// An example is included if the result of its function is compared with its outcome; a sketch, if a function that it is about is
/// called and something is compared.
///
/// `resolved` may answer what the text leaves open because it does not show the types of values.
pub fn verify_claims(
    functions: &[FunctionSpec],
    claimed: &[PropertyWritten],
    on_disk: &TestFile,
    resolved: Option<&ResolvedCalls>,
) -> VerifiedClaims {
    let mut all = Covered::default();
    let mut mismatches = Vec::new();
    for property in claimed {
        let Some(test) = on_disk.named(&property.name) else {
            mismatches.push(ClaimMismatch::PropertyNotOnDisk { property: property.name.clone() });
            continue;
        };
        let mut claims =
            Claims { functions, property, test, on_disk, resolved, wrong: Vec::new(), unclear: Vec::new() };
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
    let coverage =
        CoverageReport { told_by: resolved.map(|resolved| resolved.provider.clone()), ..all.report(functions) };
    VerifiedClaims { coverage, mismatches }
}

/// What is covered so far.
#[derive(Default)]
struct Covered<'a> {
    called: BTreeSet<&'a str>,
    /// Functions for which it cannot be decided, with the first reason.
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
    resolved: Option<&'a ResolvedCalls>,
    wrong: Vec<ClaimMismatch>,
    /// Claims that cannot be decided, with the reason.
    unclear: Vec<String>,
}

impl<'a> Claims<'a> {
    fn calls(&self, function: &FunctionSpec) -> Exercise {
        let by_text = self.on_disk.calls(self.test, &function.name);
        let is_resolved = self.resolved.is_some_and(|resolved| resolved.has_live_call(self.test, &function.name));
        if is_resolved { Exercise::Seen } else { by_text }
    }

    /// The function of the contract that a name refers to; none if it could be several.
    fn function(&self, name: &str) -> Option<(usize, &'a FunctionSpec)> {
        let meant = resolve_name(self.functions.iter().map(|function| function.name.as_str()), name)?;
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
            told_by: None,
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
