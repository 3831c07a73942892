//! The ways back: a repeated prompt is the first prompt with the reason added. And each way to end.

use crate::project::Project;
use crate::small::{
    Act, AgentScript, Who, append, check, plan, planned, project, scaffold, scaffolding, shell, spec, test_run, write,
};
use crate::test_run::TestRun;
use crate::tree::family;
use interlocking::agents::Script;
use interlocking::cli::repository::EmbeddedFile;
use serde_json::{Value, json};
use v3::types::outcome::V3Outcome;

/// The second and the first prompt of an agent, where an agent gives another answer once.
async fn asked_again(who: Who, answer: &Value, acts: &[Act], title: &str) -> (String, String) {
    let project = project().await;
    let test = test_run(&project, &AgentScript::default().once(who, "top", answer, acts).honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let mut prompts = test.prompts(title).into_iter();
    (prompts.next().unwrap(), prompts.next().unwrap_or_else(|| panic!("{title} was asked once")))
}

/// Removes a passage from a prompt.
fn without(prompt: &str, passage: &str) -> String {
    assert!(prompt.contains(passage), "{passage:?} is not in:\n{prompt}");
    prompt.replacen(passage, "", 1)
}

/// V3-109, V3-115, V3-116, V3-155, PRG-36, CON-23: the planner's prompt is the first one with the reason for asking again.
#[tokio::test]
async fn the_planner_is_told_why() {
    let cases = [
        (
            Who::TestAuthor,
            json!({ "InvalidScaffold": { "missingType": "Top", "expectedLocation": "src/top.api" } }),
            "Tests cannot be written: the type `Top` is missing, which was expected in `src/top.api`.",
        ),
        (
            Who::Implementer,
            json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } }),
            "The implementation is blocked: `bell` is missing, which was expected at `src/bell.txt`.",
        ),
        (
            Who::Implementer,
            json!({ "SpecAmbiguity": { "specSentence": "Says.", "contradictionTrace": "It is mute.", "question": "How?" } }),
            "The specification is ambiguous. It says: \"Says.\". It is mute. The question is: How?",
        ),
    ];
    for (who, answer, why) in cases {
        let (first, second) = asked_again(who, &answer, &[], "planner").await;
        assert_eq!(without(&second, &format!("\n\n## Why you are asked again\n\n{why}")), first);
    }
}

/// V3-111, V3-56, V3-76, V3-156, CON-07, CON-08: a review's requests go to the test author first, and then to the implementer.
#[tokio::test]
async fn a_review_is_heard_by_both() {
    let more = json!({ "MoreTests": {
        "critiques": [{ "file": "src/top.txt", "line": 3, "issue": "Too quiet.", "requiredFix": "Speak up." }],
        "additionalTests": [{ "criterionId": "one", "plannedTestName": "one_is_loud", "approach": "Listens." }],
    } });
    let (_, tests) = asked_again(Who::Reviewer, &more, &[], "test author").await;
    assert!(
        tests.contains("\n- one: `one_is_loud`: Listens.\n- src/top.txt:3: Too quiet. Required: Speak up."),
        "{tests}"
    );
    let (first, second) = asked_again(Who::Reviewer, &more, &[], "implementer").await;
    let told = "\n\n## What the review has found\n\n- src/top.txt:3: Too quiet. Required: Speak up.";
    assert_eq!(without(&second, told), first, "CON-14: and attempts begin anew");
}

/// V3-76, V3-158: a review is heard until it is followed; what was wrong with an attempt is heard by the next one, and not by a
/// later one.
#[tokio::test]
async fn a_review_is_heard_beside_what_was_wrong() {
    let project = project().await;
    let more = json!({ "MoreTests": {
        "critiques": [{ "file": "src/top.txt", "line": 3, "issue": "Too quiet.", "requiredFix": "Speak up." }],
        "additionalTests": [],
    } });
    let retry =
        json!({ "RequestRetry": { "diagnosis": "D.", "strategyFrom": "a", "strategyTo": "b", "failingTests": [] } });
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let script = AgentScript::default()
        .once(Who::Implementer, "top", &passed, &[append("src/top.txt", "done\n"), Act::Commit])
        .once(Who::Implementer, "top", &passed, &[write("checks/top.sh", "true\n"), Act::Commit])
        .once(Who::Implementer, "top", &retry, &[])
        .once(Who::Reviewer, "top", &more, &[]);
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = test.prompts("implementer");
    let review = "\n\n## What the review has found\n\n- src/top.txt:3: Too quiet. Required: Speak up.\n\n## ";
    let wrong =
        "\n\n## What was wrong with your last attempt\n\n- your commits change tests: checks/top.sh; put them back";
    let [_, _, refused, retried] = &prompts[..] else { panic!("{prompts:?}") };
    assert!(refused.contains(review) && refused.contains(wrong), "{refused}");
    assert!(retried.contains(review) && !retried.contains("## What was wrong"), "{retried}");
}

