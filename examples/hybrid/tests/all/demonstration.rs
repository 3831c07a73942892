//! The demonstration: its files are built and tested, and its scripts are compared with its files.

use crate::artefacts::target_directory;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hybrid::demo::{self, Scenario};
use hybrid::source::{check_claimed_functions, check_stubs};
use hybrid::spec::{SpecFormat, Task};
use hybrid::types::{
    FailureType, FixAgentOutput, ImplAgentOutput, MutationAdversaryOutput, TestsAgentOutput, TypeAdversaryOutput,
    TypesAgentOutput,
};
use hybrid::verdicts::{type_adversary_result, verify_claims};
use interlocking::agents::Script;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::rust_source::{Sources, StubMarkers, TestFile, public_functions};
use interlocking::toolchain::red_check;
use interlocking::toolchain::{BuildOutcome, Checkout, Runner, TestRun, TestVerdict};
use serde::de::DeserializeOwned;

fn work() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/work")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(work().join(path)).expect("a file of the demonstration")
}

/// The properties in a file of the demonstration, read together with the stubs.
fn properties(path: &str) -> TestFile {
    let (stubs, tests) = (text("types/lib.rs"), text(path));
    let (implementation, tests) = (("src/lib.rs", stubs.as_str()), ("tests/properties.rs", tests.as_str()));
    TestFile::read(Sources { library: "bounded_stack", implementation, tests, prefix: "prop_" }).unwrap()
}

/// The turns of a script as they are written.
fn turns(scenario: Scenario) -> Vec<toml::Table> {
    let script: toml::Table = scenario.script().parse().expect("a script is TOML");
    script["turn"].as_array().into_iter().flatten().filter_map(toml::Value::as_table).cloned().collect()
}

fn answer<T: DeserializeOwned>(turn: &toml::Table) -> T {
    let answer = serde_json::from_str(turn["output_json"].as_str().expect("an answer is text"));
    answer.unwrap_or_else(|error| panic!("{:?}: {error}", turn["agent"]))
}

/// Every script is valid: each answer parses as its agent's output, each path is inside the crate, and the written
/// content is one of the plain files beside the script, so the two cannot diverge.
#[test]
fn scripts_say_what_the_files_say() {
    let mut files = Vec::new();
    for directory in std::fs::read_dir(work()).unwrap() {
        for file in std::fs::read_dir(directory.unwrap().path()).unwrap() {
            files.push(std::fs::read_to_string(file.unwrap().path()).unwrap());
        }
    }
    assert_eq!(files.len(), 8);
    for scenario in Scenario::value_variants() {
        Script::parse("script", scenario.script()).unwrap();
        for turn in turns(*scenario) {
            match turn["agent"].as_str().unwrap() {
                "types" | "types_fix" => drop(answer::<TypesAgentOutput>(&turn)),
                "adversary" => drop(answer::<TypeAdversaryOutput>(&turn)),
                "tests" => drop(answer::<TestsAgentOutput>(&turn)),
                "impl" => drop(answer::<ImplAgentOutput>(&turn)),
                "fix" => drop(answer::<FixAgentOutput>(&turn)),
                "mutation" => drop(answer::<MutationAdversaryOutput>(&turn)),
                other => panic!("{scenario:?}: who is {other}?"),
            }
            // A lie that is repeated writes another file than those of the demonstration.
            let lies = turn.get("times").is_some();
            for write in turn.get("write").and_then(toml::Value::as_array).into_iter().flatten().filter(|_| !lies) {
                let content = write["content"].as_str().unwrap().to_owned();
                assert!(files.contains(&content), "{scenario:?}: {:?} is no file of the demonstration", write["path"]);
            }
        }
    }
}

/// The happy script's claims agree with its files; those of the lying scripts do not. HY-146 by its verdict.
#[test]
fn claims_hold_where_they_should() {
    let happy = turns(Scenario::Happy);
    let types: TypesAgentOutput = answer(&happy[0]);
    let tests: TestsAgentOutput = answer(&happy[2]);
    let markers = StubMarkers::parse(["todo!()"]).unwrap();
    let skeleton = public_functions("lib.rs", &text("types/lib.rs"), &markers).unwrap();
    let claimed: Vec<&str> = types.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(check_claimed_functions(&claimed, &skeleton), []);

    let verified = verify_claims(&types.functions, &tests.properties, &properties("tests/properties.rs"), None);
    assert_eq!(verified.mismatches, []);
    assert_eq!(verified.coverage, tests.coverage);
    assert_eq!((verified.coverage.examples_total, verified.coverage.sketches_covered.len()), (10, 6));

    let verified = verify_claims(&types.functions, &tests.properties, &properties("tests_trivial/properties.rs"), None);
    let said: Vec<String> = verified.mismatches.iter().map(ToString::to_string).collect();
    let about_peek = said.iter().filter(|said| said.starts_with("`prop_peek_changes_nothing` is said to exercise "));
    assert_eq!((about_peek.count(), said.len()), (2, 2), "the function and the sketched property: {said:?}");
    assert_eq!(verified.coverage.sketches_uncovered, ["prop_peek_changes_nothing"]);

    let hole = type_adversary_result(answer(&turns(Scenario::TypesHole)[1]));
    assert!(hole.output.holes.iter().any(|hole| hole.severity.blocks()));
}

