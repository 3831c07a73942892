//! Each loop has a budget, and a run whose budget is spent names the loop (V3-159, CON-15, CON-145).

use crate::small::{Act, AgentScript, Who, plan, planned, project, scaffold, scaffolding, spec, test_run, write};
use interlocking::agents::Nudges;
use interlocking::prelude::Outcome;
use serde_json::{Value, json};
use v3::types::outcome::{Stuck, V3Outcome};

/// Asserts the result of a run in which agents of `top` repeat one answer.
async fn stuck_in(who: Who, answer: &Value, expected: &str) {
    let project = project().await;
    let test = test_run(&project, &AgentScript::default().always(who, "top", answer, &[]).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    let V3Outcome::Stuck(Stuck { spent_loop, attempts, diagnosis, .. }) = outcome else {
        panic!("{expected}: {outcome}")
    };
    assert_eq!((spent_loop.as_deref(), attempts), (Some(expected), 5), "{diagnosis}");
    assert_eq!(diagnosis, format!("{expected} was taken as often as the table allows: times = 5"));
    project.is_tidy();
    assert_eq!(project.subjects("main"), ["Begin"]);
}

/// V3-111
#[tokio::test]
async fn more_tests() {
    let more = json!({ "MoreTests": { "critiques": [{ "file": "src/top.txt", "line": 1, "issue": "Dull.", "requiredFix": "Shine." }], "additionalTests": [] } });
    stuck_in(Who::Reviewer, &more, "review → write_tests").await;
}

/// V3-119
#[tokio::test]
async fn merge_rejected() {
    let rejected =
        json!({ "MergeRejected": { "reason": "IntegrationFailure", "details": "It clashes.", "failingTests": [] } });
    stuck_in(Who::Merger, &rejected, "merger → implement").await;
}

/// V3-109
#[tokio::test]
async fn invalid_scaffold() {
    let invalid = json!({ "InvalidScaffold": { "missingType": "Top", "expectedLocation": "src/top.api" } });
    stuck_in(Who::TestAuthor, &invalid, "write_tests → scaffold").await;
}

/// V3-115
#[tokio::test]
async fn blocked_dependency() {
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } });
    stuck_in(Who::Implementer, &blocked, "implement → scaffold").await;
}

/// V3-116
#[tokio::test]
async fn spec_ambiguity() {
    let ambiguous =
        json!({ "SpecAmbiguity": { "specSentence": "one", "contradictionTrace": "Two.", "question": "Which?" } });
    stuck_in(Who::Implementer, &ambiguous, "implement → scaffold").await;
}

/// CON-143, V3-159: an agent whose answers stay wrong is told so four times; with the fifth it is stuck.
#[tokio::test]
async fn answers_that_stay_wrong() {
    const NO_COMMIT: &str = "1111111111111111111111111111111111111111";
    let mut elsewhere = scaffold("top", &[], &planned(&[]));
    elsewhere["InitWork"]["scaffoldCommit"] = json!(NO_COMMIT);
    let ready = json!({ "TestsReady": { "testsCommit": NO_COMMIT, "testFiles": [], "pendingCriteria": [] } });
    let passed = json!({ "TestsPassed": { "commitHash": NO_COMMIT, "iterations": 1, "passedTests": [] } });
    for (who, node, title, answer) in [
        (Who::Planner, "scaffold", "planner", elsewhere),
        (Who::TestAuthor, "write_tests", "test author", ready),
        (Who::Implementer, "implement", "implementer", passed),
    ] {
        let project = project().await;
        let test = test_run(&project, &AgentScript::default().always(who, "top", &answer, &[]).honest("top", &[]));
        let outcome = test.outcome(spec(&[])).await;
        let V3Outcome::Stuck(Stuck { spent_loop, attempts, diagnosis, .. }) = outcome else { panic!("{outcome}") };
        assert_eq!((spent_loop, attempts), (Some(format!("{node} → {node}")), 5), "{diagnosis}");
        assert!(diagnosis.contains(&format!("you name the commit {NO_COMMIT}")), "{diagnosis}");
        assert_eq!(test.prompts(title).len(), 5);
        assert_eq!(project.subjects("main"), ["Begin"]);
        project.is_tidy();
    }
}

