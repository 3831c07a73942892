//! The routing table as data, and as a drawing.

use expect_test::expect_file;
use interlocking::draw::mermaid;
use interlocking::graph::Graph as _;
use interlocking::table::{NodeKind, NodeRow};
use serde_json::json;
use v3::graph::V3;
use v3::memory::{ImplMem, Integration, TddMem};

held!(V3);

fn row(name: &str) -> &'static NodeRow {
    V3::net().table().nodes.iter().find(|row| row.name == name).unwrap()
}

/// The targets of a node: its branches, then the others.
fn leads_to(name: &str) -> Vec<String> {
    let row = row(name);
    let branches = row.fork.iter().flat_map(|fork| &fork.branches).flatten().map(ToString::to_string);
    branches.chain(row.goto.iter().map(|goto| goto.to.to_string())).collect()
}

#[test]
fn it_can_be_drawn() {
    expect_file!["../golden/v3.mmd"].assert_eq(&mermaid(V3::net().table()));
}

/// V3-01, V3-50, CON-01, CON-02, CON-04, CON-140: five roles, each with declared nodes; TDD has two of them, and the judge.
#[test]
fn five_roles_are_declared() {
    let roles = V3::net().table().nodes.iter().filter(|row| row.output.is_some());
    let mut roles: Vec<_> = roles.map(|row| (row.agent.as_deref().unwrap_or(&row.name), row.name.as_str())).collect();
    roles.sort_unstable();
    let expected = [
        ("impl", "implement"),
        ("merger", "merger"),
        ("rebaser", "rebaser"),
        ("scaffold", "scaffold"),
        ("tdd", "judge"),
        ("tdd", "review"),
        ("tdd", "write_tests"),
    ];
    assert_eq!(roles, expected);
    // CON-01: with the two nodes that have no agent.
    assert_eq!((row("fork").kind, row("barrier").kind), (NodeKind::Fork, NodeKind::Join));
    // CON-04: no other node waits.
    let joins = V3::net().table().nodes.iter().filter(|row| row.kind == NodeKind::Join);
    assert_eq!(joins.map(|row| row.name.as_str()).collect::<Vec<_>>(), ["barrier"]);
    // CON-140: the judge has the review's answer type, and belongs to the parent.
    assert_eq!(row("judge").output, row("review").output);
    // Each mode has an exit type of its own (V3-54).
    assert_eq!(row("write_tests").output.as_deref(), Some("WriteTestsExit"));
    assert_eq!(row("review").output.as_deref(), Some("ReviewExit"));
}

/// The edges of the protocol, and no others.
#[test]
fn every_edge_is_there() {
    // V3-107
    assert_eq!(leads_to("scaffold"), ["fork", "exit", "scaffold"]);
    // V3-106, PRG-29: children are started in one place, with the tests.
    assert_eq!(leads_to("fork"), ["write_tests", "children", "barrier.merges"]);
    assert_eq!(leads_to("children"), ["integrate"]);
    assert_eq!(leads_to("integrate"), ["barrier.merges", "children", "scaffold", "exit"]);
    // V3-108, V3-109, PRG-16, CON-143
    assert_eq!(leads_to("write_tests"), ["barrier.tests", "scaffold", "write_tests", "exit"]);
    assert_eq!(leads_to("barrier"), ["implement", "scaffold", "exit"]);
    // V3-113, V3-114, V3-115, V3-116, V3-117, PRG-12
    assert_eq!(leads_to("implement"), ["review", "exit", "implement", "scaffold"]);
    // V3-110, V3-111, V3-112, V3-63, PRG-14
    assert_eq!(leads_to("review"), ["merge_queue", "exit", "write_tests"]);
    assert_eq!(leads_to("merge_queue"), ["merger", "merge_queue"]);
    // V3-119, PRG-18
    assert_eq!(leads_to("merger"), ["judge", "exit", "implement"]);
    assert_eq!(leads_to("judge"), ["exit", "review", "merger"]);
    // V3-121, V3-122, V3-136, PRG-19, CON-27, CON-143
    assert_eq!(leads_to("rebaser"), ["scaffold", "write_tests", "exit"]);
    let rebaser = row("rebaser");
    assert!(rebaser.kind == NodeKind::Event && rebaser.resume, "V3-120: on a clean rebase it goes on where it was");
}

