//! What runs concurrently, and what waits for what.

use crate::project::Project;
use crate::rebases::clash_above_x;
use crate::small::{AgentScript, Who, project, scaffold, scaffolding, spec, test_run};
use crate::test_run::TestRun;
use crate::tree::family;
use crate::watched::{Call, Hold};
use interlocking::agents::Script;
use interlocking::prelude::*;
use interlocking::runtime::journal::{NodeOutcome, ending};
use interlocking::runtime::{Event, EventKind};
use serde_json::json;
use std::time::Duration;
use v3::types::outcome::V3Outcome;

fn is_merged(outcome: &V3Outcome) {
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
}

/// The calls of implementers of the root so far.
fn implementers(test: &TestRun<'_>) -> Vec<Call> {
    test.agent.calls_to("implementer of `top`")
}

/// V3-03, V3-106, PRG-17, PRG-29, EVO-02: the tests and each child begin before any of them has ended.
#[tokio::test]
async fn tests_and_children_begin_at_once() {
    let project = project().await;
    let test = test_run(&project, &family());
    let holds =
        ["test author of `top`", "planner of `top/a`", "planner of `top/b`"].map(|title| test.agent.hold(title));
    let watch = async {
        for hold in &holds {
            hold.reached().await;
        }
        assert_eq!(test.path(), ["scaffold", "fork"], "nothing that came after has ended");
        // V3-125: no implementer is asked that would have to wait.
        assert!(implementers(&test).is_empty());
        holds.iter().for_each(Hold::release);
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    is_merged(&outcome);
}

/// V3-07, V3-73, V3-125, PRG-30, CON-04: in whichever order tests and children end, the implementer is asked when both are there.
#[tokio::test]
async fn the_implementer_waits_for_tests_and_children() {
    for (late, early) in [("test author of `top`", "integrate"), ("judge what `top/b`", "write_tests")] {
        let project = project().await;
        let test = test_run(&project, &family());
        let hold = test.agent.hold(late);
        let watch = async {
            hold.reached().await;
            test.until(early, |test| test.path().iter().any(|node| node == early)).await;
            assert!(
                implementers(&test).is_empty() && !test.path().contains(&"barrier".to_owned()),
                "{:?}",
                test.path()
            );
            hold.release();
        };
        let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
        is_merged(&outcome);
        assert_eq!(implementers(&test).len(), 1);
    }
}

/// The number of executions of `node` in a run that have begun.
pub(crate) fn begun(test: &TestRun<'_>, run: &RunId, node: &str) -> usize {
    let is_it = |event: &Event| match &event.kind {
        EventKind::NodeStarted(begun) => event.run == *run && begun.node == node,
        _ => false,
    };
    test.events().iter().filter(|event| is_it(event)).count()
}

/// CON-142, V3-139, CON-32, V3-09, V3-97: while a candidate is made and judged, no sibling is merged: a sibling that is ready
/// waits, is rebased, and its candidate is made and judged once, with what was merged before it.
#[tokio::test]
async fn siblings_are_merged_one_after_the_other() {
    let project = project().await;
    let test = test_run(&project, &family());
    let (reviewer, judge) = (test.agent.hold("reviewer of `top/b`"), test.agent.hold("judge what `top/a`"));
    let watch = async {
        reviewer.reached().await;
        judge.reached().await;
        let stood = project.git(&["rev-parse", "run/impl"]);
        reviewer.release();
        let b = test.run_of("top/b").await;
        test.until("b is ready", |test| begun(test, &b, "merge_queue") == 1).await;
        // It would be merged within this time if it did not have to wait.
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!((begun(&test, &b, "merger"), project.git(&["rev-parse", "run/impl"])), (0, stood));
        judge.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    is_merged(&outcome);
    let judged = ["a", "b"].map(|child| test.prompts(&format!("judge what `top/{child}`")));
    assert_eq!(judged.each_ref().map(Vec::len), [1, 1]);
    let heard = "## What its siblings have merged\n\n- top/a: `a` (It is done.)";
    assert!(judged[1][0].contains(heard), "{}", judged[1][0]);
    let nodes = test.nodes_of(&test.run_of("top/b").await);
    let way = ["review", "merge_queue", "rebaser", "merge_queue", "merger", "judge"];
    assert!(nodes.ends_with(&way.map(str::to_owned)), "{nodes:?}");
    assert_eq!(project.subjects("main").len(), 5);
    project.is_tidy();
}

/// CON-41, EVO-07: the child that is done first is merged first, while others work; what needs all children waits for all.
#[tokio::test]
async fn who_is_done_first_is_merged_while_others_are_at_work() {
    for (early, late) in [("a", "b"), ("b", "a")] {
        let project = project().await;
        let test = test_run(&project, &family());
        let planner = test.agent.hold(&format!("planner of `top/{late}`"));
        let watch = async {
            planner.reached().await;
            let merged = format!("feat(top/{early}): implement\n");
            test.until("it is merged", |_| project.git(&["log", "-1", "--format=%s", "run/impl"]) == merged).await;
            let early = test.run_of(&format!("top/{early}")).await;
            test.until("it has ended", |test| test.nodes_of(&early).iter().any(|node| node == "judge")).await;
            // The step after all children would begin within this time.
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert_eq!(test.path(), ["scaffold", "fork", "write_tests"]);
            planner.release();
        };
        let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
        is_merged(&outcome);
        assert_eq!(test.path()[3..5], ["children", "integrate"]);
        let subjects = project.subjects("main");
        assert_eq!(subjects[1..3], [late, early].map(|child| format!("feat(top/{child}): implement")));
    }
}

/// CON-142, CON-11, V3-160: if the parent's scaffold is made again while a child is judged, the child is kept. Its candidate is not
/// based on the new scaffold, and is made and judged again.
#[tokio::test]
async fn a_candidate_for_an_earlier_scaffold_is_made_again() {
    let project = project().await;
    let invalid = json!({ "InvalidScaffold": { "missingType": "Top", "expectedLocation": "src/top.api" } });
    let test = test_run(
        &project,
        &AgentScript::with(AgentScript::default().once(Who::TestAuthor, "top", &invalid, &[]), family()),
    );
    let (author, judge) = (test.agent.hold("test author of `top`"), test.agent.hold("judge what `top/a`"));
    let planner = test.agent.hold("planner of `top/b`");
    let watch = async {
        author.reached().await;
        judge.reached().await;
        planner.reached().await;
        // The judge does not answer before everything is stopped.
        author.release();
        planner.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    is_merged(&outcome);
    assert_eq!(test.prompts("planner of `top`").len(), 2);
    assert_eq!(test.prompts("planner of `top/a`").len(), 1, "it is kept");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    assert!(nodes.ends_with(&["merger", "judge", "merger", "judge"].map(str::to_owned)), "{nodes:?}");
    let subjects = project.subjects("main");
    assert_eq!(subjects.iter().filter(|subject| subject.contains("top/a")).count(), 1, "{subjects:?}");
    project.is_tidy();
}

/// The three siblings of a root, of which `c` begins once `a` and `b` are merged.
const SIBLINGS: [&str; 3] = ["a", "b", "c"];

async fn c_comes_last(project: &Project) -> TestRun<'_> {
    let script = SIBLINGS.iter().fold(AgentScript::default().honest("top", &SIBLINGS), |script, child| {
        script.honest(&format!("top/{child}"), &[])
    });
    let test = test_run(project, &script);
    let author = test.agent.hold("test author of `top/c`");
    let watch = async {
        author.reached().await;
        test.until("a and b", |test| test.ended().iter().filter(|(_, node)| node == "judge").count() == 2).await;
        author.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&SIBLINGS)), watch);
    is_merged(&outcome);
    test
}

