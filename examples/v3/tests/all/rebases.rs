//! Siblings that have changed the same lines: the one that merges later is rebased, and its agent adapts, or its planner is
//! asked.

use crate::small::{
    Act, AgentScript, Who, append, change_toolchain, go_tests_unless, plan, project, scaffold, scaffolding, shell,
    spec, test_run, write,
};
use crate::test_run::TestRun;
use crate::tree::family;
use interlocking::graph::Graph as _;
use interlocking::prelude::*;
use interlocking::runtime::EventKind;
use interlocking::toolchain::CommandLine;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use v3::graph::V3;
use v3::types::outcome::V3Outcome;

/// Both children write the same lines with their scaffold, once; `a` merges later, and its rebaser acts and answers like this.
pub(crate) fn clash(shared: &str, text: fn(&str) -> String, answer: &Value, acts: &[Act]) -> AgentScript {
    let mut script = AgentScript::default().always(Who::Rebaser, "top/a", answer, acts);
    for child in ["a", "b"] {
        let id = format!("top/{child}");
        let mut scaffolded = scaffolding(&id);
        scaffolded.insert(0, write(shared, &text(child)));
        script = script.once(Who::Planner, &id, &scaffold(&id, &[], &[plan(child)]), &scaffolded);
    }
    AgentScript::with(script, family())
}

/// The same with children `a` and `b`, where `a` has a child `x`.
pub(crate) fn clash_above_x() -> AgentScript {
    let mut script = AgentScript::default();
    for (id, children, criteria) in [("top/a", &["x"][..], &["a", "x"][..]), ("top/b", &[], &["b"])] {
        let mut scaffolded = scaffolding(id);
        scaffolded.insert(0, write("shared.txt", &by(id)));
        let tests: Vec<Value> = criteria.iter().map(|criterion| plan(criterion)).collect();
        script = script.once(Who::Planner, id, &scaffold(id, children, &tests), &scaffolded);
    }
    script
        .honest("top", &["a+x", "b"])
        .honest_with("top/a", &["a", "x"].map(str::to_owned), &["x"])
        .honest("top/a/x", &[])
        .honest("top/b", &[])
}

pub(crate) fn by(child: &str) -> String {
    format!("by {child}\n")
}

/// Whether a child has merged.
pub(crate) fn has_merged(test: &TestRun<'_>) -> bool {
    test.ended().iter().any(|(run, node)| *run != RunId::DEFAULT && node == "judge")
}

/// Runs it with this agent held until `b` has merged, and then awaits `watch`.
pub(crate) async fn held(test: &TestRun<'_>, agent: &str, watch: impl Future<Output = ()>) -> V3Outcome {
    let hold = test.agent.hold(agent);
    let watch = async {
        hold.reached().await;
        test.until("b has merged", has_merged).await;
        hold.release();
        watch.await;
    };
    tokio::join!(test.outcome(spec(&["a", "b"])), watch).0
}

/// The same with the test author of `a`.
pub(crate) async fn later(test: &TestRun<'_>, watch: impl Future<Output = ()>) -> V3Outcome {
    held(test, "test author of `top/a`", watch).await
}

/// V3-99, CON-28, V3-100, CON-29, V3-101, V3-121, V3-98, V3-27: during the rebase no other node of the run works; the sibling's
/// lines stay; the branch is adapted, and the test author is told and checks its tests again.
#[tokio::test]
async fn a_branch_is_adapted() {
    let project = project().await;
    let adaptation = json!({ "symbol": "shared", "change": "left", "reason": "The sibling's counts." });
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [adaptation] } });
    let test = test_run(&project, &clash("shared.txt", by, &adapted, &[]));
    let rebaser = test.agent.hold("rebaser of `top/a`");
    let outcome = later(&test, async {
        rebaser.reached().await;
        let prompt = &test.prompts("rebaser of")[0];
        let quoted: Vec<&str> = prompt.split('`').collect();
        let (own, parent) = (quoted[3], quoted[5]);
        // V3-100: it is based on the parent's current branch.
        let head = project.git(&["rev-parse", parent]);
        assert_eq!(project.git(&["merge-base", own, parent]), head, "{prompt}");
        assert!(prompt.contains(head.trim()), "{prompt}");
        // CON-29: everything is in one repository.
        assert_eq!(project.git(&["remote"]), "");
        // V3-99: no other node of the run works.
        let run = test.run_of("top/a").await;
        let started = test.events().into_iter().filter(|event| event.run == run).filter_map(|event| match event.kind {
            EventKind::NodeStarted(node) => Some(node.node.to_string()),
            _ => None,
        });
        let mut at_work: Vec<String> = started.collect();
        for ended in test.nodes_of(&run) {
            at_work.remove(at_work.iter().position(|node| *node == ended).unwrap());
        }
        assert_eq!(at_work, ["rebaser"]);
        rebaser.release();
    })
    .await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = test.prompts("rebaser of");
    assert_eq!(prompts.len(), 1);
    for words in [
        "# You are the rebaser of `top/a`",
        "where `top/b` was merged",
        "The node's own work is paused meanwhile.",
        "Impact: Trivial. Everything resolves by itself; nothing may change its meaning.",
        "- `b`: BehaviorChange: It is done.",
        "Both sides had changed the same lines of shared.txt. The sibling's merged code wins",
    ] {
        assert!(prompts[0].contains(words), "{words}: {}", prompts[0]);
    }
    assert_eq!(project.git(&["show", "main:shared.txt"]), "by b\n");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    let at = nodes.iter().position(|node| node == "rebaser").unwrap();
    assert_eq!(nodes[at + 1], "write_tests", "{nodes:?}");
    assert!(nodes.ends_with(&["merger".to_owned(), "judge".to_owned()]), "{nodes:?}");
    let told = "## What has been adapted\n\nThe branch stands on what a sibling has merged, and was adapted to that. Look whether your tests \
                still say what they should.\n\n- `shared`: left: The sibling's counts.";
    let author = test.prompts("test author of `top/a`");
    assert!(!author[0].contains(told) && author[1].contains(told), "{}", author[1]);
    project.is_tidy();
}

