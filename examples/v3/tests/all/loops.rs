//! Each loop has a budget, and a run whose budget is spent says which loop it was (V3-159, CON-15, CON-145).

use crate::small::{Cast, Who, play, project, spec};
use serde_json::{Value, json};
use v3::types::outcome::{Stuck, V3Outcome};

/// What a run comes to where agents of `top` say one thing again and again.
async fn stuck_in(who: Who, answer: &Value, expected: &str) {
    let project = project().await;
    let play = play(&project, &Cast::default().always(who, "top", answer, &[]).honest("top", &[]));
    let outcome = play.outcome(spec(&[])).await;
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

/// V3-141, V3-163: a child that its judge refuses again and again is stuck; its parent is told, and goes on without it.
#[tokio::test]
async fn judge() {
    let project = project().await;
    let reject = json!({ "Reject": { "reason": "It does not fit.", "missingCriteria": ["a"] } });
    let cast = Cast::default().always(Who::Judge, "top/a", &reject, &[]);
    let play = play(&project, &cast.honest("top", &["a", "b"]).honest("top/a", &[]).honest("top/b", &[]));
    let outcome = play.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompt = &play.prompts("implementer of `top`")[0];
    assert!(
        prompt.contains("- top/a: stuck: judge → review was taken as often as the table allows: times = 5;"),
        "{prompt}"
    );
    // V3-142: the judge's words are in the review.
    let reviews = play.prompts("reviewer of `top/a`");
    assert_eq!(reviews.len(), 6);
    assert!(reviews[1].contains("## The parent has refused it\n\nIt does not fit. Missing: a."), "{}", reviews[1]);
    assert!(!project.git(&["show", "main:src/top.txt"]).is_empty());
    assert_eq!(project.subjects("main").iter().filter(|subject| subject.contains("top/a")).count(), 0);
}

/// V3-45: what a child asks, its parent's planner is asked; again and again, until the budget is spent.
#[tokio::test]
async fn clarification_of_a_child() {
    let project = project().await;
    let needed = json!({ "ClarificationNeeded": {
        "question": "Done with what?", "ambiguityReference": "done", "specSentence": "The criterion a holds.",
    } });
    let cast = Cast::default().always(Who::Planner, "top/a", &needed, &[]);
    let play = play(&project, &cast.honest("top", &["a", "b"]).honest("top/b", &[]));
    let outcome = play.outcome(spec(&["a", "b"])).await;
    let V3Outcome::Stuck(Stuck { spent_loop, .. }) = outcome else { panic!("{outcome}") };
    assert_eq!(spent_loop.as_deref(), Some("integrate → scaffold"));
    let asked = play.prompts("planner of `top`");
    assert_eq!(asked.len(), 6);
    let told = "It says: \"The criterion a holds.\". top/a cannot begin: done The question is: Done with what?";
    assert!(!asked[0].contains(told) && asked[1..].iter().all(|prompt| prompt.contains(told)), "{}", asked[1]);
    // V3-160, CON-11: the child that has ended well is kept.
    assert_eq!(play.prompts("planner of `top/b`").len(), 1);
}
