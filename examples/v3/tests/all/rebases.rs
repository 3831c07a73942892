//! Siblings that have changed the same lines: whoever merges later is rebased, and its agent adapts, or its planner is asked.

use crate::play::Play;
use crate::small::{Act, Cast, Who, play, project, scaffold, spec, write};
use crate::tree::family;
use interlocking::prelude::*;
use serde_json::{Value, json};
use v3::types::outcome::V3Outcome;

/// Both children write a file of one name with their scaffold, and the later one's rebaser says this.
fn clash(answer: &Value) -> Cast {
    let mut cast = Cast::default();
    for child in ["a", "b"] {
        let id = format!("top/{child}");
        let contract = format!("! grep -q done src/{child}.txt || grep -q done src/{child}.txt\n");
        let acts = [
            write(&format!("src/{child}.txt"), "stub\n"),
            write(&format!("src/{child}.api"), "says done\n"),
            write(&format!("checks/contract_{child}.sh"), &contract),
            write("shared.txt", &format!("by {child}\n")),
            Act::Commit,
        ];
        cast = cast.once(Who::Planner, &id, &scaffold(&id, &[], &[crate::small::plan(child)]), &acts).always(
            Who::Rebaser,
            &id,
            answer,
            &[],
        );
    }
    Cast::with(cast, family())
}

/// The nodes of the run that was rebased, in order.
fn rebased(play: &Play<'_>) -> Vec<String> {
    let ended = play.ended();
    let run: RunId = ended.iter().find(|(_, node)| node == "rebaser").unwrap().0.clone();
    ended.into_iter().filter(|(of, _)| *of == run).map(|(_, node)| node).collect()
}

/// V3-101, V3-121, V3-98, V3-27: the sibling's lines stay; the branch was adapted, and its tests are looked at again.
#[tokio::test]
async fn a_branch_is_adapted() {
    let project = project().await;
    let adaptation = json!({ "symbol": "shared", "change": "left", "reason": "The sibling's counts." });
    let adapted = json!({ "RebaseAdapted": { "newBase": "$HEAD", "adaptations": [adaptation] } });
    let play = play(&project, &clash(&adapted));
    let outcome = play.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let prompts = play.prompts("rebaser of");
    assert_eq!(prompts.len(), 1);
    let (later, earlier) = if prompts[0].contains("of `top/a`") { ("a", "b") } else { ("b", "a") };
    for words in [
        format!("# You are the rebaser of `top/{later}`"),
        format!("where `top/{earlier}` was merged"),
        "The node's own work is paused meanwhile.".to_owned(),
        "Impact: Trivial. Everything resolves by itself; nothing may change its meaning.".to_owned(),
        format!("- `{earlier}`: BehaviorChange: It is done."),
        "Both sides had changed the same lines of shared.txt. The sibling's merged code wins".to_owned(),
    ] {
        assert!(prompts[0].contains(&words), "{words}: {}", prompts[0]);
    }
    assert_eq!(project.git(&["show", "main:shared.txt"]), format!("by {earlier}\n"));
    let nodes = rebased(&play);
    let at = nodes.iter().position(|node| node == "rebaser").unwrap();
    assert_eq!(nodes[at + 1], "write_tests", "{nodes:?}");
    assert!(nodes.ends_with(&["merger".to_owned(), "judge".to_owned()]), "{nodes:?}");
    project.is_tidy();
}

/// V3-122, CON-26: where logic would have to change, the planner is asked, with what both sides do; the branch is as it was.
#[tokio::test]
async fn a_conflict_goes_to_the_planner() {
    let project = project().await;
    let conflict = json!({ "RebaseConflict": {
        "conflictFile": "shared.txt", "ourChange": "It is ours.", "theirChange": "It is theirs.", "whyUnresolvable": "There is one.",
    } });
    let play = play(&project, &clash(&conflict));
    let _ = play.start(spec(&["a", "b"])).await;
    let nodes = rebased(&play);
    let at = nodes.iter().position(|node| node == "rebaser").unwrap();
    assert_eq!(nodes[at + 1], "scaffold", "{nodes:?}");
    let later = if play.prompts("rebaser of `top/a`").is_empty() { "b" } else { "a" };
    let asked = &play.prompts(&format!("planner of `top/{later}`"))[1];
    let told = "The branch does not fit what others have merged, in `shared.txt`. Here: It is ours.";
    assert!(asked.contains(told) && asked.contains("Both cannot be: There is one."), "{asked}");
}