/// CON-40: the runtime executes fork, barrier, children's runs and every other node of the table, and records each. The results
/// are in the places that the table names. No handler calls another.
#[tokio::test]
async fn the_runtime_executes_each_node_of_the_table() {
    let project = project().await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let test = test_run(&project, &clash("shared.txt", by, &adapted, &[]));
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let rows = &V3::net().table().nodes;
    let mut executed = BTreeSet::new();
    for run in test.journal.runs().await.unwrap() {
        for outcome in test.outcomes(&run.run).await {
            let row = rows.iter().find(|row| row.name == outcome.node).unwrap();
            let branches = row.fork.iter().flat_map(|fork| &fork.branches).flatten().map(ToString::to_string);
            let places: Vec<String> = branches.chain(row.goto.iter().map(|goto| goto.to.to_string())).collect();
            let makes: Vec<&str> = outcome.tokens.iter().map(|token| token.place.as_str()).collect();
            assert!(makes.iter().all(|made| places.iter().any(|place| place == made)), "{}: {makes:?}", row.name);
            assert_eq!(makes.len(), if row.name == "fork" { 2 } else { 1 }, "{}: {makes:?}", row.name);
            executed.insert(outcome.node);
        }
    }
    assert_eq!(executed, rows.iter().map(|row| row.name.clone()).collect::<BTreeSet<_>>());
}

/// V3-120, CON-150: if nothing had to be changed, the node goes on where it was.
#[tokio::test]
async fn a_branch_that_needs_nothing_goes_on() {
    let project = project().await;
    let clean = json!({ "RebaseClean": { "newBase": "$HEAD" } });
    let test = test_run(&project, &clash("shared.txt", by, &clean, &[]));
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    let at = nodes.iter().position(|node| node == "rebaser").unwrap();
    assert_eq!(nodes[at - 1..=at + 1], ["write_tests", "rebaser", "barrier"], "{nodes:?}");
    assert_eq!(test.prompts("test author of `top/a`").len(), 1);
    // It has named the tip of its own branch.
    let noted = test.events().into_iter().any(|event| match event.kind {
        EventKind::Note { text, .. } => text.starts_with("the agent says that the branch stands on "),
        _ => false,
    });
    assert!(noted);
    project.is_tidy();
}

/// The second prompt of the planner of `a`, after the rebase has led to a conflict. The branch is at its old base then (V3-105),
/// and the work on the new scaffold is merged (CON-26).
pub(crate) async fn asked_after(script: AgentScript) -> String {
    let project = project().await;
    let test = test_run(&project, &script);
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let run = test.run_of("top/a").await;
    let outcomes = test.outcomes(&run).await;
    let at = outcomes.iter().position(|outcome| outcome.node == "rebaser").unwrap();
    assert_eq!(outcomes[at + 1].node, "scaffold");
    let stands = |outcomes: &[interlocking::runtime::journal::NodeOutcome]| {
        let mut commits = outcomes.iter().flat_map(|outcome| &outcome.commits);
        commits.rfind(|commit| commit.workspace == "impl").unwrap().id.clone()
    };
    // V3-105
    assert_eq!(stands(&outcomes[..=at]), stands(&outcomes[..at]));
    let subjects = project.subjects("main");
    assert_eq!(subjects.iter().filter(|subject| subject.contains("top/a")).count(), 1, "{subjects:?}");
    project.is_tidy();
    test.prompts("planner of `top/a`").swap_remove(1)
}

