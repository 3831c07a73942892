//! What agents have said is heard by the next one, also if the branch is adapted first.

use crate::project::Project;
use crate::rebases::{by, clash, has_merged, held};
use crate::small::{Act, AgentScript, Who, append, plan, project, scaffold, scaffolding, spec, test_run, write};
use crate::tree::family;
use interlocking::cli::repository::EmbeddedFile;
use serde_json::json;
use v3::types::outcome::V3Outcome;

/// V3-158, V3-156: what a review has asked for is not lost if the branch is adapted before it is done.
#[tokio::test]
async fn a_review_is_heard_after_a_rebase() {
    let project = project().await;
    let more = json!({ "MoreTests": {
        "critiques": [{ "file": "src/a.txt", "line": 3, "issue": "Too quiet.", "requiredFix": "Speak up." }],
        "additionalTests": [{ "criterionId": "a", "plannedTestName": "a_is_loud", "approach": "Listens." }],
    } });
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let script = AgentScript::default().once(Who::Reviewer, "top/a", &more, &[]);
    let test = test_run(&project, &AgentScript::with(script, clash("shared.txt", by, &adapted, &[])));
    let outcome = held(&test, "reviewer of `top/a`", async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    assert!(nodes.windows(3).any(|way| way == ["review", "rebaser", "write_tests"]), "{nodes:?}");
    let (tests, implementer) = (test.prompts("test author of `top/a`"), test.prompts("implementer of `top/a`"));
    assert!(
        tests[1].contains("- a: `a_is_loud`: Listens.\n- src/a.txt:3: Too quiet. Required: Speak up."),
        "{}",
        tests[1]
    );
    assert!(implementer[1].contains("- src/a.txt:3: Too quiet. Required: Speak up."), "{}", implementer[1]);
    assert_eq!((tests.len(), implementer.len()), (2, 2));
}

/// V3-60, V3-83: the reviewer is shown the commit that the branch is at after a rebase, and its changes.
#[tokio::test]
async fn a_review_after_a_rebase_sees_the_rebased_commit() {
    let project = Project::of(&[EmbeddedFile { path: "both.txt", contents: "1\n2\n3\n4\n5\n" }]).await;
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let script = [("a", "1\n2\n3\n4\na\n"), ("b", "1\nb\n3\n4\n5\n")].iter().fold(
        AgentScript::default(),
        |script, (child, both)| {
            let acts = [append(&format!("src/{child}.txt"), "done\n"), write("both.txt", both), Act::Commit];
            script.once(Who::Implementer, &format!("top/{child}"), &passed, &acts)
        },
    );
    let test = test_run(&project, &AgentScript::with(script, family()));
    let outcome = held(&test, "implementer of `top/a`", async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let outcomes = test.outcomes(&test.run_of("top/a").await).await;
    let at = outcomes.iter().position(|outcome| outcome.node == "rebaser").unwrap();
    assert_eq!([&outcomes[at - 1].node, &outcomes[at + 1].node], ["implement", "review"]);
    let head = outcomes[at].commits.iter().rfind(|commit| commit.workspace == "impl").unwrap();
    let shown = &test.prompts("reviewer of `top/a`")[0];
    assert!(shown.contains(&format!("\nCommit {}, after 1 iterations.", head.id)), "{shown}");
    let skeleton = outcomes[at].commits.iter().rfind(|commit| commit.workspace == "skeleton").unwrap();
    let changes = project.git(&["diff", &skeleton.id, &head.id]);
    let diff = shown.split("```diff\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    // The lines that name contents and places have several forms.
    let lines = |diff: &str| -> Vec<String> {
        diff.lines().filter(|line| !line.starts_with("index ") && !line.starts_with("@@ ")).map(str::to_owned).collect()
    };
    assert_eq!(lines(diff), lines(&changes));
    assert!(diff.contains("\n b\n 3\n 4\n-5\n+a\n"), "the sibling's line is around it: {diff}");
}

/// V3-158, CON-16, CON-17: what the next attempt was to be told is not lost, nor why an earlier one could not be merged.
#[tokio::test]
async fn a_retry_is_heard_after_a_rebase() {
    let retry = json!({ "RequestRetry": {
        "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "mark", "failingTests": ["mark"],
    } });
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let rejected =
        json!({ "MergeRejected": { "reason": "BuildFailure", "details": "It is mute.", "failingTests": [] } });
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let was_rejected = AgentScript::default()
        .once(Who::Implementer, "top/a", &passed, &[append("src/a.txt", "done\n"), Act::Commit])
        .once(Who::Merger, "top/a", &rejected, &[]);
    for (before, script) in [("test author", AgentScript::default()), ("merger", was_rejected)] {
        let project = project().await;
        let script = script.once(Who::Implementer, "top/a", &retry, &[]);
        let test = test_run(&project, &AgentScript::with(script, clash("shared.txt", by, &adapted, &[])));
        let (before, sibling) = (format!("{before} of `top/a`"), test.agent.hold("test author of `top/b`"));
        let begins = test.agent.hold(&before);
        let watch = async {
            begins.reached().await;
            let implementer = test.agent.hold("implementer of `top/a`");
            begins.release();
            implementer.reached().await;
            sibling.release();
            test.until("b has merged", has_merged).await;
            implementer.release();
        };
        let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        let nodes = test.nodes_of(&test.run_of("top/a").await);
        let way = ["implement", "rebaser", "write_tests", "barrier", "implement"];
        assert!(nodes.windows(5).any(|part| part == way), "{nodes:?}");
        let told = test.prompts("implementer of `top/a`").pop().unwrap();
        assert!(told.contains("The strategy changes from \"a\" to \"mark\". Failing: mark."), "{told}");
        let rejection = "## Why it could not be merged\n\nBuildFailure:\n\n```\nIt is mute.\n```";
        assert_eq!(told.contains(rejection), before.starts_with("merger"), "{told}");
    }
}

/// V3-158, V3-155, V3-115, V3-109: a conflict does not replace what the planner was to be asked: it hears both, and its branch
/// stands on what was merged.
#[tokio::test]
async fn a_question_is_heard_beside_a_conflict() {
    let conflict = json!({ "RebaseConflict": {
        "conflictFile": "shared.txt", "ourChange": "Ours.", "theirChange": "Theirs.", "whyUnresolvable": "There is one.",
    } });
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } });
    let invalid = json!({ "InvalidScaffold": { "missingType": "Bell", "expectedLocation": "src/a.api" } });
    for (who, title, answer, told) in [
        (Who::Implementer, "implementer", &blocked, "`bell` is missing, which was expected at `src/bell.txt`."),
        (Who::TestAuthor, "test author", &invalid, "the type `Bell` is missing, which was expected in `src/a.api`."),
    ] {
        let project = project().await;
        let script = AgentScript::default().once(who, "top/a", answer, &[]);
        let test = test_run(&project, &AgentScript::with(script, clash("shared.txt", by, &conflict, &[])));
        let outcome = held(&test, &format!("{title} of `top/a`"), async {}).await;
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        let asked = test.prompts("planner of `top/a`");
        let told = format!(
            "{told}\n\nThe branch does not fit what others have merged, in `shared.txt`. Here: Ours. There: Theirs."
        );
        assert!(asked.len() == 2 && asked[1].contains(&told), "{asked:?}");
        assert_eq!(asked[1].matches("## Why you are asked again").count(), 1, "{}", asked[1]);
        let rebasers = test.nodes_of(&test.run_of("top/a").await).iter().filter(|node| *node == "rebaser").count();
        assert_eq!((rebasers, project.git(&["show", "main:shared.txt"]).as_str()), (1, "by b\n"));
        project.is_tidy();
    }
}