/// V3-119, V3-90, V3-91, V3-157, CON-17: the implementer is told what could not be merged; the contract comes before the other
/// tests.
#[tokio::test]
async fn a_rejected_merge_is_told() {
    let quiet = EmbeddedFile { path: "checks/quiet.sh", contents: "! grep -qs noise src/top.txt\n" };
    let project = Project::of(&[quiet]).await;
    let contract = write("checks/contract_top.sh", "grep -q loud src/top.txt\n");
    let scaffolded = [append("src/top.txt", "stub\n"), write("src/top.api", "says done\n"), contract, Act::Commit];
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let says = |text: &str| [write("src/top.txt", text), Act::Commit];
    let script = AgentScript::default()
        .once(Who::Planner, "top", &scaffold("top", &[], &planned(&[])), &scaffolded)
        .once(Who::Implementer, "top", &passed, &says("done\n"))
        .once(Who::Implementer, "top", &passed, &says("done, loud, with noise\n"))
        .once(Who::Implementer, "top", &passed, &says("done, loud\n"));
    let test = test_run(&project, &script.honest("top", &[]));
    let outcome = test.outcome(spec(&[])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = test.prompts("implementer");
    assert!(!prompts[0].contains("## Why it could not be merged"), "{}", prompts[0]);
    assert!(
        prompts[1].contains("## Why it could not be merged\n\nContractViolation, of (whole suite):"),
        "{}",
        prompts[1]
    );
    assert!(
        prompts[2].contains("## Why it could not be merged\n\nIntegrationFailure, of (whole suite):"),
        "{}",
        prompts[2]
    );
    assert_eq!((prompts.len(), project.subjects("main").len()), (3, 2), "V3-92: only what holds has landed");
}

/// CON-142: what does not fit the user's branch is for the user: the implementer does not see that branch. It does not matter whether
/// the merger answers.
#[tokio::test]
async fn a_root_that_does_not_fit_the_users_branch_is_stuck() {
    let silent = ["merger of `top`", "REMINDER"].map(|words| {
        format!("[[turn]]\nagent = \"merger\"\ncontains = [\"{words}\"]\ntimes = \"any\"\ntext = \"Hm.\"\n")
    });
    for (before, first) in
        [("implementer of `top`", ""), ("merger of `top`", ""), ("implementer of `top`", &silent.concat())]
    {
        let project = project().await;
        let script = first.to_owned() + AgentScript::default().honest("top", &[]).text();
        let test = TestRun::new(&project, Script::parse("a test's script", &script).unwrap(), shell);
        let hold = test.agent.hold(before);
        let watch = async {
            hold.reached().await;
            std::fs::create_dir(project.root().join("src")).unwrap();
            std::fs::write(project.root().join("src/top.txt"), "theirs\n").unwrap();
            project.git(&["add", "src"]);
            project.git(&["-c", "user.name=Other", "-c", "user.email=o@example.org", "commit", "-m", "Meanwhile"]);
            hold.release();
        };
        let (outcome, ()) = tokio::join!(test.outcome(spec(&[])), watch);
        let V3Outcome::Stuck(stuck) = outcome else { panic!("{outcome}") };
        assert!(stuck.diagnosis.contains("src/top.txt"), "{stuck:?}");
        let advice = "`main` has been changed in the same places meanwhile: run it again on what is there now";
        assert_eq!((stuck.recommendation.as_str(), stuck.spent_loop), (advice, None));
        assert_eq!(test.prompts("implementer").len(), 1);
        assert_eq!(project.subjects("main"), ["Meanwhile", "Begin"]);
        project.is_tidy();
    }
}

/// V3-107, V3-154, V3-11: the root's question ends the run, for the person who started it.
#[tokio::test]
async fn the_roots_question_is_the_outcome() {
    let project = project().await;
    let asked = json!({ "ClarificationNeeded": {
        "question": "To whom?", "ambiguityReference": "Says", "specSentence": "Says when it is done.",
    } });
    let outcome =
        test_run(&project, &AgentScript::default().once(Who::Planner, "top", &asked, &[])).outcome(spec(&[])).await;
    let V3Outcome::ClarificationNeeded(needed) = outcome else { panic!("{outcome}") };
    assert_eq!((needed.question.as_str(), needed.spec_sentence.as_str()), ("To whom?", "Says when it is done."));
    project.is_tidy();
}

/// V3-112, V3-117, V3-154, V3-11: a review that rejects, and an implementer that is stuck.
#[tokio::test]
async fn a_run_is_rejected_or_stuck() {
    let reject = json!({ "Reject": { "reason": "Not this way.", "missingCriteria": ["one"] } });
    let (one, other) = (project().await, project().await);
    let outcome = test_run(&one, &AgentScript::default().once(Who::Reviewer, "top", &reject, &[]).honest("top", &[]))
        .outcome(spec(&[]))
        .await;
    let V3Outcome::Rejected(rejected) = outcome else { panic!("{outcome}") };
    assert_eq!((rejected.reason.as_str(), rejected.missing_criteria), ("Not this way.", vec!["one".to_owned()]));
    let stuck = json!({ "Stuck": { "diagnosis": "No bell.", "recommendation": "Buy one.", "attempts": 1 } });
    let outcome =
        test_run(&other, &AgentScript::default().once(Who::Implementer, "top", &stuck, &[]).honest("top", &[]))
            .outcome(spec(&[]))
            .await;
    assert_eq!(outcome.to_string(), "stuck: No bell.; Buy one.");
}

/// V3-129, V3-154, CON-37, EVO-04: failed children release the barrier. If all fail, the run has failed.
#[tokio::test]
async fn failed_children_do_not_block() {
    let project = project().await;
    let stuck = json!({ "Stuck": { "diagnosis": "No bell.", "recommendation": "Buy one.", "attempts": 1 } });
    let script =
        AgentScript::default().once(Who::Implementer, "top/a", &stuck, &[]).honest("top", &["a"]).honest("top/a", &[]);
    let outcome = test_run(&project, &script).outcome(spec(&["a"])).await;
    assert_eq!(outcome.to_string(), "failed in barrier: no child was merged: top/a: stuck: No bell.; Buy one.");
}

/// CON-11, V3-115, V3-160: on a new scaffold a child that was not merged is run again: what it lacked may be there. A merged child
/// is kept.
#[tokio::test]
async fn a_failed_child_is_run_again_on_another_scaffold() {
    let project = project().await;
    let stuck = json!({ "Stuck": { "diagnosis": "No bell.", "recommendation": "Buy one.", "attempts": 1 } });
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } });
    let script = AgentScript::default().once(Who::Implementer, "top/a", &stuck, &[]).once(
        Who::Implementer,
        "top",
        &blocked,
        &[],
    );
    let test = test_run(&project, &AgentScript::with(script, family()));
    let outcome = test.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let implementer = test.prompts("implementer of `top`");
    // V3-157, CON-37: the parent's implementer is told of a child that failed.
    let failed =
        "\n\n## The children that have failed\n\n- top/a: stuck: No bell.; Buy one.\n\nTheir part is yours now.";
    assert!(implementer[0].contains(failed) && !implementer[1].contains("## The children that"), "{implementer:?}");
    assert!(implementer[1].contains("- top/a: `a`"), "{}", implementer[1]);
    assert_eq!(["a", "b"].map(|child| test.prompts(&format!("planner of `top/{child}`")).len()), [2, 1]);
    project.is_tidy();
}

