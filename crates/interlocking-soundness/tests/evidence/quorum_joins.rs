//! Ten thousand tables with joins that have a quorum, held against the brute force as the others are.

use crate::brute::Budgets;
use crate::compare::{Compared, compare, smallest};
use crate::edge_budgets::give_budgets;
use crate::explore::Broken;
use crate::generate::Dice;
use crate::generated::{Counted, count, report};
use crate::hand_made::{logic, said, table};
use crate::mutate::mutants;
use crate::mutations::compare_all;
use crate::quorums::with_quorums;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Quorum, Table};
use interlocking_soundness::{Verdict, check};
use std::ops::Range;

/// The most states of a table that is compared.
const STATES: usize = 3000;

/// Every fourth with budgets on edges besides.
fn generated(seed: u64) -> Table {
    let table = with_quorums(seed);
    if !seed.is_multiple_of(4) {
        return table;
    }
    let mut budgeted = table.clone();
    let edges = give_budgets(&mut Dice::new(seed), &mut budgeted);
    if edges <= crate::edge_budgets::EDGES && Net::new(budgeted.clone()).is_ok() { budgeted } else { table }
}

fn sweep(seeds: Range<u64>) {
    let many = seeds.clone().count();
    let (mut compared, mut counted) = (Compared::default(), Counted::default());
    let (mut wrong, mut matters) = (Vec::new(), 0);
    for seed in seeds {
        let table = generated(seed);
        match compare(&table, STATES, &mut compared) {
            Err(why) => wrong.push((seed, why)),
            Ok(None) => {}
            Ok(Some(explored)) => {
                let by_one_bit: Vec<&Broken> = explored.broken.keys().collect();
                if let Err(why) = count(&table, &by_one_bit, &mut counted) {
                    panic!("{why}\n{}", serde_json::to_string(&table).unwrap());
                }
                matters += usize::from(is_sound(&table) != is_sound(&without(&table)));
            }
        }
    }
    report(&compared, &counted);
    if let Some((seed, _)) = wrong.first() {
        let again = |table: &Table| compare(table, STATES, &mut Compared::default()).err();
        let table = smallest(generated(*seed), &|table| again(table).is_some());
        let why = again(&serde_json::from_str(&table).unwrap()).unwrap();
        let all: Vec<String> = wrong.iter().map(|(seed, why)| format!("{seed}: {why}")).collect();
        panic!("{} of {many} tables:\n{}\nThe first, made small: {why}\n{table}", wrong.len(), all.join("\n"));
    }
    assert!(compared.tables >= 2_500, "with the other quarters, ten thousand are compared: {compared:?}");
    assert!(compared.too_large * 25 <= many && compared.share(compared.sound) > 0.1, "{compared:?}");
    assert!(matters * 20 >= compared.tables, "what is sound, or not, only by its quorums: {matters}");
}

fn is_sound(table: &Table) -> bool {
    Net::new(table.clone()).is_ok_and(|net| matches!(check(&net), Verdict::Sound { .. }))
}

/// The same table, whose joins all wait for all.
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

/// Three branches, of which two are enough; `c` may have nothing to say.
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