/// V3-158, V3-155, V3-122: a sibling's merge that is heard between a new scaffold and its fork is not resolved by what the fork
/// took before: the planner hears of it.
#[tokio::test]
async fn a_conflict_is_heard_before_the_next_fork() {
    let project = project().await;
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } });
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } });
    let script = AgentScript::default()
        .once(Who::Planner, "top/a", &scaffold("top/a", &[], &[plan("a")]), &scaffolding("top/a"))
        .once(Who::Implementer, "top/a", &blocked, &[]);
    let test = test_run(&project, &AgentScript::with(script, clash("shared.txt", by, &adapted, &[])));
    let [sibling, implementer] =
        ["test author of `top/b`", "implementer of `top/a`"].map(|title| test.agent.hold(title));
    let watch = async {
        implementer.reached().await;
        let planner = test.agent.hold("planner of `top/a`");
        implementer.release();
        planner.reached().await;
        sibling.release();
        test.until("b has merged", has_merged).await;
        planner.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    assert!(nodes.windows(3).any(|way| way == ["scaffold", "rebaser", "scaffold"]), "{nodes:?}");
    let (asked, rebasers) = (test.prompts("planner of `top/a`"), test.prompts("rebaser of"));
    assert!(asked[2].contains("The branch does not fit what others have merged, in `shared.txt`."), "{}", asked[2]);
    assert_eq!((asked.len(), rebasers.len()), (3, 0));
    assert_eq!(project.git(&["show", "main:shared.txt"]), "by b\n");
    project.is_tidy();
}

/// CON-11, V3-160: what an attempt on an earlier scaffold was to be told is not told to an attempt on another one.
#[tokio::test]
async fn a_retry_on_another_scaffold_is_not_heard() {
    let project = project().await;
    let retry = json!({ "RequestRetry": {
        "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "mark", "failingTests": ["mark"],
    } });
    let conflict = json!({ "RebaseConflict": {
        "conflictFile": "shared.txt", "ourChange": "Ours.", "theirChange": "Theirs.", "whyUnresolvable": "There is one.",
    } });
    let script = AgentScript::default().once(Who::Implementer, "top/a", &retry, &[]);
    let test = test_run(&project, &AgentScript::with(script, clash("shared.txt", by, &conflict, &[])));
    let outcome = held(&test, "implementer of `top/a`", async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    assert!(nodes.windows(3).any(|way| way == ["implement", "rebaser", "scaffold"]), "{nodes:?}");
    let told = test.prompts("implementer of `top/a`");
    assert!(told.len() == 2 && !told[1].contains("## Your last attempt"), "{told:?}");
    // The node's history stays (V3-71).
    assert!(told[1].contains("- a: failed: D."), "{}", told[1]);
}