/// V3-97, V3-139, CON-15: a child that waits for its turn while several others merge is rebased once, onto all of it, and is told
/// of each.
#[tokio::test]
async fn who_waits_is_rebased_once_onto_all_that_was_merged() {
    let project = project().await;
    let test = c_comes_last(&project).await;
    let outcomes = test.outcomes(&test.run_of("top/c").await).await;
    let rebasers: Vec<_> = outcomes.iter().filter(|outcome| outcome.node == "rebaser").collect();
    let moved: Vec<_> =
        rebasers.iter().map(|rebaser| rebaser.commits.iter().any(|commit| commit.workspace == "impl")).collect();
    assert_eq!(moved, [false, true]);
    let judged = &test.prompts("judge what `top/c`")[0];
    assert!(judged.contains("- top/a: `a` (It is done.)") && judged.contains("- top/b: `b` (It is done.)"), "{judged}");
}

/// V3-160, CON-11, CON-10: another scaffold keeps an unchanged child, with its merged work, and cancels a changed one.
#[tokio::test]
async fn another_scaffold_keeps_the_children_that_are_as_they_were() {
    let project = project().await;
    let invalid = json!({ "InvalidScaffold": { "missingType": "Top", "expectedLocation": "src/top.api" } });
    let children = ["a", "b"];
    let mut answer = scaffold("top", &children, &crate::small::planned(&children));
    let first = answer.clone();
    answer["InitWork"]["childSpecs"][1]["description"] = json!("Says it aloud.");
    let script = AgentScript::default()
        .once(Who::Planner, "top", &first, &scaffolding("top"))
        .always(Who::Planner, "top", &answer, &scaffolding("top"))
        .once(Who::TestAuthor, "top", &invalid, &[]);
    let test = test_run(&project, &AgentScript::with(script, family()));
    let (author, planner) = (test.agent.hold("test author of `top`"), test.agent.hold("planner of `top/b`"));
    let watch = async {
        author.reached().await;
        planner.reached().await;
        let is_merged =
            |test: &TestRun<'_>| test.ended().iter().any(|(run, node)| *run != RunId::DEFAULT && node == "judge");
        test.until("a", is_merged).await;
        // `b` stays where it is: it is never released.
        author.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&children)), watch);
    is_merged(&outcome);
    assert_eq!(test.agent.calls_to("planner of `top/a`").len(), 1, "it is kept");
    let of_b = test.agent.calls_to("planner of `top/b`");
    assert_eq!((of_b.len(), of_b[0].answered_in.is_some()), (2, false), "it is cancelled, and the other one begins");
    assert!(of_b[1].prompt.contains("Says it aloud."), "{}", of_b[1].prompt);
    let subjects = project.subjects("main");
    assert_eq!(subjects.iter().filter(|subject| subject.contains("top/a")).count(), 1, "{subjects:?}");
    assert_eq!(project.git(&["show", "main:src/a.txt"]), "stub\ndone\n");
    project.is_tidy();
}

