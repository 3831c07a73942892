//! Work that its agent has not committed, or that nobody has accepted, when the branch is moved: it stops no run, and is not taken
//! for a part of the branch.

use crate::rebases::{asked_after, by, clash, held};
use crate::small::{Act, AgentScript, Who, append, project, test_run, write};
use crate::tree::family;
use serde_json::json;
use v3::types::outcome::V3Outcome;

/// V3-103: an adaptation that is not committed is no adaptation, also if the agent says that none was needed.
#[tokio::test]
async fn an_adaptation_that_is_not_committed_is_a_conflict() {
    for answer in [
        json!({ "RebaseClean": { "newBase": "$HEAD" } }),
        json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [] } }),
    ] {
        let clash = clash("shared.txt", by, &answer, &[write("shared.txt", "by nobody\n")]);
        let asked = asked_after(clash).await;
        assert!(asked.contains("these files are changed and not committed: shared.txt"), "{asked}");
    }
}

/// An implementer that leaves changes uncommitted is told so after the rebase too, and that they are committed now.
#[tokio::test]
async fn an_implementation_that_is_not_committed_is_rebased() {
    let project = project().await;
    let passed = json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let script = AgentScript::default().once(Who::Implementer, "top/a", &passed, &[append("src/a.txt", "half\n")]);
    let test = test_run(&project, &AgentScript::with(script, family()));
    let outcome = held(&test, "implementer of `top/a`", async {}).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let nodes = test.nodes_of(&test.run_of("top/a").await);
    assert!(nodes.windows(3).any(|way| way == ["implement", "rebaser", "implement"]), "{nodes:?}");
    let told = &test.prompts("implementer of `top/a`")[1];
    assert!(told.contains("you had not committed these files: src/a.txt; they are committed now"), "{told}");
    assert_eq!(project.git(&["show", "main:src/a.txt"]), "stub\nhalf\ndone\n");
    project.is_tidy();
}

/// V3-158, V3-109, V3-115: what an agent leaves when it asks the planner is no part of its branch: the branch is rebased
/// without it, and the planner gets the question, rather than a conflict. Nor is what the planner itself leaves.
#[tokio::test]
async fn a_question_is_heard_after_a_rebase() {
    let blocked = json!({ "BlockedDependency": { "missingSymbol": "bell", "expectedImportPath": "src/bell.txt" } });
    let invalid = json!({ "InvalidScaffold": { "missingType": "Bell", "expectedLocation": "src/a.api" } });
    let unclear = json!({ "ClarificationNeeded": {
        "question": "To whom?", "ambiguityReference": "Says", "specSentence": "Is loud.",
    } });
    let half = [append("src/a.txt", "half\n"), Act::Commit];
    let blocked_because = "`bell` is missing, which was expected at";
    for (who, title, answer, acts, told) in [
        (Who::Implementer, "implementer", &blocked, &half[..1], blocked_because),
        (Who::Implementer, "implementer", &blocked, &half, blocked_because),
        (Who::TestAuthor, "test author", &invalid, &half[..1], "the type `Bell` is missing, which was expected in"),
        (Who::Planner, "planner", &unclear, &[append("src/top.txt", "half\n")], "Is loud."),
    ] {
        let project = project().await;
        let test =
            test_run(&project, &AgentScript::with(AgentScript::default().once(who, "top/a", answer, acts), family()));
        let outcome = held(&test, &format!("{title} of `top/a`"), async {}).await;
        assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
        let asked = &test.prompts("planner of `top/a`")[1];
        assert!(asked.contains(told) && !asked.contains("does not fit what others have merged"), "{asked}");
        let nodes = test.nodes_of(&test.run_of("top/a").await);
        assert!(nodes.windows(2).any(|way| way == ["rebaser", "scaffold"]), "{nodes:?}");
        assert!(!project.git(&["show", "main:src/a.txt", "main:src/top.txt"]).contains("half"));
        project.is_tidy();
    }
}
