//! The claims of the tests agent are checked against its file.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::{Stage, check};
use hybrid::demo::Scenario;
use hybrid::types::{Action, Check, CoverageReport, HybridFailure};
use serde_json::{Value, json};
use std::io::Write;

/// The happy tests, with a changed report.
fn tests(change: impl FnOnce(&mut Value)) -> Turn {
    let mut turn = AgentScript::of(Scenario::Happy).turn("tests");
    change(&mut turn.answer);
    turn
}

fn without_a_sketch() -> Turn {
    tests(|report| report["properties"][5]["coversSketch"] = Value::Null)
}

fn with_a_false_claim() -> Turn {
    tests(|report| report["properties"][0]["targetFunctions"] = json!(["BoundedStack::pop"]))
}

fn script() -> AgentScript {
    AgentScript::of(Scenario::Happy).without("tests")
}

/// Tests are sent back if their agent has not seen them fail, even if they do fail; if they do not call what the report says; and
/// if they lack a required property. Each time the agent is told why; the fourth try lands.
#[tokio::test(flavor = "multi_thread")]
async fn reports_that_do_not_hold_are_sent_back() {
    let unseen = tests(|report| report["selfVerified"] = false.into());
    let script = script()
        .then(unseen)
        // HY-148
        .then(
            with_a_false_claim()
                .asked("they were not seen to fail before they were handed in: the agent does not say so"),
        )
        // HY-156, HY-157: the text decides, not the claim.
        .then(without_a_sketch().asked(
            "`prop_new_stack_is_empty` is said to exercise BoundedStack::pop, but it does not; it calls \
             BoundedStack::with_capacity, BoundedStack::peek, BoundedStack::height",
        ))
        // HY-175
        .then(tests(|_| ()).asked("these sketched properties are not covered: prop_peek_changes_nothing"));
    let stage = Stage::quick(script).await;
    let ended = stage.run().await;
    let result = stage.assert_landed(&ended);
    let trace = stage.trace();
    // HY-263, CON-56
    assert_eq!((trace.visits("tests"), trace.visits("tests_reject"), trace.visits("implementation")), (4, 3, 1));
    assert_eq!(check(&result, Check::TestsFailForTheirAgent), (true, "the agent says so, and so it is"));
    assert_eq!(check(&result, Check::CoverageConfirmed), (true, "every claim holds of the merged code"));
    // All in one conversation.
    let calls = stage.calls_of("tests");
    assert!(calls.iter().all(|call| call.answered_in == calls[0].answered_in));
}

/// HY-141, HY-263: a claim that stays false ends the run, with the property's actual calls.
#[tokio::test(flavor = "multi_thread")]
async fn a_false_claim_ends_the_run_in_the_end() {
    let mut claim = with_a_false_claim();
    claim.any_times = true;
    let stage = Stage::quick(script().then(claim)).await.at_most(1);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::CoverageClaimMismatch { property, mut actual_targets } = failure else { panic!("{failure:?}") };
    actual_targets.sort();
    let actual = ["BoundedStack::height", "BoundedStack::peek", "BoundedStack::with_capacity"];
    assert_eq!((property.as_str(), &actual_targets[..]), ("prop_new_stack_is_empty", &actual.map(str::to_owned)[..]));
    assert!(!check(&result, Check::CoverageConfirmed).0);
    assert_eq!(stage.calls_of("tests").len(), 2);
}

