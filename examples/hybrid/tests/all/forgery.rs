//! Implementations that do nothing, and try to make the tests claim otherwise.

use crate::agent_script::AgentScript;
use crate::stage::{Stage, check};
use crate::watched::Until;
use hybrid::demo::Scenario;
use hybrid::types::{Check, HybridFailure};

/// Prints the harness's lines for every test, and ends the program, whichever function is called.
const PRINTS_THE_VERDICTS: &str = r#"
use std::io::Write;

fn forge() -> ! {
    let this = std::env::current_exe().unwrap();
    let listed = std::process::Command::new(this).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let mut text = String::new();
    for name in &names {
        text.push_str(&format!("test {name} ... ok\n"));
    }
    let passed = names.len();
    text.push_str(&format!("\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n"));
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    std::process::exit(0)
}

static ONCE: std::sync::Once = std::sync::Once::new();
"#;

/// The demonstration's implementation with every body replaced, and with this text before it.
fn implementation(prelude: &str, body: &str) -> String {
    format!(
        "//! A stack.\n{prelude}\n\
         /// A stack.\n#[derive(Debug, Clone, PartialEq, Eq)]\npub struct BoundedStack;\n\n\
         /// Full.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\npub struct Full(pub i64);\n\n\
         impl BoundedStack {{\n\
         pub fn with_capacity(_: usize) -> Self {{ {body} }}\n\
         pub fn push(&mut self, _: i64) -> Result<(), Full> {{ {body} }}\n\
         pub fn pop(&mut self) -> Option<i64> {{ {body} }}\n\
         pub fn peek(&self) -> Option<i64> {{ {body} }}\n\
         pub fn height(&self) -> usize {{ {body} }}\n}}\n"
    )
}

/// The same for the single test for which its process was started, word for word.
const ANSWERS_FOR_ONE: &str = r#"
use std::io::Write;

fn forge() -> ! {
    let test = std::env::args().nth(1).unwrap();
    let text = format!(
        "test {test} ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n\n"
    );
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    std::process::exit(0)
}

static ONCE: std::sync::Once = std::sync::Once::new();
"#;

/// It writes what the harness would write, and ends the test program with success before a test runs.
#[tokio::test(flavor = "multi_thread")]
async fn an_implementation_that_prints_its_verdicts_does_not_land() {
    let forged = implementation(PRINTS_THE_VERDICTS, "ONCE.call_once(|| forge()); unreachable!()");
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| *turn.file() = forged);
    let stage = Stage::quick(script).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::NotVerifiable { refused } = &failure else { panic!("{failure:?}") };
    let constructs: Vec<&str> = refused.iter().map(|one| one.construct.as_str()).collect();
    assert_eq!(constructs, ["std::env", "current_exe", "std::process", "std::process"]);
    let said = "4 constructs could falsify the results of the tests: src/lib.rs:6:21: `std::env` is refused: it tells which \
        program runs it, and how that was called";
    assert_eq!(failure.to_string(), said);
}

/// If a person allows everything that it uses, each canary passes like its test, which is detected.
#[tokio::test(flavor = "multi_thread")]
async fn an_implementation_that_answers_for_its_tests_does_not_land() {
    let forged = implementation(ANSWERS_FOR_ONE, "ONCE.call_once(|| forge()); unreachable!()");
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| *turn.file() = forged);
    let mut stage = Stage::new(script).await;
    stage.task.toolchain.source.allow = ["std::env", "std::process"].map(str::to_owned).into();
    let ended = stage.run().await;
    let (result, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::VerdictForged { tests } = &failure else { panic!("{failure:?}") };
    assert_eq!(tests.len(), 7);
    assert!(
        failure.to_string().starts_with("7 tests were answered for: `prop_examples` passes, and so does its canary")
    );
    assert!(!check(&result, Check::MergedTestsPass).0);
}

/// A symbolic link among the sources would turn unchecked files into code.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_among_the_sources_ends_the_run() {
    let script = AgentScript::of(Scenario::Happy).with("impl", |turn| turn.run(&["ln", "-s", "../tests", "src/extra"]));
    let stage = Stage::quick(script).await;
    stage.agent.hold("tests", 1, Until::Never);
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::NotVerifiable { refused } = &failure else { panic!("{failure:?}") };
    assert_eq!(
        refused[0].to_string(),
        "src/extra:1:1: `src/extra` is refused: src/extra is a symbolic link, not a file: delete it"
    );
}

/// Tests that look for the stubs instead of calling functions go back to their agent, and end the run if they stay.
#[tokio::test(flavor = "multi_thread")]
async fn tests_that_read_what_they_test_are_refused() {
    let script = AgentScript::of(Scenario::Happy).with("tests", |turn| {
        let names = turn.answer["properties"].as_array().unwrap().clone();
        let test = |name: &str| {
            format!("#[test]\nfn {name}() {{ assert!(!include_str!(\"../src/lib.rs\").contains(\"todo!\")); }}\n")
        };
        *turn.file() = names.iter().map(|property| test(property["name"].as_str().unwrap())).collect();
        turn.any_times = true;
    });
    let stage = Stage::quick(script).await.at_most(1);
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::TestsRejected { last_feedback, .. } = &failure else { panic!("{failure:?}") };
    let why = "tests/properties.rs:2:41: `include_str!` is refused: it reads a file when it is compiled";
    assert!(last_feedback.why_rejected.starts_with(why), "{}", last_feedback.why_rejected);
    assert!(stage.calls_of("tests")[1].prompt.contains(why));
}

/// A types agent cannot change the package so that tests mean something else.
#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_changes_what_a_test_is_ends_the_run() {
    let script = AgentScript::of(Scenario::Happy).with("types", |turn| {
        let seed = include_str!("../../demo/seed/Cargo.toml");
        turn.write("Cargo.toml", &format!("{seed}\n[[test]]\nname = \"properties\"\nharness = false\n"));
    });
    let stage = Stage::quick(script).await;
    stage.agent.hold("adversary", 1, Until::Never);
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    let HybridFailure::NotVerifiable { refused } = &failure else { panic!("{failure:?}") };
    let [refused] = &refused[..] else { panic!("{refused:?}") };
    let said = "`test` is refused: it decides how the package is built and tested; a person has to change it";
    assert!(refused.to_string().ends_with(said), "{refused}");
}
