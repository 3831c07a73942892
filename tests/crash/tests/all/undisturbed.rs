//! The run with which all others are compared.

use crate::case::undisturbed;
use interlocking::graph::Graph;
use interlocking::prelude::Outcome;
use interlocking::table::NodeKind;
use interlocking_crash::gazette::{Edition, Gazette};

#[test]
fn the_graph_has_every_node_kind() {
    let kinds: Vec<NodeKind> = Gazette::net().table().nodes.iter().map(|node| node.kind).collect();
    for kind in [
        NodeKind::Llm,
        NodeKind::Logic,
        NodeKind::Fork,
        NodeKind::Join,
        NodeKind::Map,
        NodeKind::Human,
        NodeKind::Advisory,
        NodeKind::Observer,
        NodeKind::Event,
    ] {
        assert!(kinds.contains(&kind), "{kind}");
    }
}

/// The output contains what came from messages, answers, memory, the exhausted route, the observer and the advisory node.
#[tokio::test]
async fn a_run_that_nobody_disturbs_shows_what_every_node_did() {
    let (ending, _) = undisturbed().await;
    let Outcome::Finished(edition) = &ending.outcome else { panic!("{:?}", ending.outcome) };
    let child = |index: usize| serde_json::from_str::<Edition>(&edition.chapters[index]).unwrap();
    assert_eq!(edition.text, "as it is, checked 0, refused 2");
    let notes = ["written 1", "one", "two", "answer 1: false", "written 2", "answer 2: false", "from outside"];
    assert_eq!(edition.notes, notes);
    assert_eq!(edition.spelled, [(1, 1), (2, 2)]);
    assert!(edition.seen.0.iter().eq(["gate 1", "gate 2", "wire 1", "wire 2", "wire 3", "write 1", "write 2"]));
    assert_eq!(edition.chapters.len(), 5);
    assert_eq!(child(1).notes, ["written 1", "psst", "from its sibling"]);
    assert_eq!(child(2).notes, ["written 1", "answer 1: true"]);
    assert_eq!(serde_json::from_str::<Edition>(&child(3).chapters[0]).unwrap().text, "leaf 1, checked 1, refused 0");
    assert_eq!(edition.chapters[4], "node `gate` failed: it fails, as it should");
    let visits = |node: &str| ending.visits.iter().find(|(name, _)| name == node).unwrap().1;
    assert_eq!(["write", "gate", "chapters", "wire"].map(visits), [3, 2, 1, 3]);
}