/// HY-175, HY-136, HY-75, PRG-37: the task's requirements decide, and handlers know the task.
#[tokio::test(flavor = "multi_thread")]
async fn missing_properties_matter_if_the_task_says_so() {
    let mut turn = without_a_sketch();
    turn.any_times = true;
    let strict = Stage::quick(script().then(turn.clone())).await.at_most(1);
    let mut lenient = Stage::quick(script().then(turn)).await.at_most(1);
    lenient.task.spec.strictness.require_coverage = false;
    let (refused, accepted) = tokio::join!(strict.run(), lenient.run());

    let (result, failure) = strict.assert_not_landed(&refused);
    let HybridFailure::CoverageEnforcementFailed { uncovered_sketches, blind_results } = failure else {
        panic!("{failure:?}")
    };
    assert_eq!(uncovered_sketches, ["prop_peek_changes_nothing"]);
    // HY-120
    assert_eq!(blind_results.tests.failure_proof.len(), 7, "both sides' work is in the reason");
    assert!(check(&result, Check::TestsFailOnSkeleton).0 && !check(&result, Check::CoverageConfirmed).0);

    let result = lenient.assert_landed(&accepted);
    assert_eq!(result.tests_coverage.unwrap().sketches_uncovered, ["prop_peek_changes_nothing"]);
    assert_eq!(result.witness.suggestions, ["Write the sketched property `prop_peek_changes_nothing`."]);
}

