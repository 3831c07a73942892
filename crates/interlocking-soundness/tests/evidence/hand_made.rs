//! The brute force on tables so small that the right result is obvious.

use crate::protocols;
use expect_test::{Expect, expect};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Table};
use interlocking_reference_model::cycles;
use interlocking_reference_model::explore::{Broken, explore};
use interlocking_reference_model::mutate::name_sources;
use interlocking_reference_model::rules::Budgets;

pub(crate) fn logic(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Logic)
}

pub(crate) fn event(name: &str) -> NodeRow {
    NodeRow::new(name, NodeKind::Event)
}

/// A join with a slot for each source, named like the source; `!` latches the slot.
pub(crate) fn join(name: &str, sources: &[&str]) -> NodeRow {
    sources.iter().fold(NodeRow::new(name, NodeKind::Join), |row, source| {
        let plain = source.trim_start_matches('!');
        row.slot(plain, "T", &[plain], *source != plain)
    })
}

/// A table whose first node is the entry; a slot's sources are the nodes that have it as a target.
pub(crate) fn table<const NODES: usize>(nodes: [NodeRow; NODES]) -> Table {
    let mut table = Table::new("Small", "T");
    table.nodes = nodes.into();
    table.nodes[0].entry = true;
    (0..NODES).for_each(|at| name_sources(&mut table, at));
    Net::new(table.clone()).expect("a table that a net can be made of");
    table
}

pub(crate) fn said(table: &Table, budgets: Budgets) -> String {
    let explored = explore(table, budgets, 1_000_000).unwrap();
    let spell = |(rule, steps): (&Broken, &u32)| match rule {
        Broken::DoubleToken { from, place } => format!("{from} doubles {place} in {steps}"),
        Broken::LiveAtExit { from } => format!("{from} exits early in {steps}"),
        Broken::Stuck { joins } => format!("stuck at {joins:?} in {steps}"),
        other => format!("{other:?}"),
    };
    let said: Vec<_> = explored.broken.iter().map(spell).collect();
    if said.is_empty() { "sound".into() } else { said.join("; ") }
}

/// Checks a table with both ways to count budgets.
fn check<const NODES: usize>(nodes: [NodeRow; NODES], expected: Expect) {
    let table = table(nodes);
    let (one_bit, concrete) = (said(&table, Budgets::OneBit), said(&table, Budgets::Concrete));
    if one_bit == concrete {
        expected.assert_eq(&one_bit);
    } else {
        expected.assert_eq(&format!("one bit: {one_bit}\nconcrete: {concrete}"));
    }
}

#[test]
fn double_token() {
    let sender = |cancels: &[&str]| logic("b").goto("c", cancels);
    let rest = |b: NodeRow| {
        [logic("split").fork(&["a", "b"], &[]), logic("a").goto("c", &[]), b, logic("c").goto("exit", &["*"])]
    };
    check(rest(sender(&[])), expect!["a doubles c in 3; b doubles c in 3"]);
    check(rest(sender(&["a", "c"])), expect!["sound"]);
}

#[test]
fn live_at_exit() {
    let split = || logic("split").fork(&["a", "b"], &[]);
    check([split(), logic("a").goto("exit", &[]), logic("b").goto("exit", &["*"])], expect!["a exits early in 2"]);
    check([split(), logic("a").goto("exit", &["*"]), logic("b").goto("exit", &["*"])], expect!["sound"]);
    check([logic("split").fork(&["exit", "exit"], &[])], expect!["split doubles exit in 1"]);
    check([logic("split").fork(&["exit", "a"], &[]), logic("a").goto("exit", &[])], expect!["split exits early in 1"]);
}

