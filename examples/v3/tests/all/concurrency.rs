//! What runs at the same time, and who waits for whom.

use crate::play::Play;
use crate::small::{Cast, Who, play, project, scaffold, scaffolding, spec};
use crate::tree::family;
use crate::watched::{Call, Hold};
use interlocking::prelude::*;
use interlocking::runtime::journal::NodeOutcome;
use serde_json::json;
use v3::types::outcome::V3Outcome;

fn is_merged(outcome: &V3Outcome) {
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
}

/// The calls of implementers of the root so far.
fn implementers(play: &Play<'_>) -> Vec<Call> {
    play.agent.calls_to("implementer of `top`")
}

/// V3-03, V3-106, PRG-17, PRG-29, EVO-02: the tests and each child are begun before any of them has ended.
#[tokio::test]
async fn tests_and_children_begin_at_once() {
    let project = project().await;
    let play = play(&project, &family());
    let holds =
        ["test author of `top`", "planner of `top/a`", "planner of `top/b`"].map(|title| play.agent.hold(title));
    let watch = async {
        for hold in &holds {
            hold.reached().await;
        }
        assert_eq!(play.path(), ["scaffold", "fork"], "nothing that came after has ended");
        // V3-125: nobody is asked to implement who would have to wait.
        assert!(implementers(&play).is_empty());
        holds.iter().for_each(Hold::release);
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&["a", "b"])), watch);
    is_merged(&outcome);
}

/// V3-07, V3-73, V3-125, PRG-30, CON-04: whichever comes first, tests or children, the implementer is asked when both are there.
#[tokio::test]
async fn the_implementer_waits_for_tests_and_children() {
    for (late, early) in [("test author of `top`", "integrate"), ("judge what `top/b`", "write_tests")] {
        let project = project().await;
        let play = play(&project, &family());
        let hold = play.agent.hold(late);
        let watch = async {
            hold.reached().await;
            play.until(early, |play| play.path().iter().any(|node| node == early)).await;
            assert!(
                implementers(&play).is_empty() && !play.path().contains(&"barrier".to_owned()),
                "{:?}",
                play.path()
            );
            hold.release();
        };
        let (outcome, ()) = tokio::join!(play.outcome(spec(&["a", "b"])), watch);
        is_merged(&outcome);
        assert_eq!(implementers(&play).len(), 1);
    }
}

/// CON-142, V3-139, CON-32: a sibling that merges while the judge looks makes the candidate void. It is made again, and judged again, with
/// what the sibling has merged.
#[tokio::test]
async fn a_candidate_that_came_too_late_is_made_again() {
    let project = project().await;
    let play = play(&project, &family());
    let hold = play.agent.hold("judge what `top/a`");
    let watch = async {
        hold.reached().await;
        play.until("b", |play| play.ended().iter().any(|(run, node)| *run != RunId::DEFAULT && node == "judge")).await;
        hold.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&["a", "b"])), watch);
    is_merged(&outcome);
    let judged = play.prompts("judge what `top/a`");
    assert_eq!(judged.len(), 2);
    let heard = "## What its siblings have merged\n\n- top/b: `b` (It is done.)";
    assert!(!judged[0].contains(heard) && judged[1].contains(heard), "{}", judged[1]);
    let nodes = play.nodes_of(&play.run_of("top/a").await);
    assert!(nodes.ends_with(&["judge", "rebaser", "merger", "judge"].map(str::to_owned)), "{nodes:?}");
    assert_eq!(project.subjects("main").len(), 5);
    project.is_tidy();
}

/// V3-160, CON-11, CON-10: another scaffold keeps the child that is as it was, with what it has merged, and cancels the one that is not.
#[tokio::test]
async fn another_scaffold_keeps_the_children_that_are_as_they_were() {
    let project = project().await;
    let invalid = json!({ "InvalidScaffold": { "missingType": "Top", "expectedLocation": "src/top.api" } });
    let children = ["a", "b"];
    let mut answer = scaffold("top", &children, &crate::small::planned(&children));
    let first = answer.clone();
    answer["InitWork"]["childSpecs"][1]["description"] = json!("Says it aloud.");
    let cast = Cast::default()
        .once(Who::Planner, "top", &first, &scaffolding("top"))
        .always(Who::Planner, "top", &answer, &scaffolding("top"))
        .once(Who::TestAuthor, "top", &invalid, &[]);
    let play = play(&project, &Cast::with(cast, family()));
    let (author, planner) = (play.agent.hold("test author of `top`"), play.agent.hold("planner of `top/b`"));
    let watch = async {
        author.reached().await;
        planner.reached().await;
        let is_merged =
            |play: &Play<'_>| play.ended().iter().any(|(run, node)| *run != RunId::DEFAULT && node == "judge");
        play.until("a", is_merged).await;
        // `b` stays where it is: nobody lets it go.
        author.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&children)), watch);
    is_merged(&outcome);
    assert_eq!(play.agent.calls_to("planner of `top/a`").len(), 1, "it is kept");
    let of_b = play.agent.calls_to("planner of `top/b`");
    assert_eq!((of_b.len(), of_b[0].answered_in.is_some()), (2, false), "it is cancelled, and the other one begins");
    assert!(of_b[1].prompt.contains("Says it aloud."), "{}", of_b[1].prompt);
    let subjects = project.subjects("main");
    assert_eq!(subjects.iter().filter(|subject| subject.contains("top/a")).count(), 1, "{subjects:?}");
    assert_eq!(project.git(&["show", "main:src/a.txt"]), "stub\ndone\n");
    project.is_tidy();
}

