//! Small tables on which a search with reductions can go wrong, each with the result of the brute force.

use crate::compare::{Compared, compare};
use crate::hand_made::{event, join, logic, said, table};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Quorum, Table};
use interlocking_reference_model::cycles;
use interlocking_reference_model::mutate::name_sources;
use interlocking_reference_model::rules::Budgets;
use interlocking_soundness::{Rule, Verdict, check};

/// Checks that the brute force gives this result, and that the check finds the same rules by paths of the same lengths.
pub(crate) fn both_say(table: &Table, expected: &str) {
    assert_eq!(said(table, Budgets::OneBit), expected);
    if let Err(why) = compare(table, 10_000, &mut Compared::default()) {
        panic!("{why}\n{}", serde_json::to_string(table).unwrap());
    }
}

#[test]
fn a_fork_of_two_exits() {
    both_say(&table([logic("a").fork(&["exit", "exit"], &[])]), "a doubles exit in 1");
    let one_live = [logic("a").fork(&["exit", "b", "exit"], &[]), logic("b").goto("exit", &["*"])];
    both_say(&table(one_live), "a exits early in 1");
}

/// `a` and then `b`, which is remembered, meet; a message begins anew at `redone`.
fn meeting(after: NodeRow, message: NodeRow) -> Table {
    table([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        join("meet", &["a", "!b"]).goto("after", &[]),
        after,
        message,
    ])
}

