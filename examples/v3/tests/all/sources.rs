//! Facts that are looked up in Rust source, whatever agents say.

use crate::project::Project;
use crate::small::{Act, AgentScript, Who, append, planned, project, scaffold, shell, spec, write};
use crate::test_run::TestRun;
use interlocking::cli::repository::EmbeddedFile;
use interlocking::rust_source::Denied;
use interlocking::workspaces::FilePath;
use serde_json::json;
use v3::types::outcome::V3Outcome;

/// The implementer's next prompt after a commit in which `file` has this text, where the scaffold's was `before`. Without the
/// file the run ends well.
async fn told(file: &str, before: &str, now: &str) -> String {
    told_in(&project().await, Denied::default(), file, before, now).await
}

/// The same in this project, where this is denied beside unsafe code.
async fn told_in(project: &Project, denied: Denied, file: &str, before: &str, now: &str) -> String {
    let mut answer = scaffold("top", &[], &planned(&[]));
    answer["InitWork"]["interfaceFile"] = json!("src/api.rs");
    let scaffolded = [
        write("src/top.txt", "stub\n"),
        write("src/api.rs", "pub fn done() -> bool {\n    todo!()\n}\n"),
        write(file, before),
        write("checks/contract_top.sh", "true\n"),
        Act::Commit,
    ];
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let implemented = write("src/api.rs", "pub fn done() -> bool {\n    true\n}\n");
    let wrong = [append("src/top.txt", "done\n"), implemented.clone(), write(file, now), Act::Commit];
    let more = write("src/more.rs", "pub fn more() {}\n");
    let mut right = vec![append("src/top.txt", "done\n"), implemented, more, Act::Commit];
    if file == "Cargo.toml" {
        right.insert(0, write(file, before));
    }
    let script = AgentScript::default()
        .once(Who::Planner, "top", &answer, &scaffolded)
        .once(Who::Implementer, "top", &passed, &wrong)
        .once(Who::Implementer, "top", &passed, &right);
    let test = TestRun::new(project, script.honest("top", &[]).script(), |workbench| {
        shell(workbench);
        workbench.denied = Denied { unsafe_code: true, ..denied };
    });
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    test.prompts("implementer").into_iter().nth(1).unwrap()
}

/// V3-80, V3-61: the interface's signatures are unchanged; bodies may change.
#[tokio::test]
async fn a_changed_interface_is_taken_back() {
    let before = "pub fn done() -> bool {\n    todo!()\n}\n";
    // TC-04: the interface's file is the file that the scaffold names.
    let told = told("src/api.rs", before, "pub fn done() -> u8 {\n    1\n}\n").await;
    assert!(
        told.contains("src/api.rs:1:8: `done` is `fn done() -> u8` now; it was `fn done() -> bool`: put that back"),
        "{told}"
    );
}

/// V3-61: no stub may be left, although the tests pass and the review approves.
#[tokio::test]
async fn a_stub_that_is_left_makes_an_approval_impossible() {
    let told = told("src/more.rs", "pub fn more() {}\n", "pub fn more() {\n    todo!()\n}\n").await;
    assert!(told.contains("src/more.rs:2:5: `todo!()` stands in `more`: write what belongs there"), "{told}");
}

/// V3-62: unsafe code is not accepted either.
#[tokio::test]
async fn unsafe_code_makes_an_approval_impossible() {
    let told = told("src/more.rs", "pub fn more() {}\n", "pub fn more() {\n    unsafe {}\n}\n").await;
    assert!(
        told.contains("src/more.rs:2:5: `unsafe` is refused: unsafe code is denied; write it in safe Rust"),
        "{told}"
    );
}

/// TC-06: a denied crate is refused under the name that the manifest gives it, and so is a new dependency on one.
#[tokio::test]
async fn a_denied_crate_makes_an_approval_impossible_under_any_name() {
    let manifest = "[package]\nname = \"small\"\n\n[dependencies]\nc = { package = \"libc\", version = \"0.2\" }\n";
    let files = [EmbeddedFile { path: "Cargo.toml", contents: manifest }];
    let denied = Denied { crates: vec!["libc".to_owned(), "proc-macro2".to_owned()], ..Denied::default() };
    let (before, now) = ("pub fn more() {}\n", "pub fn more() {\n    c::abort()\n}\n");
    let told = told_in(&Project::of(&files).await, denied.clone(), "src/more.rs", before, now).await;
    assert!(told.contains("src/more.rs:2:5: `c` is refused: it is denied; do without it"), "{told}");
    assert!(!told.contains("Cargo.toml"), "what a person has put there stays: {told}");
    let more = format!("{manifest}proc-macro2 = \"1\"\n");
    let told = told_in(&Project::of(&files).await, denied, "Cargo.toml", manifest, &more).await;
    let said = "Cargo.toml:6:1: `proc-macro2` is refused: the crate `proc-macro2` is denied; do without it";
    assert!(told.contains(said), "{told}");
}

/// V3-65, EVO-12: tests that do not compile are not red: they show nothing. This runs cargo, where the tests are.
#[tokio::test]
async fn tests_that_do_not_compile_are_not_red() {
    let project = Project::of(&v3::demo::SEED).await;
    let mut answer = scaffold("top", &[], &planned(&[]));
    answer["InitWork"]["interfaceFile"] = json!("src/lib.rs");
    answer["InitWork"]["contractSuite"] = json!("tests/contract_top.rs");
    let scaffolded = [
        write("src/lib.rs", "//! Top.\n\n/// Whether it is done.\npub fn done() -> bool {\n    todo!()\n}\n"),
        write("tests/contract_top.rs", "#[test]\nfn contract_top_is_done() {\n    shortener::done();\n}\n"),
        Act::Commit,
    ];
    let ready =
        json!({ "TestsReady": { "testsCommit": "$HEAD", "testFiles": ["tests/top.rs"], "pendingCriteria": ["one"] } });
    let tests = [
        write("tests/top.rs", "#[test]\nfn one_holds() {\n    assert!(shortener::nobody_has_this());\n}\n"),
        Act::Commit,
    ];
    let invalid = json!({ "InvalidScaffold": { "missingType": "T", "expectedLocation": "src/lib.rs" } });
    let asks = json!({ "ClarificationNeeded": {
        "question": "Q?", "ambiguityReference": "R", "specSentence": "Says when it is done." } });
    let script = AgentScript::default()
        .once(Who::Planner, "top", &answer, &scaffolded)
        .once(Who::TestAuthor, "top", &ready, &tests)
        .once(Who::TestAuthor, "top", &invalid, &[])
        .once(Who::Planner, "top", &asks, &[]);
    let test = TestRun::new(&project, script.script(), |_| {});
    let mut spec = spec(&[]);
    spec.target_path = FilePath::new("src/lib.rs").unwrap();
    spec.test_path = FilePath::new("tests/top.rs").unwrap();
    let outcome = test.outcome(spec).await;
    assert!(matches!(outcome, V3Outcome::ClarificationNeeded(_)), "{outcome}");
    let told = &test.prompts("test author")[1];
    assert!(told.contains("the tests cannot be run:") && told.contains("nobody_has_this"), "{told}");
}