/// Runs the files of the demonstration's agents through cargo itself, without network access.
///
/// HY-173, CON-53, CON-54 at the level of single runs: red on the stubs, a passing test detected, broken tests
/// distinguished from failing ones. HY-154 and HY-161 on the same files.
#[tokio::test]
async fn the_demonstration_does_what_it_says() {
    let checkouts = tempfile::tempdir().unwrap();
    let at = &checkouts.path().join("1");
    let task = Task::parse("demo/spec.toml", demo::SPEC, SpecFormat::Toml).unwrap();
    let runner = Runner::new(task.toolchain.clone(), target_directory(), checkouts.path()).unwrap();
    let checkout = Checkout::at(at);
    let put = |from: &str, to: &str| {
        let to = at.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(work().join(from), to).unwrap();
    };

    EmbeddedFile::write_all(&demo::SEED, at).unwrap();
    assert_eq!(runner.build(&checkout).await.unwrap(), BuildOutcome::Passed);
    let lock = std::fs::read_to_string(at.join("Cargo.lock")).unwrap();
    assert!(lock.len() < demo::SEED[1].contents.len() / 2, "cargo cut the lock file down");

    let markers = StubMarkers::parse(["todo!()", "unimplemented!()"]).unwrap();
    for skeleton in ["types/lib.rs", "types_hole/lib.rs"] {
        put(skeleton, "src/lib.rs");
        assert_eq!(runner.build(&checkout).await.unwrap(), BuildOutcome::Passed, "{skeleton}");
        let functions = public_functions(skeleton, &text(skeleton), &markers).unwrap();
        let claimed = ["with_capacity", "push", "pop", "peek", "height"];
        assert_eq!(check_claimed_functions(&claimed, &functions), []);
        assert_eq!(check_stubs(&functions), []);
    }
    let functions = public_functions("lib.rs", &text("implementation/lib.rs"), &markers).unwrap();
    assert_eq!(check_stubs(&functions).len(), 5);

    put("types/lib.rs", "src/lib.rs");
    put("tests/properties.rs", "tests/properties.rs");
    let names: Vec<String> = properties("tests/properties.rs").tests.into_iter().map(|test| test.name).collect();
    assert_eq!(names.len(), 7);
    let known = task.spec.known_tests(&names);
    let ran = async || match runner.test(&checkout, known).await.unwrap() {
        TestRun::Ran(outcome) => outcome,
        other => panic!("{other:?}"),
    };

    let on_stubs = ran().await;
    assert_eq!(on_stubs.passed, [""; 0]);
    assert!(red_check(&on_stubs, names.iter().map(String::as_str)).is_red());
    for name in &names {
        let TestVerdict::Failed(failure) = on_stubs.verdict_of(name) else { panic!("{name}") };
        assert_eq!(failure.failure_type, FailureType::UndefinedHit, "{failure:?}");
    }

    put("tests_trivial/properties.rs", "tests/properties.rs");
    let trivial = ran().await;
    assert_eq!(trivial.passed, ["prop_peek_changes_nothing"]);
    assert_eq!(trivial.failed.len(), 6);
    let check = red_check(&trivial, names.iter().map(String::as_str));
    assert!(!check.is_red() && check.passed == ["prop_peek_changes_nothing"]);

    put("tests_broken/properties.rs", "tests/properties.rs");
    assert!(matches!(runner.test(&checkout, known).await.unwrap(), TestRun::DidNotBuild { .. }));
    assert!(!runner.build(&checkout).await.unwrap().passed());

    put("tests/properties.rs", "tests/properties.rs");
    put("implementation_broken/lib.rs", "src/lib.rs");
    assert!(!runner.build(&checkout).await.unwrap().passed());

    put("implementation_buggy/lib.rs", "src/lib.rs");
    assert!(runner.build(&checkout).await.unwrap().passed());
    let mut failed: Vec<String> = ran().await.failed.into_iter().map(|failure| failure.property_name).collect();
    failed.sort();
    assert_eq!(failed, ["prop_examples", "prop_full_stack_hands_the_value_back", "prop_height_never_exceeds_capacity"]);

    put("implementation/lib.rs", "src/lib.rs");
    let done = ran().await;
    assert!(done.all_passed() && done.passed.len() == 7, "{done:?}");
    let leftovers: Vec<_> = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!leftovers.iter().any(|name| name == "proptest-regressions"), "{leftovers:?}");
    assert_eq!(std::fs::read_to_string(at.join("Cargo.lock")).unwrap(), lock, "no later build changes the lock");
}
