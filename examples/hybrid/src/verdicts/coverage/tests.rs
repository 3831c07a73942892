//! True and false claims.

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

/// HY-88, CON-55: coverage is computed from claims that the file confirms.
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
    let verified = verify_claims(&contract(), &claimed, &on_disk, None);
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
            told_by: None,
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
    let verified = verify_claims(&contract(), &claimed, &on_disk, None);
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

/// HY-156: a claim that the file does not show is not true, whatever it is about; it does not count, and is reported.
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
    let VerifiedClaims { coverage, mismatches } = verify_claims(&contract(), &claimed, &on_disk, None);
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
    let last =
        "whether `Stack::push` is called: `prop_empty`, line 4: it is named inside `go!`, which cannot be looked into";
    assert_eq!(coverage.not_verified.last().unwrap(), last);
}

/// HY-175, CON-55: the flag decides.
#[test]
fn coverage_is_enforced_only_if_required() {
    let coverage = verify_claims(&contract(), &[], &TestFile::default(), None).coverage;
    assert_eq!(missing_sketches(&coverage, true), ["prop_full", "prop_lifo", "prop_empty"]);
    assert_eq!(missing_sketches(&coverage, false), [""; 0]);
}