/// The happy report with a file of seven properties with this body and the reported names.
fn properties(begins: &str, body: &str) -> Turn {
    let mut turn = tests(|_| ());
    let names: Vec<String> = turn.answer["properties"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect();
    let each = names.iter().map(|name| format!("#[test]\nfn {name}() {{ {body} }}\n"));
    *turn.file() = format!("{begins}\n{}", each.collect::<String>());
    turn.any_times = true;
    turn
}

/// HY-153, HY-157: seven properties that make a stack and then use a vector are red on the stubs, and exercise none of the
/// functions that they are said to exercise.
#[tokio::test(flavor = "multi_thread")]
async fn properties_of_something_else_cover_nothing() {
    let body = "let _stack = BoundedStack::with_capacity(1); let mut v = Vec::new(); v.push(4); \
                assert_eq!(v.pop(), Some(4)); assert_eq!(v.len(), 0);";
    let stage = Stage::quick(script().then(properties("use bounded_stack::BoundedStack;", body))).await.at_most(1);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::CoverageClaimMismatch { property, actual_targets } = failure else { panic!("{failure:?}") };
    assert_eq!(
        (property.as_str(), &actual_targets[..]),
        ("prop_new_stack_is_empty", &["BoundedStack::with_capacity".to_owned()][..])
    );
    assert!(check(&result, Check::TestsFailOnSkeleton).0 && !check(&result, Check::CoverageConfirmed).0);
    let coverage = result.tests_coverage.unwrap();
    assert_eq!(
        (coverage.functions_covered, coverage.examples_covered),
        (vec!["BoundedStack::with_capacity".to_owned()], 0)
    );
    assert_eq!(coverage.sketches_covered, [""; 0]);
}

/// HY-156: if the file does not show a call, the call does not count. The agent is told what could not be seen and how to make it
/// visible; in the end this is the reason.
#[tokio::test(flavor = "multi_thread")]
async fn claims_that_cannot_be_seen_are_not_verified() {
    let begins = "use bounded_stack::BoundedStack;\n\
        macro_rules! use_it { ($stack:expr) => { assert_eq!($stack.push(4), Ok(())); assert_eq!($stack.pop(), Some(4)); \
        assert_eq!($stack.peek(), None); assert_eq!($stack.height(), 0) } }";
    let body = "let mut stack = BoundedStack::with_capacity(1); use_it!(stack);";
    let stage = Stage::quick(script().then(properties(begins, body))).await.at_most(1);
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::CoverageNotVerified { property, claims } = failure else { panic!("{failure:?}") };
    assert_eq!(property, "prop_new_stack_is_empty");
    let first = "calling `BoundedStack::height`: line 4: it is named inside `use_it!`, which cannot be looked into";
    assert_eq!(claims[0], first);
    let (verified, detail) = check(&result, Check::CoverageConfirmed);
    assert!(!verified && detail.contains(first), "{detail}");
    let told = &stage.calls_of("tests")[1].prompt;
    assert!(told.contains(first) && told.contains("Claim only what can be read in the file"), "{told}");
    let coverage = result.tests_coverage.unwrap();
    assert_eq!(coverage.functions_covered, ["BoundedStack::with_capacity"]);
    assert!(
        coverage
            .not_verified
            .iter()
            .any(|what| what.starts_with("`prop_new_stack_is_empty`: calling `BoundedStack::height`"))
    );
}

/// Only types show this: the type of an entry of a map.
const BY_TYPES: &str = "let mut stacks = std::collections::BTreeMap::from([(1, BoundedStack::with_capacity(1))]); \
    let mut entry = stacks.first_entry().unwrap(); let stack = entry.get_mut(); \
    assert_eq!(stack.push(4), Ok(())); assert_eq!(stack.pop(), Some(4)); assert_eq!(stack.peek(), None); \
    assert_eq!(stack.height(), 0);";

fn by_types() -> Turn {
    let mut turn = properties("use bounded_stack::BoundedStack;", BY_TYPES);
    for property in turn.answer["properties"].as_array_mut().unwrap() {
        property["coversExamples"] = json!([]);
    }
    turn
}

/// Whether rust-analyzer is missing or incomplete: then the test cannot run, which is reported. With `CI` set it must run.
fn has_no_server(coverage: &CoverageReport) -> bool {
    let told_by = coverage.told_by.as_deref().unwrap_or_default();
    let is_missing =
        told_by.contains("is not installed") || told_by.contains("lacks the source of the standard library");
    if is_missing && std::env::var_os("CI").is_none() {
        // Written directly, as the test harness captures the output of `eprintln!` and drops it for tests that pass.
        let _ = std::io::stderr().write_all(format!("NOT TESTED: {told_by}\n").as_bytes());
        return true;
    }
    false
}

/// HY-156, HY-157, HY-166: a language server resolves what the text of the tests leaves open, and the result names the server;
/// without one it stays open, and the result says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_language_server_tells_what_the_text_does_not() {
    let mut with = Stage::quick(script().then(by_types())).await.at_most(1);
    with.task.language_server = "rust-analyzer".into();
    let without = Stage::quick(script().then(by_types())).await.at_most(1);
    let (told, untold) = tokio::join!(with.run(), without.run());

    let coverage = told.result.as_ref().unwrap().tests_coverage.clone().unwrap();
    if has_no_server(&coverage) {
        return;
    }
    assert!(coverage.told_by.as_ref().unwrap().starts_with("rust-analyzer "), "{:?}", coverage.told_by);
    let all = ["with_capacity", "push", "pop", "peek", "height"].map(|name| format!("BoundedStack::{name}"));
    assert!(all.iter().all(|name| coverage.functions_covered.contains(name)), "{coverage:#?}");
    assert_eq!(coverage.not_verified, [""; 0]);
    // HY-159: the same for which functions are implemented.
    let implementation = told.result.as_ref().unwrap().ground_truth.implementation.as_ref();
    assert!(implementation.is_some_and(|by| by.starts_with("rust-analyzer ")), "{implementation:?}");

    let (result, failure) = without.assert_not_landed(&untold);
    assert!(matches!(failure, HybridFailure::CoverageClaimMismatch { .. }), "{failure:?}");
    let coverage = result.tests_coverage.unwrap();
    assert_eq!(
        coverage.told_by.unwrap(),
        "the syntax alone, because rust-analyzer is not installed, or no-such-server does not run: run \
         `rustup component add rust-analyzer`"
    );
    assert!(!coverage.functions_covered.contains(&all[1]), "{:?}", coverage.functions_covered);
}