/// V3-129, V3-136, EVO-05, CON-143: a test author without output does not leave children and barrier waiting: all of them end.
#[tokio::test]
async fn a_silent_test_author_ends_all() {
    let project = project().await;
    let silent = "[[turn]]\nagent = \"tdd\"\ncontains = [\"test author of `top`\"]\ntimes = \"any\"\ntext = \"Hm.\"\n\
                  [[turn]]\nagent = \"tdd\"\ncontains = [\"REMINDER\"]\ntimes = \"any\"\ntext = \"Hm.\"\n";
    let script = Script::parse("a test's script", &(silent.to_owned() + family().text())).unwrap();
    let test = TestRun::new(&project, script, crate::small::shell);
    let (author, planner) = (test.agent.hold("test author of `top`"), test.agent.hold("planner of `top/b`"));
    let watch = async {
        author.reached().await;
        planner.reached().await;
        author.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Stuck(_)), "{outcome}");
    assert_eq!(test.path(), ["scaffold", "fork", "write_tests"], "children and barrier have ended with it");
    assert_eq!(project.subjects("main"), ["Begin"]);
    project.is_tidy();
}

/// V3-129, V3-136, EVO-05, CON-143: a rebaser without output ends its node, with the children that work; the nodes above go on.
#[tokio::test]
async fn a_silent_rebaser_ends_its_node_and_what_is_below() {
    let project = project().await;
    let silent = "[[turn]]\nagent = \"rebaser\"\ntimes = \"any\"\ntext = \"Hm.\"\n";
    let script = Script::parse("a test's script", &(silent.to_owned() + clash_above_x().text())).unwrap();
    let test = TestRun::new(&project, script, crate::small::shell);
    let [of_b, of_x] = ["planner of `top/b`", "planner of `top/a/x`"].map(|title| test.agent.hold(title));
    let watch = async {
        of_b.reached().await;
        of_x.reached().await;
        // The agent of `x` does not answer before everything is stopped.
        of_b.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a+x", "b"])), watch);
    is_merged(&outcome);
    let (a, x) = (test.run_of("top/a").await, test.run_of("top/a/x").await);
    let stuck = test.result_of(&a).await.unwrap();
    assert!(matches!(stuck, V3Outcome::Stuck(_)), "{stuck}");
    assert!(test.nodes_of(&a).ends_with(&["rebaser".to_owned()]), "{:?}", test.nodes_of(&a));
    assert_eq!(ending(&test.journal.load(&x).await.unwrap()), Some("cancelled"));
    assert_eq!(project.git(&["show", "main:shared.txt"]), "by top/b\n");
    project.is_tidy();
}

/// CON-147, V3-97: a rebased node tells its own children, which work meanwhile; a child whose planner is being asked is moved,
/// too.
#[tokio::test]
async fn the_children_of_a_node_that_was_rebased_follow() {
    let project = project().await;
    let script = AgentScript::default()
        .honest("top", &["a+x", "b"])
        .honest_with("top/a", &["a".to_owned(), "x".to_owned()], &["x"])
        .honest("top/a/x", &[])
        .honest("top/b", &[]);
    let test = test_run(&project, &script);
    let hold = test.agent.hold("planner of `top/a/x`");
    let watch = async {
        hold.reached().await;
        test.until("a is rebased", |test| test.ended().iter().any(|(_, node)| node == "rebaser")).await;
        hold.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a+x", "b"])), watch);
    is_merged(&outcome);
    for id in ["top/a", "top/a/x"] {
        let nodes = test.nodes_of(&test.run_of(id).await);
        assert_eq!(nodes.iter().filter(|node| *node == "rebaser").count(), 1, "{id}: {nodes:?}");
    }
    // The tests of `x` were written on the new base, after `b`.
    let x = test.run_of("top/a/x").await;
    let tests = test.outcomes(&x).await.into_iter().find(|outcome| outcome.node == "write_tests").unwrap();
    let tests = &tests.commits.iter().find(|commit| commit.workspace == "tests").unwrap().id;
    assert!(project.git(&["show", &format!("{tests}:src/b.txt")]).contains("done"));
    assert_eq!(project.git(&["rev-list", "--merges", "main"]), "");
    project.is_tidy();
}

/// V3-151, V3-93, V3-97, V3-118, EVO-13: of three siblings, the first merge is reported to two, the second to one, and the last
/// to none; a sibling with two reports gets them in the order of the merges.
#[tokio::test]
async fn siblings_hear_of_merges_in_their_order() {
    let project = project().await;
    let test = c_comes_last(&project).await;
    let told = |outcomes: Vec<NodeOutcome>| outcomes.iter().map(|outcome| outcome.posted.len()).sum::<usize>();
    let mut told_by = Vec::new();
    for child in SIBLINGS {
        told_by.push(told(test.outcomes(&test.run_of(&format!("top/{child}")).await).await));
    }
    told_by.sort_unstable();
    assert_eq!(told_by, [0, 1, 2]);
    let c = test.run_of("top/c").await;
    let heard = test.memories(&c, "integration").await.pop().unwrap();
    let heard: Vec<&str> =
        heard["heard"].as_array().unwrap().iter().map(|event| event["author"].as_str().unwrap()).collect();
    let merged = project.subjects("main");
    let merged: Vec<&str> =
        merged.iter().rev().filter_map(|subject| subject.strip_prefix("feat(")?.strip_suffix("): implement")).collect();
    assert_eq!((heard.as_slice(), merged.len()), (&merged[..2], 4));
}
