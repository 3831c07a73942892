//! Both sides write to the same lines of a document to which the task gives both access.

use crate::agent_script::{AgentScript, Turn};
use crate::stage::Stage;
use hybrid::demo::Scenario;
use hybrid::paths::{PathViolation, Role, Territory};
use hybrid::types::{CratePath, HybridFailure};
use serde_json::json;

const CHANGES: &str = "README.md";

fn notes(line: &str) -> String {
    format!("# A crate to build on\n\n{line}\n")
}

/// The text of each side.
fn script() -> AgentScript {
    AgentScript::of(Scenario::Happy)
        .with("tests", |turn| turn.write(CHANGES, &notes("Tested with proptest.")))
        .with("impl", |turn| turn.write(CHANGES, &notes("Built on a vector.")))
}

/// An agent that leaves this text there, and reports that it has resolved the conflict.
fn resolver(text: &str) -> Turn {
    let mut turn = script().turn("mutation");
    turn.agent = "conflict".to_owned();
    turn.answer = json!({"filesResolved": [CHANGES], "resolutionNotes": "Both lines, tests first.", "blocker": null});
    turn.cost = 0.01;
    turn.write(CHANGES, text);
    turn
}

async fn stage(script: AgentScript) -> Stage {
    with_changes(Stage::quick(script).await)
}

fn with_changes(mut stage: Stage) -> Stage {
    stage.task.spec.shared_paths = vec![CratePath::new(CHANGES).unwrap()];
    stage
}

/// HY-251, CON-73: an agent combines both versions, and the result is merged, tested and landed. HY-23
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_resolves_what_both_have_written() {
    let both = notes("Tested with proptest.\nBuilt on a vector.");
    let stage = with_changes(Stage::new(script().then(resolver(&both))).await);
    let ended = stage.run().await;
    stage.assert_landed(&ended);
    let routes = stage.trace().routes();
    let merge = routes.iter().position(|route| route == "merge → conflict").unwrap();
    assert_eq!(routes[merge + 1], "conflict → validate");

    let call = stage.calls_of("conflict").remove(0);
    assert!(call.workspace.ends_with("r1/merge"));
    // The agent finds both versions in the file, everything else merged, and is told the intention of each side.
    let found = &call.files[CHANGES];
    let at = |text: &str| found.find(text).unwrap_or_else(|| panic!("{text:?} is not in {found}"));
    assert!(at("<<<<<<<") < at("Tested with proptest.") && at("Tested with proptest.") < at("======="));
    assert!(at("=======") < at("Built on a vector.") && at("Built on a vector.") < at(">>>>>>>"));
    assert!(
        !call.files["src/lib.rs"].contains("todo!()") && call.files["tests/properties.rs"].contains("prop_examples")
    );
    let told = ["- `README.md`", "A vector with the top at its end", "Capacities from zero up"];
    assert!(told.iter().all(|text| call.prompt.contains(text)), "{}", call.prompt);

    assert_eq!(std::fs::read_to_string(stage.repository().join(CHANGES)).unwrap(), both);
    let log = stage.git(&["log", "-2", "--format=%s", "main"]);
    assert_eq!(log, "merge: tests and implementation together\nmerge: conflicts resolved in README.md");
    // HY-251: no landed file has a conflict marker.
    let range = format!("{}..main", stage.base);
    assert!(!stage.git(&["log", "--patch", &range]).contains("<<<<<<<"));
}

/// HY-252: remaining markers are detected, whatever the agent says; so is a change of another file. HY-167: before
/// anything is committed.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_resolved_does_not_land() {
    let left = notes("<<<<<<< tests\nTested with proptest.\n=======\nBuilt on a vector.\n>>>>>>> impl");
    let mut elsewhere = resolver(&notes("Both."));
    elsewhere.write("tests/properties.rs", "#[test]\nfn prop_examples() {}\n");
    let (left, elsewhere) = (stage(script().then(resolver(&left))).await, stage(script().then(elsewhere)).await);
    let (with_markers, with_tests) = tokio::join!(left.run(), elsewhere.run());
    let (_, failure) = left.assert_not_landed(&with_markers);
    assert_eq!(failure, HybridFailure::ConflictMarkers { files: vec![CHANGES.to_owned()] });
    let (_, failure) = elsewhere.assert_not_landed(&with_tests);
    let violation =
        PathViolation { role: Role::Conflict, path: "tests/properties.rs".to_owned(), territory: Territory::Tests };
    assert_eq!(failure, HybridFailure::BarrierBroken { violations: vec![violation] });
    for stage in [left, elsewhere] {
        let kept = stage.archive();
        assert!(!kept.iter().any(|(_, subject)| subject.contains("conflicts resolved")), "{kept:?}");
        assert_eq!(stage.trace().routes().last().unwrap(), "conflict → exit");
    }
}

/// HY-251: if no agent may resolve a conflict, the conflict is the reason of the run's end. A side that brings markers of its own is
/// detected, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_that_nobody_resolves_is_the_reason() {
    let mut disabled = stage(script()).await;
    disabled.task.resolve_conflicts = false;
    let marked = script().with("impl", |turn| {
        let line = "<<<<<<< ours\nBuilt on a vector.\n=======\n>>>>>>> theirs\n";
        turn.write("src/notes.md", line);
    });
    let marked = stage(marked.without("tests").then(AgentScript::of(Scenario::Happy).turn("tests"))).await;
    let (first, second) = tokio::join!(disabled.run(), marked.run());
    let (_, failure) = disabled.assert_not_landed(&first);
    let reason = "the task says that nobody is to resolve them".to_owned();
    assert_eq!(failure, HybridFailure::MergeConflict { files: vec![CratePath::new(CHANGES).unwrap()], reason });
    assert!(disabled.calls_of("conflict").is_empty());
    // HY-252
    let (_, failure) = marked.assert_not_landed(&second);
    assert_eq!(failure, HybridFailure::ConflictMarkers { files: vec!["src/notes.md".to_owned()] });
}

/// HY-98, CON-84: an agent that cannot resolve the conflict ends the run with its report as the reason.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_cannot_resolve_a_conflict_says_why() {
    let text = "One says vector, the other array.";
    let mut blocked = resolver(&notes("Both."));
    blocked.answer["blocker"] = json!(text);
    let stage = stage(script().then(blocked)).await;
    let ended = stage.run().await;
    let (_, failure) = stage.assert_not_landed(&ended);
    assert_eq!(failure, HybridFailure::AgentBlocked { node: "conflict".to_owned(), text: text.to_owned() });
    assert_eq!(stage.trace().routes().last().unwrap(), "conflict → exit");
}