/// V3-129, V3-136, EVO-05, CON-143: a test author that says nothing does not leave children and barrier waiting: all of it ends.
#[tokio::test]
async fn a_silent_test_author_ends_all() {
    let project = project().await;
    let silent = "[[turn]]\nagent = \"tdd\"\ncontains = [\"test author of `top`\"]\ntimes = \"any\"\ntext = \"Hm.\"\n\
                  [[turn]]\nagent = \"tdd\"\ncontains = [\"REMINDER\"]\ntimes = \"any\"\ntext = \"Hm.\"\n";
    let script =
        interlocking::agents::Script::parse("a test's script", &(silent.to_owned() + family().text())).unwrap();
    let play = Play::new(&project, script, crate::small::shell);
    let (author, planner) = (play.agent.hold("test author of `top`"), play.agent.hold("planner of `top/b`"));
    let watch = async {
        author.reached().await;
        planner.reached().await;
        author.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&["a", "b"])), watch);
    assert!(matches!(outcome, V3Outcome::Stuck(_)), "{outcome}");
    assert_eq!(play.path(), ["scaffold", "fork", "write_tests"], "children and barrier have ended with it");
    assert_eq!(project.subjects("main"), ["Begin"]);
    project.is_tidy();
}

/// CON-147, V3-97: whoever is rebased tells its own children, which are at work while it is; one whose planner is being asked is moved, too.
#[tokio::test]
async fn the_children_of_a_node_that_was_rebased_follow() {
    let project = project().await;
    let cast = Cast::default()
        .honest("top", &["a+x", "b"])
        .honest_with("top/a", &["a".to_owned(), "x".to_owned()], &["x"])
        .honest("top/a/x", &[])
        .honest("top/b", &[]);
    let play = play(&project, &cast);
    let hold = play.agent.hold("planner of `top/a/x`");
    let watch = async {
        hold.reached().await;
        play.until("a is rebased", |play| play.ended().iter().any(|(_, node)| node == "rebaser")).await;
        hold.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&["a+x", "b"])), watch);
    is_merged(&outcome);
    for id in ["top/a", "top/a/x"] {
        let nodes = play.nodes_of(&play.run_of(id).await);
        assert_eq!(nodes.iter().filter(|node| *node == "rebaser").count(), 1, "{id}: {nodes:?}");
    }
    // The tests of `x` were written where `b` is.
    let x = play.run_of("top/a/x").await;
    let tests = play.outcomes(&x).await.into_iter().find(|outcome| outcome.node == "write_tests").unwrap();
    let tests = &tests.commits.iter().find(|commit| commit.workspace == "tests").unwrap().id;
    assert!(project.git(&["show", &format!("{tests}:src/b.txt")]).contains("done"));
    assert_eq!(project.git(&["rev-list", "--merges", "main"]), "");
    project.is_tidy();
}

/// V3-151, V3-93, V3-97, V3-118: of three siblings, the first that merges is told of to two, the second to one, and the last to nobody; who
/// is told twice hears it in the order in which they merged.
#[tokio::test]
async fn siblings_hear_of_merges_in_their_order() {
    let project = project().await;
    let children = ["a", "b", "c"];
    let cast = children
        .iter()
        .fold(Cast::default().honest("top", &children), |cast, child| cast.honest(&format!("top/{child}"), &[]));
    let play = play(&project, &cast);
    let author = play.agent.hold("test author of `top/c`");
    let watch = async {
        author.reached().await;
        let merged = |play: &Play<'_>| {
            project.git(&["log", "--format=%s", "run/impl"]).matches("): implement").count() == 2
                && play.ended().iter().any(|(_, node)| node == "judge")
        };
        play.until("a and b", merged).await;
        author.release();
    };
    let (outcome, ()) = tokio::join!(play.outcome(spec(&children)), watch);
    is_merged(&outcome);
    let told = |outcomes: Vec<NodeOutcome>| outcomes.iter().map(|outcome| outcome.posted.len()).sum::<usize>();
    let mut told_by = Vec::new();
    for child in children {
        told_by.push(told(play.outcomes(&play.run_of(&format!("top/{child}")).await).await));
    }
    told_by.sort_unstable();
    assert_eq!(told_by, [0, 1, 2]);
    let c = play.run_of("top/c").await;
    let heard = play.memories(&c, "integration").await.pop().unwrap();
    let heard: Vec<&str> =
        heard["heard"].as_array().unwrap().iter().map(|event| event["author"].as_str().unwrap()).collect();
    let merged = project.subjects("main");
    let merged: Vec<&str> =
        merged.iter().rev().filter_map(|subject| subject.strip_prefix("feat(")?.strip_suffix("): implement")).collect();
    assert_eq!((heard.as_slice(), merged.len()), (&merged[..2], 4));
}