/// V3-141, V3-163: a child that its judge refuses again and again is stuck; its parent is told, and goes on without it.
#[tokio::test]
async fn judge() {
    let project = project().await;
    let reject = json!({ "Reject": { "reason": "It does not fit.", "missingCriteria": ["a"] } });
    let script = AgentScript::default().always(Who::Judge, "top/a", &reject, &[]);
    let test = test_run(&project, &script.honest("top", &["a", "b"]).honest("top/a", &[]).honest("top/b", &[]));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompt = &test.prompts("implementer of `top`")[0];
    assert!(
        prompt.contains("- top/a: stuck: judge → review was taken as often as the table allows: times = 5;"),
        "{prompt}"
    );
    // V3-142: the judge's words are in the review.
    let reviews = test.prompts("reviewer of `top/a`");
    assert_eq!(reviews.len(), 6);
    assert!(reviews[1].contains("## The parent has refused it\n\nIt does not fit. Missing: a."), "{}", reviews[1]);
    assert!(!project.git(&["show", "main:src/top.txt"]).is_empty());
    assert_eq!(project.subjects("main").iter().filter(|subject| subject.contains("top/a")).count(), 0);
}

/// V3-45: a child's question goes to its parent's planner, again and again, until the budget is spent.
#[tokio::test]
async fn clarification_of_a_child() {
    let project = project().await;
    let needed = json!({ "ClarificationNeeded": {
        "question": "Done with what?", "ambiguityReference": "done", "specSentence": "The criterion a holds.",
    } });
    let script = AgentScript::default().always(Who::Planner, "top/a", &needed, &[]);
    let test = test_run(&project, &script.honest("top", &["a", "b"]).honest("top/b", &[]));
    let _author = test.agent.hold("test author of `top`");
    let outcome = test.outcome(spec(&["a", "b"])).await;
    let V3Outcome::Stuck(Stuck { spent_loop, .. }) = outcome else { panic!("{outcome}") };
    assert_eq!(spent_loop.as_deref(), Some("integrate → scaffold"));
    // V3-160, CON-11: tests for an earlier scaffold are not waited for.
    let authors = test.agent.calls_to("test author of `top`");
    assert!(authors.len() > 1 && authors[0].answered_in.is_none(), "{}", authors.len());
    let asked = test.prompts("planner of `top`");
    assert_eq!(asked.len(), 6);
    let told = "It says: \"The criterion a holds.\". top/a cannot begin: done The question is: Done with what?";
    assert!(!asked[0].contains(told) && asked[1..].iter().all(|prompt| prompt.contains(told)), "{}", asked[1]);
    // V3-160, CON-11: the child that has ended well is kept; the one that asks is run again on each scaffold.
    assert_eq!(["a", "b"].map(|child| test.prompts(&format!("planner of `top/{child}`")).len()), [6, 1]);
}

/// CON-26, V3-122: tests that never fit the children's merged work are sent back to the planner until the budget is spent: each
/// time another child has written to their file.
#[tokio::test]
async fn tests_that_never_fit() {
    let project = project().await;
    let children = ["a", "b", "c", "d", "e", "f"];
    let mut script = AgentScript::default();
    for child in children {
        let id = format!("top/{child}");
        script = script.once(Who::Planner, "top", &scaffold("top", &[child], &planned(&children)), &scaffolding("top"));
        let mut acts = scaffolding(&id);
        acts.insert(0, write("checks/top.sh", &format!("true # {child}\n")));
        script = script.once(Who::Planner, &id, &scaffold(&id, &[], &[plan(child)]), &acts);
    }
    let script = children
        .iter()
        .fold(script.honest("top", &children), |script, child| script.honest(&format!("top/{child}"), &[]));
    let test = test_run(&project, &script);
    let outcome = test.outcome(spec(&children)).await;
    let V3Outcome::Stuck(Stuck { spent_loop, attempts, .. }) = outcome else { panic!("{outcome}") };
    assert_eq!((spent_loop.as_deref(), attempts), (Some("barrier → scaffold"), 5));
    assert_eq!(test.prompts("planner of `top`").len(), 6);
    assert_eq!(project.subjects("main"), ["Begin"]);
    project.is_tidy();
}