/// CON-11, V3-115: also if the test author asks for the other scaffold while a sibling is still at work.
#[tokio::test]
async fn a_failed_child_is_run_again_if_its_siblings_are_stopped() {
    let project = project().await;
    let stuck = json!({ "Stuck": { "diagnosis": "No bell.", "recommendation": "Buy one.", "attempts": 1 } });
    let invalid = json!({ "InvalidScaffold": { "missingType": "Bell", "expectedLocation": "src/top.api" } });
    let script =
        AgentScript::default().once(Who::Implementer, "top/a", &stuck, &[]).once(Who::TestAuthor, "top", &invalid, &[]);
    let test = test_run(&project, &AgentScript::with(script, family()));
    let [author, sibling] = ["test author of `top`", "planner of `top/b`"].map(|title| test.agent.hold(title));
    let watch = async {
        author.reached().await;
        sibling.reached().await;
        let is_stuck = |test: &TestRun<'_>| test.ended().iter().any(|(_, node)| node == "implement");
        test.until("a is stuck", is_stuck).await;
        while test.result_of(&test.run_of("top/a").await).await.is_none() {
            tokio::task::yield_now().await;
        }
        author.release();
        test.until("the planner is asked again", |test| test.path().len() > 3).await;
        sibling.release();
    };
    let (outcome, ()) = tokio::join!(test.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(test.prompts("planner of `top/a`").len(), 2);
    let implementer = &test.prompts("implementer of `top`")[0];
    assert!(!implementer.contains("## The children that have failed"), "{implementer}");
    project.is_tidy();
}

/// V3-161, EVO-03: at the maximum depth children are refused, with the reason.
#[tokio::test]
async fn a_tree_has_a_greatest_depth() {
    let project = project().await;
    let deepest = "top/a/b/c/d";
    let criteria = ["d".to_owned(), "e".to_owned()];
    let too_deep = scaffold(deepest, &["e"], &[plan("d"), plan("e")]);
    let script = AgentScript::default()
        .once(Who::Planner, deepest, &too_deep, &scaffolding(deepest))
        .honest("top", &["a+b+c+d+e"])
        .honest("top/a", &["b+c+d+e"])
        .honest("top/a/b", &["c+d+e"])
        .honest("top/a/b/c", &["d+e"])
        .honest_with(deepest, &criteria, &[]);
    let test = test_run(&project, &script);
    let outcome = test.outcome(spec(&["a+b+c+d+e"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = test.prompts("planner of `top/a/b/c/d`");
    assert!(prompts[0].contains("The tree is as deep as it may be: no children here."), "{}", prompts[0]);
    assert!(
        prompts[1].contains("the tree is as deep as it may be, 4 below the root: do without children"),
        "{}",
        prompts[1]
    );
    assert!(!test.prompts("planner of `top/a/b/c`")[0].contains("as deep as it may be"));
}

/// CON-26, CON-148, EVO-05: tests that do not fit a child's merged work are a conflict: the planner is asked again, with the
/// merged work. Then that child is adopted, and nothing waits, although no child works.
#[tokio::test]
async fn tests_that_do_not_fit_what_is_merged() {
    let project = project().await;
    let mut acts = scaffolding("top/a");
    acts.insert(0, write("checks/top.sh", "true\n"));
    let script = AgentScript::default().once(Who::Planner, "top/a", &scaffold("top/a", &[], &[plan("a")]), &acts);
    let test = test_run(&project, &script.honest("top", &["a"]).honest("top/a", &[]));
    let outcome = test.outcome(spec(&["a"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let path = test.path();
    assert!(path.windows(2).any(|pair| pair == ["barrier", "scaffold"]), "{path:?}");
    let asked = test.prompts("planner of `top`");
    let told = "in `checks/top.sh`. Here: the tests of this node are written there. There: a child has written to the same file.";
    assert!(asked.len() == 2 && asked[1].contains(told), "{asked:?}");
    assert!(asked[1].contains("\n\nYour branch has what they have merged, as far as that fits:"), "{}", asked[1]);
    assert_eq!(project.git(&["show", "main:checks/top.sh"]), format!("true\n{}", check("top")));
    assert_eq!(test.prompts("planner of `top/a`").len(), 1);
    project.is_tidy();
}