/// Code that no run reaches calls nothing, whatever the types are.
#[tokio::test(flavor = "multi_thread")]
async fn dead_calls_are_none_for_a_language_server_either() {
    let mut turn = by_types();
    *turn.file() = turn
        .file()
        .replace("let stack = entry.get_mut();", "let stack = entry.get_mut(); if true { panic!() }; if false {")
        .replace("assert_eq!(stack.height(), 0);", "assert_eq!(stack.height(), 0); }");
    let mut stage = Stage::quick(script().then(turn)).await.at_most(1);
    stage.task.language_server = "rust-analyzer".into();
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert!(matches!(failure, HybridFailure::CoverageClaimMismatch { .. }), "{failure:?}");
    let coverage = result.tests_coverage.unwrap();
    if has_no_server(&coverage) {
        return;
    }
    assert!(coverage.told_by.unwrap().starts_with("rust-analyzer "));
    assert_eq!(coverage.functions_covered, ["BoundedStack::with_capacity"]);
}

/// HY-159: a function that no property calls must be implemented too.
#[tokio::test(flavor = "multi_thread")]
async fn a_function_that_is_still_a_stub_is_found_out() {
    let forgets = |turn: &mut Turn| {
        let peek = "BoundedStack::peek";
        let properties = turn.answer["properties"].as_array_mut().unwrap();
        properties.retain(|property| property["name"] != "prop_peek_changes_nothing");
        for property in properties {
            property["targetFunctions"].as_array_mut().unwrap().retain(|target| target != peek);
            property["coversExamples"].as_array_mut().unwrap().retain(|example| example["function"] != peek);
        }
        let file = turn.file();
        let begin = file.find("    #[test]\n    fn prop_peek_changes_nothing").unwrap();
        let end = begin + file[begin..].find("    }\n").unwrap() + "    }\n".len();
        file.replace_range(begin..end, "");
        *file = file.lines().filter(|line| !line.contains("peek()")).map(|line| format!("{line}\n")).collect();
    };
    let script = AgentScript::of(Scenario::Happy).with("tests", forgets);
    let script = script.with("impl", |turn| turn.edit("self.items.last().copied()", "todo!()"));
    let mut stage = Stage::new(script).await;
    stage.task.spec.strictness.require_coverage = false;
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, HybridFailure::FunctionsNotImplemented { functions: vec!["BoundedStack::peek".to_owned()] });
    // HY-151: its tests did pass.
    assert_eq!(check(&result, Check::MergedTestsPass), (true, "6 tests pass"));
    // HY-155: a check shows why it has not landed.
    assert_eq!(check(&result, Check::CoverageConfirmed), (false, &*failure.to_string()));
    let told_by = result.ground_truth.implementation.unwrap();
    assert!(told_by.starts_with("the syntax alone, because rust-analyzer is not installed"), "{told_by}");
    // HY-241, HY-242: missing parts become work items.
    let left = |action| result.work_items.iter().any(|item| item.action == action && item.about.contains("peek"));
    assert!(left(Action::CoverFunction) && left(Action::WriteSketch), "{:?}", result.work_items);
}

/// HY-160, CON-91: an example counts if a property that has run and passed compares its outcome, in a statement that is executed
/// as far as its text shows: not behind `if false`, even if every test passes.
#[tokio::test(flavor = "multi_thread")]
async fn an_example_that_no_run_comes_to_is_not_covered() {
    let asserted = "    assert_eq!(stack.push(5), Err(Full(5)));\n";
    let mut turn = tests(|_| ());
    turn.edit(asserted, &format!("    if false {{\n    {asserted}    }}\n"));
    turn.any_times = true;
    let stage = Stage::quick(script().then(turn)).await.at_most(1);
    let ended = stage.run().await;
    let (result, _) = stage.assert_not_landed(&ended);
    let (held, detail) = check(&result, Check::CoverageConfirmed);
    let why = "example 1 of `BoundedStack::push`: no comparison of what it gives with Err(Full(5)) is seen";
    assert!(!held && detail.contains(why), "{detail}");
    assert_eq!(result.tests_coverage.unwrap().examples_covered, 0);
}