/// V3-122, V3-105, CON-26: if logic would have to change, the planner is asked, with the changes of both sides.
#[tokio::test]
async fn a_conflict_goes_to_the_planner() {
    let conflict = json!({ "RebaseConflict": {
        "conflictFile": "shared.txt", "ourChange": "It is ours.", "theirChange": "It is theirs.", "whyUnresolvable": "There is one.",
    } });
    let asked = asked_after(clash("shared.txt", by, &conflict, &[])).await;
    let told = "The branch does not fit what others have merged, in `shared.txt`. Here: It is ours. There: It is theirs. Both cannot be: \
                There is one.";
    assert!(asked.contains(told), "{asked}");
}

/// V3-103: an adaptation that rewrites a function is a conflict, whatever the agent says.
#[tokio::test]
async fn an_adaptation_that_rewrites_a_function_is_a_conflict() {
    let text = |child: &str| format!("pub fn who() -> char {{\n    '{child}'\n}}\n");
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let acts = [write("shared.rs", "pub fn who() -> char {\n    std::char::from_u32(99).unwrap()\n}\n"), Act::Commit];
    let asked = asked_after(clash("shared.rs", text, &adapted, &acts)).await;
    assert!(asked.contains("Here: what was adapted is more than mechanical."), "{asked}");
    assert!(asked.contains("`who`"), "{asked}");
}

/// V3-103: and an adaptation in which a file is not Rust.
#[tokio::test]
async fn an_adaptation_that_cannot_be_read_is_a_conflict() {
    let text = |child: &str| format!("pub fn who() -> char {{\n    '{child}'\n}}\n");
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let asked = asked_after(clash("shared.rs", text, &adapted, &[write("shared.rs", "fn {\n"), Act::Commit])).await;
    assert!(asked.contains("Here: what was adapted is more than mechanical."), "{asked}");
    assert!(asked.contains("shared.rs:1:"), "{asked}");
}

/// V3-102, V3-103: so is an adaptation that changes a test: the node is checked by it.
#[tokio::test]
async fn an_adaptation_that_changes_a_test_is_a_conflict() {
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    for path in ["checks/contract_a.sh", "checks/helper.sh"] {
        let asked = asked_after(clash("shared.txt", by, &adapted, &[write(path, "true\n"), Act::Commit])).await;
        assert!(asked.contains("Here: what was adapted is more than mechanical."), "{asked}");
        assert!(asked.contains(&format!("tests of this node are not what they were: {path}\n")), "{asked}");
    }
}

/// V3-44, V3-103: a contract that a sibling's has replaced is not accepted, although nothing else was changed.
#[tokio::test]
async fn a_contract_that_gave_way_is_a_conflict() {
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let asked = asked_after(clash("checks/contract_a.sh", |child| format!("true # {child}\n"), &adapted, &[])).await;
    assert!(asked.contains("tests of this node are not what they were: checks/contract_a.sh\n"), "{asked}");
}

/// V3-102, V3-80: a changed signature of the interface is for the planner, as nobody else may change the interface.
#[tokio::test]
async fn an_adaptation_that_changes_the_interface_is_a_conflict() {
    let mut answer = scaffold("top/a", &[], &[plan("a")]);
    answer["InitWork"]["interfaceFile"] = json!("src/a.rs");
    let signature = |returns: &str| write("src/a.rs", &format!("pub fn done() -> {returns} {{\n    1\n}}\n"));
    let acts = [&[write("shared.txt", "by a\n"), signature("u8")][..], &scaffolding("top/a")].concat();
    let script = AgentScript::default().once(Who::Planner, "top/a", &answer, &acts);
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let clash = clash("shared.txt", by, &adapted, &[signature("u16"), Act::Commit]);
    let asked = asked_after(AgentScript::with(script, clash)).await;
    assert!(asked.contains("Here: what was adapted is more than mechanical."), "{asked}");
    assert!(asked.contains("`done` is `fn done() -> u16` now; it was `fn done() -> u8`"), "{asked}");
}

/// V3-104: if tests give no verdict any more, the branch is not clean, and the agent is asked.
#[tokio::test]
async fn tests_without_a_verdict_have_to_be_adapted() {
    let project = project().await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let script =
        AgentScript::default().always(Who::Rebaser, "top/a", &adapted, &[write("adapted", "yes\n"), Act::Commit]);
    let test = TestRun::new(&project, AgentScript::with(script, family()).script(), |workbench| {
        go_tests_unless(workbench, "{ test ! -e checks/contract_a.sh || test ! -e checks/b.sh || test -e adapted; }");
    });
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = test.prompts("rebaser of `top/a`");
    assert_eq!(prompts.len(), 1);
    assert!(prompts[0].contains("These tests fail now: (the tests)."), "{}", prompts[0]);
}

