//! Ten thousand tables with joins that have a quorum, compared with the brute force like the others.

use crate::compare::{Compared, compare, is_sound};
use crate::generated::{Counted, count, report};
use crate::hand_made::{event, logic, said, table};
use crate::hard_tables::both_say;
use crate::mutations::compare_all;
use crate::sweep::{compare_all_of, selected, share_of};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Quorum, Table};
use interlocking_reference_model::edge_budgets::give_budgets;
use interlocking_reference_model::generate::Dice;
use interlocking_reference_model::mutate::mutants;
use interlocking_reference_model::quorums::with_quorums;
use interlocking_reference_model::rules::Budgets;
use std::ops::Range;

/// The most states of a table that is compared.
const STATES: usize = 3000;

/// Every fourth table also has budgets on edges.
fn generated(seed: u64) -> Table {
    let table = with_quorums(seed);
    if !seed.is_multiple_of(4) {
        return table;
    }
    let mut budgeted = table.clone();
    let edges = give_budgets(&mut Dice::new(seed), &mut budgeted);
    if edges <= interlocking_reference_model::edge_budgets::EDGES && Net::new(budgeted.clone()).is_ok() {
        budgeted
    } else {
        table
    }
}

fn sweep(seeds: Range<u64>) {
    let many = selected(seeds.clone()).count();
    let (mut counted, mut matters) = (Counted::default(), 0);
    let compared = compare_all_of(seeds, STATES, generated, |table, explored| {
        count(table, explored, &mut counted);
        matters += usize::from(explored.broken.is_empty() != is_sound(&without(table)));
    });
    report(&compared, &counted);
    assert!(compared.tables >= share_of(2_500), "with the other quarters, ten thousand are compared: {compared:?}");
    assert!(compared.too_large * 25 <= many && compared.share(compared.sound) > 0.1, "{compared:?}");
    assert!(matters * 20 >= compared.tables, "what is sound, or not, only by its quorums: {matters}");
}

/// The same table without quorums.
fn without(table: &Table) -> Table {
    let mut table = table.clone();
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Join) {
        (row.quorum, row.cancels) = (None, Vec::new());
        row.slots.iter_mut().for_each(|slot| slot.optional = false);
    }
    table
}

#[test]
fn first_quarter() {
    sweep(0..3_000);
}

#[test]
fn second_quarter() {
    sweep(3_000..6_000);
}

#[test]
fn third_quarter() {
    sweep(6_000..9_000);
}

#[test]
fn last_quarter() {
    sweep(9_000..12_000);
}

/// Three branches with a quorum of two; `c` may send no value.
fn two_of_three(cancels: &[&str]) -> Table {
    let pick = NodeRow::new("pick", NodeKind::Join).slot("a", "T", &["a"], false).slot("b", "T", &["b"], false);
    let pick = pick.optional_slot("c", "T", &["c"]).quorum(Quorum::AtLeast(2)).cancels(cancels);
    table([
        logic("split").fork(&["a", "b", "c|pick.c"], &[]),
        logic("a").goto("pick.a", &[]),
        logic("b").goto("pick.b", &[]),
        logic("c").goto("think", &[]),
        logic("think").goto("pick.c", &[]),
        pick.goto("exit", &[]).goto("split", &[]).visits(3),
    ])
}

#[test]
fn what_a_quorum_leaves_out_is_said() {
    for (cancels, expected) in [
        (&["*"][..], "sound"),
        (&["a", "b", "c", "think"], "sound"),
        (
            &["a", "b", "c"],
            "c doubles think in 7; split doubles pick.c in 7; think doubles pick.c in 5; pick exits early in 5",
        ),
    ] {
        let table = two_of_three(cancels);
        assert_eq!(said(&table, Budgets::OneBit), expected, "{cancels:?}");
        compare(&table, STATES, &mut Compared::default()).unwrap();
    }
}

#[test]
fn what_never_started_and_is_cleared_at_a_quorum_was_not_entered() {
    // `work` ends the run, so when `hurry` runs, `work` has not begun: the join makes it begin for the first time.
    let meet = NodeRow::new("meet", NodeKind::Join).slot("one", "T", &["one"], false);
    let meet = meet.slot("other", "T", &["other"], false).slot("hurry", "T", &["hurry"], false);
    both_say(
        &table([
            logic("begin").goto("one", &[]).goto("other", &[]),
            logic("one").fork(&["work", "wait", "meet.one"], &[]),
            logic("other").fork(&["work", "wait", "meet.other"], &[]),
            logic("wait").goto("exit", &["*"]),
            logic("work").goto("exit", &["*"]).visits(1).exhausted("exit", &[]),
            meet.quorum(Quorum::AtLeast(2)).cancels(&["work"]).fork(&["work", "rest"], &[]),
            logic("rest").goto("exit", &["*"]),
            event("hurry").goto("meet.hurry", &["wait"]),
        ]),
        "sound",
    );
}

