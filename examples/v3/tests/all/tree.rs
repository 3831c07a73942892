//! A tree of a parent and two children, with its prompts.

use crate::play::Play;
use crate::small::{Cast, play, project, spec};
use interlocking::prelude::*;
use std::collections::BTreeSet;
use v3::types::outcome::V3Outcome;

pub(crate) fn family() -> Cast {
    Cast::default().honest("top", &["a", "b"]).honest("top/a", &[]).honest("top/b", &[])
}

fn runs(play: &Play<'_>) -> BTreeSet<RunId> {
    play.ended().into_iter().map(|(run, _)| run).collect()
}

#[tokio::test]
async fn two_children_and_their_parent() {
    let project = project().await;
    let play = play(&project, &family());
    let outcome = play.outcome(spec(&["a", "b"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    assert_eq!(runs(&play).len(), 3);
    // V3-02, V3-38: the root has no parent, a child is given its parent's interface, which is read-only.
    assert!(!play.prompts("planner of `top`")[0].contains("your parent"));
    let child = &play.prompts("planner of `top/a`")[0];
    let given = "## What your parent has defined\n\n```\n// src/top.api\nsays done\n```\n\nOf your parent's criteria you have to satisfy: a.\n\n\
                 The parent's interface files are read-only: `src/top.api`.";
    assert!(child.contains(given), "{child}");
    // V3-06, V3-69, V3-75, V3-125: the parent's implementer has the tests, and an entry a child.
    let implementer = &play.prompts("implementer of `top`")[0];
    for line in ["- top/a: `a`", "- top/b: `b`", "Use these, do not reimplement them."] {
        assert!(implementer.contains(line), "{implementer}");
    }
    assert!(!play.prompts("implementer of `top/a`")[0].contains("## What the children have merged"));
    // V3-138, V3-139: each child is judged, by the criteria that it was given, and by what others have merged before it.
    let judged = |child: &str| play.prompts(&format!("judge what `top/{child}`")).pop().unwrap();
    let (a, b) = (judged("a"), judged("b"));
    assert!(a.contains("\n- a: The criterion a holds.\n") && b.contains("\n- b: The criterion b holds.\n"), "{a}");
    let fits = [a.contains("- top/b: `b` (It is done.)"), b.contains("- top/a: `a` (It is done.)")];
    assert_eq!(fits.iter().filter(|fits| **fits).count(), 1, "{a}\n{b}");
    // V3-93, V3-97, V3-128: of two siblings one hears of the other; no node hears of itself, or after its end.
    let rebased: Vec<_> = play.ended().into_iter().filter(|(_, node)| node == "rebaser").collect();
    assert!(rebased.len() == 1 && rebased[0].0 != RunId::DEFAULT, "{rebased:?}");
    // V3-100, V3-89: a line of commits, one a child.
    let subjects = project.subjects("main");
    assert_eq!((subjects.len(), project.git(&["rev-list", "--merges", "main"]).as_str()), (5, ""));
    project.is_tidy();
}

/// V3-48: a child that changes an interface file of its parent is told so, by the first who looks.
#[tokio::test]
async fn a_child_leaves_its_parents_interface_alone() {
    use crate::small::{Act, Who, append};
    let project = project().await;
    let passed = serde_json::json!({ "TestsPassed": { "commitHash": "$HEAD", "iterations": 1, "passedTests": [] } });
    let acts = [append("src/a.txt", "done\n"), append("src/top.api", "and more\n"), Act::Commit];
    let cast = Cast::default().once(Who::Implementer, "top/a", &passed, &acts);
    let play = play(&project, &cast.honest("top", &["a"]).honest("top/a", &[]));
    let outcome = play.outcome(spec(&["a"])).await;
    assert!(matches!(outcome, V3Outcome::Merged(_)), "{outcome}");
    let told = &play.prompts("implementer of `top/a`")[1];
    assert!(
        told.contains("your commits change interface files of the nodes above: src/top.api; put them back"),
        "{told}"
    );
    assert_eq!(project.git(&["show", "main:src/top.api"]), "says done\n");
}