#[test]
fn a_message_clears_what_is_remembered() {
    let ends = || logic("after").goto("exit", &[]);
    let redo = |cancels| event("message").goto("a", cancels).visits(2);
    both_say(&meeting(ends(), redo(&["*"])), r#"stuck at {"meet"} in 2"#);
    both_say(&meeting(ends(), redo(&["a", "meet.a", "after"])), "sound");
    both_say(&meeting(ends(), event("message").goto("split", &["*"]).visits(2)), "sound");
}

/// The same with nothing after the join.
#[test]
fn a_message_clears_what_is_remembered_until_the_exit() {
    both_say(
        &table([
            logic("split").fork(&["a", "b"], &[]),
            join("meet", &["a", "!b"]).goto("exit", &[]),
            logic("a").goto("meet", &[]),
            logic("b").goto("meet", &[]),
            event("message").goto("a", &["*"]).visits(2),
        ]),
        r#"stuck at {"meet"} in 2"#,
    );
}

#[test]
fn a_message_ends_what_would_go_on_for_ever() {
    let after = || logic("after").goto("a", &[]).unbounded();
    let stop = event("message").goto("exit", &["*"]).visits(1);
    both_say(&meeting(after(), stop), "sound");
    let stopped = |stop: NodeRow| {
        let mut table = meeting(after(), event("message").resume());
        table.nodes.pop();
        table = table.with(event("message").goto("stop", &["*"]).visits(1)).with(stop);
        name_sources(&mut table, 6);
        table
    };
    both_say(&stopped(logic("stop").goto("exit", &[])), "sound");
    both_say(&stopped(logic("stop").goto("meet.a", &[])), r#"stuck at {"meet"} in 2"#);
}

#[test]
fn a_message_is_not_exhausted_at_its_first_entry() {
    both_say(
        &table([
            logic("split").fork(&["a", "b"], &[]),
            logic("a").goto("meet", &[]),
            logic("b").goto("meet", &[]),
            join("meet", &["a", "b"]).goto("exit", &[]),
            event("message").goto("exit", &["*"]).visits(1).exhausted("a", &["b"]),
        ]),
        "sound",
    );
}

#[test]
fn a_message_may_start_an_advisory() {
    let message = event("message").resume().spawn("helper");
    both_say(&table([logic("a").goto("exit", &[]), message, NodeRow::new("helper", NodeKind::Advisory)]), "sound");
}

#[test]
fn the_shortest_path_is_found_where_a_branch_chooses() {
    let found = table([
        logic("n0").fork(&["n0|n3", "n2.b|n2.a"], &[]),
        logic("n1").fork(&["n2.a"], &[]),
        NodeRow::new("n2", NodeKind::Join)
            .slot("a", "T", &["n0"], true)
            .slot("b", "T", &["n0"], false)
            .fork(&["n1", "n2.b"], &[]),
        logic("n3").goto("n1", &[]).fork(&["n2.a", "n1"], &[]),
    ]);
    let expected = said(&found, Budgets::OneBit);
    assert!(expected.contains("n2 doubles n1 in 3"), "{expected}");
    both_say(&found, &expected);
}

#[test]
fn a_cycle_begins_with_its_first_node_in_the_table() {
    let round = table([logic("n0").goto("n1", &[]).goto("exit", &[]), logic("n1").goto("n0", &[])]);
    let through_a_join = table([
        logic("n0").fork(&["n1.b"], &[]).goto("exit", &[]),
        NodeRow::new("n1", NodeKind::Join).slot("b", "T", &["n0"], false).goto("n0", &[]),
    ]);
    for table in [round, through_a_join] {
        assert_eq!(cycles::unbounded(&table), [vec!["n0".to_owned(), "n1".to_owned()]].into());
        let Verdict::Unsound { violations } = check(&Net::new(table).unwrap()) else { panic!("a cycle has no bound") };
        let rules: Vec<&Rule> = violations.iter().map(|violation| &violation.rule).collect();
        assert_eq!(rules, [&Rule::UnboundedCycle { nodes: vec!["n0".into(), "n1".into()] }]);
    }
}

/// One bit cannot express that the first entry is already one too many.
#[test]
fn a_node_that_may_not_be_entered_is_not_overlooked() {
    let mut never = Table::new("Small", "T");
    never.nodes = vec![
        logic("split").entry().fork(&["x", "y"], &[]),
        logic("x").goto("meet", &[]).visits(0).exhausted("exit", &[]),
        logic("y").goto("meet", &[]),
        join("meet", &["x", "y"]).goto("exit", &[]),
    ];
    assert_eq!(said(&never, Budgets::Concrete), "x exits early in 2");
    let Ok(net) = Net::new(never) else { return };
    assert!(!matches!(check(&net), Verdict::Sound { .. }));
}

#[test]
fn a_message_may_find_that_somebody_waits_who_was_entered() {
    // When the order changes, the person may have been asked or not: the third entry, or a later one, is beyond the bound.
    let confirm = NodeRow::new("confirm", NodeKind::Human).goto("exit", &[]).visits(2).exhausted("give_up", &[]);
    let table = table([
        logic("order").goto("confirm", &[]),
        confirm,
        logic("give_up").goto("exit", &[]),
        event("changed").goto("confirm", &["*"]).visits(10),
    ]);
    both_say(&table, "sound");
    assert_eq!(said(&table, Budgets::Concrete), "sound");
}

#[test]
fn who_waits_when_a_message_comes_may_be_beyond_its_bound_then() {
    // Beyond its bound `ask` fills one slot only.
    let asks = |ask: NodeRow| {
        let ask = ask.goto("exit", &[]).fork(&["gate.a", "gate.b"], &[]).visits(1).exhausted("gate.a", &[]);
        let gate = NodeRow::new("gate", NodeKind::Join).slot("a", "T", &["ask"], false).slot("b", "T", &["ask"], false);
        table([ask, gate.goto("exit", &[]), event("changed").goto("ask", &["ask"]).visits(3)])
    };
    for kind in [NodeKind::Human, NodeKind::Map, NodeKind::Graph] {
        both_say(&asks(NodeRow::new("ask", kind)), r#"stuck at {"gate"} in 2"#);
        assert_eq!(said(&asks(NodeRow::new("ask", kind)), Budgets::Concrete), r#"stuck at {"gate"} in 2"#);
    }
    // A message waits while `ask` of these kinds runs, so the `ask` that the message clears has not begun.
    both_say(&asks(logic("ask")), "sound");
    both_say(&asks(NodeRow::new("ask", NodeKind::Graph).exclusive("desk")), "sound");
}

#[test]
fn who_waits_may_have_started_when_a_message_brings_a_quorum() {
    // The join may clear the first visit of `ask`. Then the next visit is beyond the bound, and leaves `rest` behind.
    let asks = |ask: NodeRow| {
        let meet = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["begin"], false);
        let meet = meet.slot("other", "T", &["begin"], false).slot("hurry", "T", &["hurry"], false);
        table([
            logic("begin").fork(&["ask", "wait", "meet.one"], &[]),
            logic("wait").goto("exit", &["*"]),
            ask.goto("exit", &["*"]).visits(1).exhausted("exit", &[]),
            meet.quorum(Quorum::AtLeast(2)).cancels(&["ask"]).fork(&["ask", "rest"], &[]),
            logic("rest").goto("exit", &["*"]),
            event("hurry").goto("meet.hurry", &["wait"]),
        ])
    };
    both_say(&asks(logic("ask")), "sound");
    both_say(&asks(NodeRow::new("ask", NodeKind::Human)), "ask exits early in 4");
}