/// V3-04, EVO-03, EVO-07: the children's graph is this one, with all its nodes, at most four deep (V3-161).
#[test]
fn children_run_the_same_graph() {
    let children = row("children");
    assert_eq!((children.map.as_deref(), children.depth, children.adopt), (Some("V3"), Some(4), true));
}

/// PRG-25, CON-21, CON-22: which nodes share a memory; no other node sees it.
#[test]
fn memories_are_of_groups() {
    let group = |name: &str| {
        let rows = V3::net().table().nodes.iter().filter(|row| row.memory.as_ref().is_some_and(|of| of.group == name));
        rows.map(|row| row.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(group("tdd"), ["write_tests", "review"]);
    assert_eq!(group("impl_mem"), ["barrier", "implement"]);
    assert_eq!(group("integration"), ["scaffold", "fork", "merge_queue", "merger", "judge", "rebaser"]);
    assert_eq!(V3::net().memory_groups().len(), 3);
}

/// PRG-51: the subjects of the protocol's basic tests: kinds of handlers, their routes, initial memories, effects that are
/// emitted together, workspaces, the children's graph, and the results of a run.
#[test]
fn the_basic_subjects_are_covered() {
    let kinds = |kind: NodeKind| V3::net().table().nodes.iter().filter(|row| row.kind == kind).count();
    use NodeKind::{Event, Fork, Join, Llm, Logic, Map};
    assert_eq!([Llm, Logic, Fork, Join, Map, Event].map(kinds), [6, 2, 1, 1, 1, 1]);
    // An agent works in a place that the table names: the places under review or judgement are read-only.
    let place = |name: &str| (row(name).workspace.clone().unwrap_or_default(), row(name).read_only);
    let places = ["scaffold", "write_tests", "implement", "review", "merger", "judge", "rebaser"].map(place);
    let expected = [
        ("impl", false),
        ("tests", false),
        ("impl", false),
        ("impl", true),
        ("candidate", false),
        ("candidate", true),
        ("impl", false),
    ];
    assert_eq!(places, expected.map(|(name, is_read_only)| (name.to_owned(), is_read_only)));
    // All memories are empty when a run begins.
    assert_eq!(serde_json::to_value(TddMem::default()).unwrap()["pendingTests"], json!([]));
    assert_eq!((ImplMem::default().session_id, ImplMem::default().attempt_history), (None, Vec::new()));
    assert_eq!((Integration::default().heard, Integration::default().session), (Vec::new(), None));
    // V3-154, CON-05
    assert_eq!(V3::net().table().output, "V3Outcome");
}

/// V3-159: each way back has a budget, of the edge or of the node's attempts.
#[test]
fn every_way_back_has_a_budget() {
    let budget = |from: &str, to: &str| {
        let goto = row(from).goto.iter().find(|goto| goto.to.to_string() == to).unwrap();
        goto.times
    };
    let backs = [
        ("integrate", "children"),
        ("integrate", "scaffold"),
        ("write_tests", "scaffold"),
        ("barrier", "scaffold"),
        ("implement", "scaffold"),
        ("review", "write_tests"),
        ("merger", "implement"),
        ("judge", "review"),
        ("rebaser", "scaffold"),
    ];
    for (from, to) in backs {
        assert_eq!(budget(from, to), Some(5), "{from} → {to}");
    }
    for (from, to) in [("judge", "merger"), ("rebaser", "write_tests")] {
        assert_eq!(budget(from, to), Some(16), "{from} → {to}");
    }
    assert_eq!(row("merge_queue").attempts, Some(16));
    for name in ["scaffold", "write_tests", "implement"] {
        assert_eq!(row(name).attempts, Some(5), "{name}");
    }
}