#[test]
fn who_is_cleared_at_a_quorum_tries_afresh() {
    // Beyond its attempts `work` leaves `rest` behind, unless `work` has run since `rest` began, and has cleared it.
    let meet = NodeRow::new("meet", NodeKind::Join).slot("work", "T", &["work"], false);
    let meet = meet.slot("other", "T", &["other"], false);
    both_say(
        &table([
            logic("begin").fork(&["work", "other"], &[]),
            logic("work")
                .goto("meet", &["rest"])
                .goto("work", &["rest"])
                .attempts(2)
                .exhausted("exit", &["other", "meet"]),
            logic("other").goto("meet", &[]),
            meet.quorum(Quorum::AtLeast(1))
                .cancels(&["work", "other"])
                .fork(&["work", "rest"], &[])
                .visits(2)
                .exhausted("exit", &["*"]),
            logic("rest").goto("exit", &["*"]),
        ]),
        "sound",
    );
}

/// A fork of seven branches to `meet`, or of six and `last`, each of which may send no value: more combinations than are explored
/// one by one. `meet` has its quorum at once, or can never have it.
fn wide(last: &str, cancels: &str, meet_to: &str, others: Vec<NodeRow>) -> Table {
    let slots = ["a", "b", "c", "d", "e", "f"];
    let targets = slots.map(|slot| format!("meet.{slot}"));
    let branches: Vec<&str> = targets.iter().map(String::as_str).chain(last.split(", ")).collect();
    let meet = NodeRow::new("meet", NodeKind::Join);
    let meet = slots.iter().fold(meet, |meet, slot| meet.optional_slot(slot, "T", &["split"]));
    let meet = if last.contains("meet.g") { meet.optional_slot("g", "T", &["split"]) } else { meet };
    let meet = meet.quorum(Quorum::AtLeast(2)).cancels(&[cancels]).goto(meet_to, &[]);
    let mut table = Table::new("Wide", "T").with(logic("split").entry().fork(&branches, &[])).with(meet);
    table.nodes.extend(others);
    table
}

#[test]
fn a_wide_fork_brings_all_that_it_brings_at_once() {
    let ends = |name: &str| logic(name).goto("exit", &["*"]);
    // The target of the last branch is known when the join clears `work`, to which the branch then leads.
    both_say(&wide("work|rest", "work", "work", vec![ends("work"), ends("rest")]), "sound");
    // The join clears a node that has not begun.
    let works = vec![logic("work").goto("exit", &[])];
    both_say(&wide("meet.g, work", "work", "exit", works), r#"NeverRuns { node: "work" }"#);
    // The last slot is filled, or stays empty, before the join fires.
    both_say(&wide("meet.g|rest", "end", "end", vec![ends("rest"), ends("end")]), "sound");
}

#[test]
fn a_join_that_loses_its_quorum_to_another_clears_nothing() {
    // Both joins reach their quorum at once. `first` clears `second` before `second` can clear `work`; `first` and `work` go on
    // side by side.
    let join = |name: &str, cancels: &str| {
        let slots =
            NodeRow::new(name, NodeKind::Join).slot("a", "T", &["split"], false).slot("b", "T", &["work"], false);
        slots.quorum(Quorum::AtLeast(1)).cancels(&[cancels]).goto("end", &[])
    };
    both_say(
        &table([
            logic("split").fork(&["first.a", "second.a", "work"], &[]),
            join("first", "second"),
            join("second", "work"),
            logic("work").goto("end", &[]).goto("first", &[]).goto("second", &[]),
            logic("end").goto("exit", &["*"]),
        ]),
        "first doubles end in 3; second doubles end in 4; work doubles end in 3; work doubles first.b in 2",
    );
}

#[test]
fn mutants_have_the_verdict_of_the_brute_force() {
    let race = table([
        logic("split").fork(&["a", "b", "wait"], &[]),
        logic("a").goto("first.a", &[]).goto("a", &[]).attempts(2).exhausted("first.a", &[]),
        logic("b").goto("first.b", &[]),
        NodeRow::new("first", NodeKind::Join)
            .optional_slot("a", "T", &["a"])
            .optional_slot("b", "T", &["b"])
            .quorum(Quorum::AtLeast(1))
            .cancels(&["a", "b"])
            .goto("meet", &[]),
        logic("wait").goto("meet.wait", &[]).goto("exit", &["*"]),
        crate::hand_made::join("meet", &["first", "wait"]).goto("exit", &[]).goto("split", &[]).visits(2),
    ]);
    for (table, sound, unsound) in [(two_of_three(&["a", "b", "c", "think"]), 10, 20), (race, 10, 20)] {
        let compared = compare_all(&table, mutants(&table));
        assert!(compared.sound >= sound && compared.tables - compared.sound >= unsound, "{compared:?}");
    }
}