#[test]
fn starved_join() {
    let rest = |b: NodeRow| {
        [
            logic("split").fork(&["a", "b"], &[]),
            logic("a").goto("meet", &[]),
            b,
            join("meet", &["a", "b"]).goto("exit", &[]),
        ]
    };
    check(rest(logic("b").goto("meet", &[])), expect!["sound"]);
    check(rest(logic("b").goto("meet", &[]).goto("b", &["meet"]).visits(2)), expect![[r#"stuck at {"meet"} in 4"#]]);
    check(rest(logic("b").goto("meet", &[]).goto("exit", &["*"])), expect!["sound"]);
}

#[test]
fn deadlock_of_several_joins() {
    check(
        [
            logic("split").fork(&["a", "b"], &[]),
            logic("a").goto("one", &[]),
            logic("b").goto("two", &[]),
            join("one", &["a", "two"]).goto("two.one", &[]),
            join("two", &["b", "one"]).goto("one.two", &[]),
        ],
        expect![[r#"stuck at {"one", "two"} in 3; UnboundedCycle"#]],
    );
}

#[test]
fn a_latched_slot_serves_later_rounds() {
    let redo = |latched: &str| {
        [
            logic("split").fork(&["a", "b"], &[]),
            logic("a").goto("meet", &[]),
            logic("b").goto("meet", &[]),
            join("meet", &["a", latched]).goto("a", &[]).goto("exit", &[]).visits(2),
        ]
    };
    check(redo("!b"), expect!["sound"]);
    check(redo("b"), expect![[r#"stuck at {"meet"} in 5"#]]);
}

#[test]
fn a_new_arrival_while_the_join_runs_stays() {
    // If `late` comes while `meet` is due, it is taken; if it comes while `meet` runs, it blocks the exit of
    // `meet`.
    check(
        [
            logic("split").fork(&["a", "b", "late"], &[]),
            logic("a").goto("meet.a", &[]),
            logic("b").goto("meet.b", &[]),
            logic("late").goto("meet.b", &[]).goto("exit", &["*"]),
            join("meet", &["a", "!b"]).goto("exit", &[]).goto("a", &[]).visits(2).exhausted("exit", &["*"]),
        ],
        expect!["b doubles meet.b in 3; late doubles meet.b in 3; meet exits early in 4"],
    );
}

#[test]
fn never_runs_and_unreachable_exit() {
    check([logic("a").goto("exit", &[]), logic("b").goto("exit", &[])], expect![[r#"NeverRuns { node: "b" }"#]]);
    check([logic("a").goto("exit", &[]).spawn("helper"), NodeRow::new("helper", NodeKind::Advisory)], expect!["sound"]);
    check(
        [logic("a").goto("exit", &[]), NodeRow::new("helper", NodeKind::Advisory)],
        expect![[r#"NeverRuns { node: "helper" }"#]],
    );
    check([logic("a").goto("a", &[]).visits(3)], expect!["ExitUnreachable"]);
    check([logic("a").goto("a", &[]).unbounded()], expect!["ExitUnreachable"]);
}

#[test]
fn no_way_out() {
    let rest = |b: NodeRow| [logic("a").goto("b", &[]).goto("exit", &[]), b];
    check(rest(logic("b").goto("b", &[]).unbounded()), expect!["NoWayOut"]);
    check(rest(logic("b").goto("a", &[]).unbounded()), expect!["sound"]);
}

#[test]
fn unbounded_cycle() {
    let rest = |b: NodeRow| [logic("a").goto("b", &[]).goto("exit", &[]), b.goto("a", &[])];
    check(rest(logic("b")), expect!["UnboundedCycle"]);
    check(rest(logic("b").visits(2)), expect!["sound"]);
    check(rest(logic("b").visits(2).exhausted("a", &[])), expect!["UnboundedCycle"]);
    check([logic("a").goto("a", &[]).goto("exit", &[]).attempts(2)], expect!["sound"]);
    check([logic("a").goto("a", &[]).goto("exit", &[]).attempts(2).exhausted("a", &[])], expect!["UnboundedCycle"]);
}

/// Any execution may fail, or take too long (V3-129).
#[test]
fn failures() {
    let rest = |children: NodeRow| {
        [
            logic("split").fork(&["tests", "children"], &[]),
            logic("tests").goto("barrier", &[]),
            children.goto("barrier.children", &[]),
            join("barrier", &["tests", "children"]).goto("exit", &[]),
            logic("report").goto("exit", &[]),
        ]
    };
    let children = || NodeRow::new("children", NodeKind::Map).timeout_ms(1);
    check(rest(children().failed("barrier.children", &[])), expect![[r#"NeverRuns { node: "report" }"#]]);
    check(rest(children().failed("report", &[])), expect!["report exits early in 3"]);
    check(rest(children().timed_out("report", &["tests", "barrier"])), expect!["sound"]);
    check(
        rest(children().timed_out("exit", &["*"]).failed("children", &[])),
        expect![[r#"UnboundedCycle; NeverRuns { node: "report" }"#]],
    );
    check(rest(children().timed_out("children", &[]).attempts(2)), expect![[r#"NeverRuns { node: "report" }"#]]);
    check(rest(children().failed("split", &["*"])), expect![[r#"UnboundedCycle; NeverRuns { node: "report" }"#]]);
}

#[test]
fn one_bit_is_coarser_than_counting() {
    // `b` is exhausted at its third entry, when no other node is live; with one-bit budgets already at its
    // second.
    check(
        [
            logic("a").goto("b", &[]),
            logic("b").goto("c", &[]).visits(2).exhausted("exit", &[]),
            logic("c").fork(&["d", "b"], &[]).goto("exit", &[]),
            logic("d").goto("exit", &["*"]),
        ],
        expect![[r#"
            one bit: c doubles d in 5; b exits early in 4; c exits early in 5
            concrete: c doubles d in 5; c exits early in 5"#]],
    );
}

#[test]
fn events() {
    let rest = |event: NodeRow| {
        [
            logic("split").fork(&["a", "b"], &[]),
            logic("a").goto("meet", &[]),
            logic("b").goto("meet", &[]),
            join("meet", &["a", "b"]).goto("exit", &[]),
            event,
        ]
    };
    check(rest(event("message").resume()), expect!["sound"]);
    check(rest(event("message").goto("split", &["*"]).visits(2)), expect!["sound"]);
    check(rest(event("message").goto("split", &["*"])), expect!["UnboundedCycle"]);
    check(rest(event("message").resume().goto("a", &["a"]).visits(2)), expect!["sound"]);
    check(rest(event("message").goto("b", &["a"]).visits(2)), expect!["b doubles meet.b in 4; message doubles b in 2"]);
    check(rest(event("message").resume().goto("exit", &["meet"]).visits(1)), expect!["message exits early in 3"]);
}

#[test]
fn the_protocols_are_sound() {
    for table in [protocols::hybrid(), protocols::v3(), protocols::scout_and_wave()] {
        let explored = explore(&table, Budgets::OneBit, 1_000_000).unwrap();
        println!("{} {}", table.graph, explored.states);
        assert_eq!(explored.broken.keys().collect::<Vec<_>>(), Vec::<&Broken>::new(), "{}", table.graph);
        assert_eq!(cycles::unbounded(&table).len(), 0);
    }
}