/// V3-102, V3-105: a scaffold that does not build there is for its planner: the tests are written on it, and an agent would adapt
/// what is implemented.
#[tokio::test]
async fn a_scaffold_that_does_not_build_on_the_new_base_is_made_again() {
    let project = project().await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let [adapts, scaffolded] = [vec![write("adapted", "yes\n"), Act::Commit], scaffolding("top/a")];
    let again = [&adapts[..1], &scaffolded].concat();
    let answer = scaffold("top/a", &[], &[plan("a")]);
    let script = AgentScript::default()
        .once(Who::Planner, "top/a", &answer, &scaffolded)
        .once(Who::Planner, "top/a", &answer, &again)
        .always(Who::Rebaser, "top/a", &adapted, &adapts);
    let test = TestRun::new(&project, AgentScript::with(script, family()).script(), |workbench| {
        shell(workbench);
        let builds = "test ! -e checks/contract_a.sh || test ! -e checks/b.sh || test -e adapted";
        change_toolchain(workbench, |toolchain| toolchain.build_command = CommandLine::new("sh", &["-c", builds]));
    });
    let outcome = later(&test, async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(test.prompts("rebaser of `top/a`"), [""; 0]);
    let asked = &test.prompts("planner of `top/a`")[1];
    let told = "The branch does not fit what others have merged. Here: no line of this branch clashes. There: top/b was merged. \
                Both cannot be: the scaffold does not fit what is there now; failing: (the build)";
    assert!(asked.contains(told), "{asked}");
    project.is_tidy();
}

/// V3-103, V3-104: so is an adaptation after which a test fails that passed before.
#[tokio::test]
async fn an_adaptation_after_which_tests_fail_is_a_conflict() {
    let project = project().await;
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let test = test_run(&project, &clash("shared.txt", by, &adapted, &[write("src/a.txt", "gone\n"), Act::Commit]));
    let outcome = held(&test, "reviewer of `top/a`", async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let asked = &test.prompts("planner of `top/a`")[1];
    let told = "Here: what was adapted is more than mechanical. There: top/b was merged. Both cannot be: these tests fail: (whole suite)";
    assert!(asked.contains(told), "{asked}");
    assert_eq!(project.git(&["show", "main:src/a.txt"]).lines().last(), Some("done"));
    project.is_tidy();
}

/// V3-48: an adaptation that changes the parent's interface file is a conflict, too.
#[tokio::test]
async fn an_adaptation_that_changes_the_parents_interface_is_a_conflict() {
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let acts = [append("src/top.api", "and more\n"), Act::Commit];
    let asked = asked_after(clash("shared.txt", by, &adapted, &acts)).await;
    assert!(asked.contains("your commits change interface files of the nodes above: src/top.api"), "{asked}");
}

/// V3-48, V3-91, V3-119: commits that cancel each other out need not do so on the new base: the merger refuses the change of the
/// parent's interface that is left of them.
#[tokio::test]
async fn a_change_of_the_parents_interface_that_a_rebase_makes_is_not_merged() {
    let project = project().await;
    let clean = json!({ "RebaseClean": { "newBase": "$HEAD" } });
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let more = |text: &str| [append("src/a.api", "and more\n"), append("src/x.txt", text), Act::Commit];
    let back = [write("src/a.api", "says done\n"), append("src/x.txt", "done\n"), Act::Commit];
    let scaffolded = [&[write("src/a.api", "says done\nand more\n")][..], &scaffolding("top/b")].concat();
    let script = AgentScript::default()
        .once(Who::Planner, "top/b", &scaffold("top/b", &[], &[plan("b")]), &scaffolded)
        .always(Who::Rebaser, "top/a", &clean, &[])
        .once(Who::Implementer, "top/a/x", &passed, &[&more("half\n")[..], &back].concat())
        .once(Who::Implementer, "top/a/x", &passed, &more("again\n"))
        .honest("top", &["a+x", "b"])
        .honest_with("top/a", &["a", "x"].map(str::to_owned), &["x"])
        .honest("top/a/x", &[])
        .honest("top/b", &[]);
    let test = test_run(&project, &script);
    let [sibling, reviewer] = ["planner of `top/b`", "reviewer of `top/a/x`"].map(|title| test.agent.hold(title));
    let watch = async {
        reviewer.reached().await;
        sibling.release();
        test.until("a is rebased", |test| test.ended().iter().any(|(_, node)| node == "rebaser")).await;
        reviewer.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a+x", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = test.prompts("implementer of `top/a/x`").swap_remove(1);
    let why = "ContractViolation:\n\n```\nyour commits change interface files of the nodes above: src/a.api";
    assert!(told.contains(why), "{told}");
    assert_eq!(project.git(&["show", "main:src/a.api"]), "says done\nand more\n");
}
