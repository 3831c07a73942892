//! Targets, and a table's answers about its rows.

use interlocking_core::table::{NodeKind, NodeRow, Table, Target};
use std::time::Duration;

#[test]
fn a_target_is_a_node_a_slot_or_the_exit() {
    for (text, node, slot, is_exit) in
        [("a", "a", None, false), ("meet.one", "meet", Some("one"), false), ("exit", "exit", None, true)]
    {
        let target = Target::from(text);
        assert_eq!((target.node.as_str(), target.slot.as_deref(), target.is_exit()), (node, slot, is_exit));
        assert_eq!(target.to_string(), text);
    }
}

#[test]
fn a_table_answers_for_its_rows() {
    let join = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["a"], false).slot("two", "T", &["b"], true);
    let table = Table::new("Test", "T")
        .with(NodeRow::new("a", NodeKind::Logic).goto("meet", &[]).fork(&["b|meet", "b"], &[]).exhausted("exit", &[]))
        .with(NodeRow::new("b", NodeKind::Logic).entry().memory("m", "M").timeout_ms(1500))
        .with(join.memory("own", "T"));
    let targets: Vec<String> = table.nodes[0].targets().map(Target::to_string).collect();
    assert_eq!(targets, ["meet", "b", "meet", "b", "exit"], "alternatives, branches, exhausted route");
    assert_eq!(table.edge_count(), 5);
    assert_eq!(table.entry().map(|row| row.name.as_str()), Some("b"));
    assert_eq!(table.slot_of("meet", "b").map(|slot| slot.name.as_str()), Some("two"));
    assert_eq!(
        (table.slot_of("meet", "meet"), table.slot_of("a", "b"), table.slot_of("none", "b")),
        (None, None, None)
    );
    assert_eq!(table.memory_groups(), ["m", "own"]);
    assert_eq!(table.nodes[1].timeout(), Some(Duration::from_millis(1500)));
}
