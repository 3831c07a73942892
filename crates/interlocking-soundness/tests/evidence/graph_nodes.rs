//! A graph node is one place: in a table it is like a node that does its work itself.

use crate::hand_made::{logic, table};
use crate::sweep::{selected, share_of};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table};
use interlocking_reference_model::generate;
use interlocking_soundness::{Rule, Verdict, check};

/// The table in which graph nodes replace all nodes that the search treats as one step.
fn with_graphs(mut table: Table) -> Table {
    let works = |row: &&mut NodeRow| matches!(row.kind, NodeKind::Logic | NodeKind::Map | NodeKind::Human);
    for row in table.nodes.iter_mut().filter(works) {
        row.kind = NodeKind::Graph;
        row.graph = Some("Child".to_owned());
    }
    table
}

#[test]
fn have_the_verdict_of_what_they_stand_for() {
    let (mut sound, mut unsound, mut graphs) = (0, 0, 0);
    for seed in selected(300_000..310_000) {
        let table = generate::table(seed);
        let other = with_graphs(table.clone());
        graphs += other.nodes.iter().filter(|row| row.kind == NodeKind::Graph).count();
        let [one, other] = [table, other].map(|table| check(&Net::new(table).unwrap()));
        assert_eq!(one, other, "seed {seed}");
        match one {
            Verdict::Sound { .. } => sound += 1,
            _ => unsound += 1,
        }
    }
    let enough = sound > share_of(2_000) && unsound > share_of(1_000) && graphs > share_of(20_000);
    assert!(enough, "{sound} sound, {unsound} not, {graphs} graph nodes");
}

#[test]
fn with_a_fork_are_one_place_with_one_token() {
    let child = |mut row: NodeRow| {
        (row.kind, row.graph) = (NodeKind::Graph, Some("Child".to_owned()));
        row
    };
    let twice = table([
        logic("begin").fork(&["one", "other"], &[]),
        child(logic("one").goto("meet", &[])),
        child(logic("other").goto("meet", &[])),
        logic("meet").goto("exit", &["*"]),
    ]);
    let Verdict::Unsound { violations } = check(&Net::new(twice).unwrap()) else { panic!("two tokens meet") };
    let rule = &violations[0].rule;
    assert!(matches!(rule, Rule::DoubleToken { place, .. } if place == "meet"), "{rule:?}");
}