/// CON-142, CON-15: a candidate that is never based on the parent's current branch, because the branch moves, is made and judged
/// again until the budget is spent; the parent goes on without it.
#[tokio::test]
async fn candidates_that_come_too_late() {
    let project = project().await;
    let family = AgentScript::default().honest("top", &["a", "b"]).honest("top/a", &[]).honest("top/b", &[]);
    let test = test_run(&project, &family);
    let (judge, reviewer) = (test.agent.hold("judge what `top/a`"), test.agent.hold("reviewer of `top/b`"));
    let watch = async {
        reviewer.reached().await;
        judge.reached().await;
        let stood = project.git(&["rev-parse", "run/impl"]);
        let elsewhere = project.git(&[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "commit-tree",
            "run/impl^{tree}",
            "-p",
            "run/impl",
            "-m",
            "moved",
        ]);
        project.git(&["update-ref", "refs/heads/run/impl", elsewhere.trim()]);
        judge.release();
        let a = test.run_of("top/a").await;
        test.until("a is stuck", |test| test.nodes_of(&a).iter().filter(|node| *node == "judge").count() == 17).await;
        project.git(&["update-ref", "refs/heads/run/impl", stood.trim()]);
        reviewer.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(test.prompts("judge what `top/a`").len(), 17);
    let told = &test.prompts("implementer of `top`")[0];
    let stuck = "- top/a: stuck: judge → merger was taken as often as the table allows: times = 16;";
    assert!(told.contains(stuck), "{told}");
    assert_eq!(project.subjects("main").iter().filter(|subject| subject.contains("top/a")).count(), 0);
}

/// Asserts that a child whose lines each of so many siblings changes, one after the other, is rebased as often, and then is stuck;
/// its parent goes on without it.
async fn overtaken(many: usize, answer: &Value, stuck: &str) {
    let project = project().await;
    let siblings: Vec<String> = (1..=many).map(|number| format!("b{number}")).collect();
    let children: Vec<&str> = std::iter::once("a").chain(siblings.iter().map(String::as_str)).collect();
    let mut script = AgentScript::default().always(Who::Rebaser, "top/a", answer, &[]);
    let shared = |by: &str, name: &str| write(&format!("shared/{name}.txt"), &format!("by {by}\n"));
    for child in &children {
        let id = format!("top/{child}");
        let own: Vec<Act> = match *child {
            "a" => siblings.iter().map(|sibling| shared("a", sibling)).collect(),
            sibling => vec![shared(sibling, sibling)],
        };
        let acts = [own, scaffolding(&id)].concat();
        script = script.once(Who::Planner, &id, &scaffold(&id, &[], &[plan(child)]), &acts);
    }
    let script = children
        .iter()
        .fold(script.honest("top", &children), |script, child| script.honest(&format!("top/{child}"), &[]));
    let test = test_run(&project, &script);
    let reviewers: Vec<_> =
        siblings.iter().map(|sibling| test.agent.hold(&format!("reviewer of `top/{sibling}`"))).collect();
    let mut author = test.agent.hold("test author of `top/a`");
    let watch = async {
        for reviewer in &reviewers {
            reviewer.reached().await;
        }
        for (sibling, reviewer) in siblings.iter().zip(&reviewers) {
            author.reached().await;
            reviewer.release();
            let run = test.run_of(&format!("top/{sibling}")).await;
            test.until("it is merged", |test| test.nodes_of(&run).iter().any(|node| node == "judge")).await;
            let next = test.agent.hold("test author of `top/a`");
            author.release();
            author = next;
        }
    };
    // Agents that are held give no output for as long as the test takes.
    let run = test.run().with_nudges(Nudges::NONE).start(spec(&children).into());
    let (ended, ()) = tokio::join!(run, watch);
    let ended = ended.unwrap().outcome;
    assert!(matches!(ended, Outcome::Finished(V3Outcome::Merged(_))), "{ended:?}");
    assert_eq!(test.prompts("rebaser of `top/a`").len(), many);
    let told = &test.prompts("implementer of `top`")[0];
    assert!(told.contains(&format!("- top/a: stuck: {stuck};")), "{told}");
    project.is_tidy();
}

/// V3-121, CON-15: a branch that has to be adapted again and again has its tests checked again sixteen times.
#[tokio::test]
async fn adapted_again_and_again() {
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    overtaken(17, &adapted, "rebaser → write_tests was taken as often as the table allows: times = 16").await;
}

/// V3-159, V3-122: the planner is asked five times about a branch that never fits.
#[tokio::test]
async fn rebase_conflict() {
    let conflict = json!({ "RebaseConflict": {
        "conflictFile": "shared.txt", "ourChange": "Ours.", "theirChange": "Theirs.", "whyUnresolvable": "There is one.",
    } });
    overtaken(6, &conflict, "rebaser → scaffold was taken as often as the table allows: times = 5").await;
}
