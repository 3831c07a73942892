//! The demonstration: the main way through a tree of five nodes, with cargo.

use crate::project::Project;
use crate::test_run::TestRun;
use v3::demo;
use v3::types::outcome::V3Outcome;

/// PRG-42…49: the URL shortener, from its file to one commit for each child on `main`.
#[tokio::test(flavor = "multi_thread")]
async fn the_demonstration_comes_to_main() {
    let spec = demo::spec().unwrap();
    assert_eq!((spec.id.as_str(), spec.acceptance_criteria.len()), ("shortener", 6), "PRG-42");
    let project = Project::of(&demo::SEED).await;
    let test = TestRun::new(&project, demo::script().unwrap(), |_| {});
    let outcome = test.outcome(spec).await;
    let V3Outcome::Merged(merge) = outcome else { panic!("{outcome}") };

    // PRG-49: with every field of the type.
    assert_eq!(merge.merge_commit.to_string(), project.git(&["rev-parse", "main"]).trim());
    assert_eq!((merge.author.as_str(), merge.changes.len()), ("shortener", 1), "V3-94");

    // CON-30: the merge is a commit on a local branch, and no forge is involved.
    assert_eq!(project.git(&["remote"]), "");
    // V3-89, V3-05: one commit for each child, with one parent each; the grandchildren's commits are in their parent's.
    let subjects = project.subjects("main");
    let children = ["feat(shortener/codec): implement".to_owned(), "feat(shortener/store): implement".to_owned()];
    assert_eq!((subjects.len(), subjects[0].as_str()), (5, "feat(shortener): implement"), "{subjects:?}");
    assert!(children.iter().all(|child| subjects[1..3].contains(child)), "{subjects:?}");
    assert_eq!(subjects[3..], ["feat(shortener): scaffold", "Begin"]);
    assert_eq!(project.git(&["rev-list", "--merges", "main"]), "");
    for file in ["src/codec/digits.rs", "src/codec/check.rs", "src/store.rs", "src/shortener.rs"] {
        assert!(!project.git(&["show", &format!("main:{file}")]).contains("todo!"), "{file}");
    }
    project.is_tidy();

    // V3-106: tests are written while children work.
    let way = ["scaffold", "fork", "write_tests", "children", "integrate", "barrier", "implement", "review"];
    assert_eq!(test.path(), [&way[..], &["merge_queue", "merger"]].concat());

    // PRG-43, PRG-44, V3-04: five runs of one graph.
    let ended = test.ended();
    let runs: std::collections::BTreeSet<_> = ended.iter().map(|(run, _)| run.clone()).collect();
    assert_eq!(runs.len(), 5);
    for run in &runs {
        let nodes: Vec<&str> = ended
            .iter()
            .filter(|(of, _)| of == run)
            .map(|(_, node)| node.as_str())
            .filter(|node| *node != "rebaser")
            .collect();
        let is_at =
            |node: &str| nodes.iter().position(|other| *other == node).unwrap_or_else(|| panic!("{node}: {nodes:?}"));
        // V3-106, V3-108, V3-113, V3-87, PRG-47: in this order, each.
        let way =
            ["scaffold", "fork", "write_tests", "barrier", "implement", "review", "merge_queue", "merger"].map(is_at);
        assert!(way.is_sorted(), "{nodes:?}");
        // V3-73, V3-126, PRG-45: if there are children, the barrier waits for them.
        if let Some(children) = nodes.iter().position(|node| *node == "children") {
            assert!(children < is_at("integrate") && is_at("integrate") < is_at("barrier"), "{nodes:?}");
        }
    }
    // PRG-48: the parent is told of each merge below it.
    let told = &test.prompts("implementer of `shortener`")[0];
    assert!(told.contains("\n- shortener/codec:") && told.contains("\n- shortener/store:"), "{told}");
    // V3-09, V3-93, V3-118: a node that still works when a sibling merges is rebased: of two siblings the later one.
    let rebased = ended.iter().filter(|(_, node)| node == "rebaser").count();
    assert!(rebased >= 2, "{ended:?}");
}
