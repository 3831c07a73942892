//! Many budgets, and long branches that are cleared, must not multiply the search: small tables are compared with the brute
//! force, for large ones the explored markings are counted.

use crate::gadgets::{beside, chain, gadget, gadgets, ring};
use crate::generated::{Counted, count};
use crate::hand_made::logic;
use crate::hard_tables::both_say;
use crate::mutations::compare_all;
use crate::sweep::{compare_all_of, selected, share_of};
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Table};
use interlocking_reference_model::generate::Dice;
use interlocking_reference_model::mutate::{self, mutants};
use interlocking_soundness::{Rule, Verdict, check};
use std::ops::Range;

/// The most states of a table that is compared.
const STATES: usize = 3000;

/// How a node may try again, and where its exhausted route leads.
type Budget = fn(NodeRow, &str, &str) -> NodeRow;

const BUDGETS: [Budget; 3] = [
    |row, own, spare| row.goto(own, &[]).visits(3).exhausted(spare, &[]),
    |row, own, spare| row.goto(own, &[]).attempts(3).exhausted(spare, &[]),
    |row, own, spare| row.edge(Goto::new(own, &[]).times(3).exhausted(Goto::new(spare, &[]))),
];

/// Gadgets of four nodes in a row: one of two nodes works, and another replaces it when its budget is exhausted. Which budgets
/// are spent depends on which node worked, in each gadget.
fn row(count: usize, budget: Budget, last: &str) -> Table {
    let mut table = Table::new("Row", "T");
    for nth in 0..count {
        let next = if nth + 1 == count { last.to_owned() } else { format!("begin{}", nth + 1) };
        let [begin, one, other, spare] = ["begin", "one", "other", "spare"].map(|name| format!("{name}{nth}"));
        let mut first = logic(&begin).goto(&one, &[]).goto(&other, &[]);
        first.entry = nth == 0;
        table = table.with(first);
        for own in [one, other] {
            table = table.with(budget(logic(&own), &own, &spare).goto(&next, &[]));
        }
        table = table.with(logic(&spare).goto(&next, &[]));
    }
    table
}

fn markings(table: Table) -> usize {
    match check(&Net::new(table).unwrap()) {
        Verdict::Sound { markings } => markings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_gadgets_in_a_row_leave_of_their_budgets_does_not_multiply() {
    for budget in BUDGETS {
        both_say(&row(2, budget, "exit"), "sound");
        let looked_at = markings(row(25, budget, "exit"));
        assert!(looked_at < 300, "{looked_at}");
    }
}

#[test]
fn nor_does_it_where_all_is_done_again() {
    let ring = |count, budget| {
        let judge = logic("judge").goto("exit", &[]).edge(Goto::new("begin0", &[]).times(2));
        row(count, budget, "judge").with(judge)
    };
    for budget in BUDGETS {
        both_say(&ring(2, budget), "sound");
        let looked_at = markings(ring(25, budget));
        assert!(looked_at < 5_000, "{looked_at}");
    }
}

#[test]
fn nor_does_it_where_a_run_may_never_end() {
    // The exit is reachable from the first gadget only, so that it matters which budgets are left.
    let talks = |count, budget| {
        let mut table = row(count, budget, "talk").with(logic("talk").goto("talk", &[]).unbounded());
        table.nodes[0].goto.push(Goto::new("exit", &[]));
        table
    };
    for budget in BUDGETS {
        both_say(&talks(2, budget), "NoWayOut");
        let Verdict::Unsound { violations } = check(&Net::new(talks(25, budget)).unwrap()) else {
            panic!("no way out")
        };
        assert!(matches!(&violations[..], [one] if matches!(one.rule, Rule::NoWayOut { .. })), "{violations:?}");
    }
}

#[test]
fn every_mutant_of_gadgets_in_a_row_is_told_right() {
    for budget in BUDGETS {
        let compared = compare_all(&row(2, budget, "exit"), mutants(&row(2, budget, "exit")));
        assert!(compared.sound >= 20 && compared.tables - compared.sound >= 20, "{compared:?}");
    }
}

/// Branches to a join that waits for `quorum` of them, and clears the others wherever they are.
fn race(branches: usize, length: usize, quorum: u32) -> Table {
    let name = |branch: usize, nth: usize| format!("b{branch}_{nth}");
    let heads: Vec<String> = (0..branches).map(|branch| name(branch, 0)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let mut table = Table::new("Race", "T").with(logic("split").entry().fork(&heads, &[]));
    let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
    for branch in 0..branches {
        let slot = format!("s{branch}");
        for nth in 0..length {
            let next = if nth + 1 == length { format!("meet.{slot}") } else { name(branch, nth + 1) };
            table = table.with(logic(&name(branch, nth)).goto(&next, &[]));
        }
        meet = meet.slot(&slot, "T", &[&name(branch, length - 1)], false);
    }
    table.with(meet.quorum(Quorum::AtLeast(quorum)).cancels(&["*"]))
}

#[test]
fn where_the_branches_are_that_a_quorum_clears_does_not_multiply() {
    both_say(&race(3, 2, 2), "sound");
    for (branches, length, quorum, most) in [(3, 9, 1, 100), (5, 9, 2, 200), (10, 9, 5, 2_000), (5, 18, 3, 300)] {
        let looked_at = markings(race(branches, length, quorum));
        assert!(looked_at < most, "{branches} branches of {length}: {looked_at}");
    }
}

#[test]
fn a_branch_that_a_quorum_leaves_out_is_found_however_long_it_is() {
    let mut forgetful = race(5, 9, 2);
    let work = forgetful.nodes.iter().filter(|row| row.name.starts_with('b') && row.name != "b2_4");
    let work = work.map(|row| row.name.clone()).collect();
    if let Some(meet) = forgetful.nodes.last_mut() {
        meet.cancels = work;
    }
    let Verdict::Unsound { violations } = check(&Net::new(forgetful).unwrap()) else { panic!("`b2_4` is left") };
    let late = |rule: &Rule| matches!(rule, Rule::DoubleToken { place, .. } if place == "meet.s2");
    let early = |rule: &Rule| matches!(rule, Rule::LiveAtExit { from, .. } if from == "meet");
    assert!(violations.iter().any(|one| late(&one.rule)), "{violations:?}");
    assert!(violations.iter().any(|one| early(&one.rule)), "{violations:?}");
}

#[test]
fn every_mutant_of_a_race_is_told_right() {
    let compared = compare_all(&race(3, 2, 2), mutants(&race(3, 2, 2)));
    assert!(compared.sound >= 5 && compared.tables - compared.sound >= 80, "{compared:?}");
}

/// The same gadgets in each branch of a race.
fn race_of_gadgets(branches: usize, count: usize, budget: Budget, quorum: u32) -> Table {
    let mut table = Table::new("Race", "T");
    let mut meet = NodeRow::new("meet", NodeKind::Join).goto("exit", &[]);
    for branch in 0..branches {
        let slot = format!("s{branch}");
        let own = row(count, budget, "exit");
        let last = |name: &str| format!("b{branch}_{name}{}", count - 1);
        let last = ["one", "other", "spare"].map(last);
        meet = meet.slot(&slot, "T", &last.each_ref().map(String::as_str), false);
        for mut row in own.nodes {
            (row.name, row.entry) = (format!("b{branch}_{}", row.name), false);
            let edges = row
                .goto
                .iter_mut()
                .flat_map(|goto| [Some(&mut goto.to), goto.exhausted.as_deref_mut().map(|route| &mut route.to)]);
            let routes = [row.exhausted.as_mut().map(|route| &mut route.to)];
            for to in edges.chain(routes).flatten() {
                *to = if to.is_exit() {
                    format!("meet.{slot}").as_str().into()
                } else {
                    format!("b{branch}_{}", to.node).as_str().into()
                };
            }
            table = table.with(row);
        }
    }
    let heads: Vec<String> = (0..branches).map(|branch| format!("b{branch}_begin0")).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table.with(logic("split").entry().fork(&heads, &[])).with(meet.quorum(Quorum::AtLeast(quorum)).cancels(&["*"]))
}

#[test]
fn budgets_in_branches_that_a_quorum_clears_are_decided() {
    for budget in BUDGETS {
        both_say(&race_of_gadgets(2, 1, budget, 1), "sound");
        let looked_at = markings(race_of_gadgets(5, 5, budget, 2));
        assert!(looked_at < 5_000, "{looked_at}");
    }
}

/// A small table; the shapes alternate.
fn small(seed: u64) -> Table {
    let dice = &mut Dice::new(seed ^ 0x6ad9);
    let two = gadgets(dice, 2, 4);
    match seed % 4 {
        0 => chain(dice, two),
        1 => ring(dice, two),
        2 => beside(dice, 2, 1, 4, false),
        _ => beside(dice, 2 + seed as usize / 4 % 2, 1, 3, true),
    }
}

/// The same, mostly with a mutation.
fn disturbed(seed: u64) -> Table {
    let mut dice = Dice::new(seed);
    loop {
        let mut table = small(seed);
        for _ in 0..[0, 1, 1, 2][dice.below(4)] {
            table = mutate::one(&table, |many| dice.below(many)).unwrap();
        }
        if Net::new(table.clone()).is_ok() {
            return table;
        }
    }
}

fn sweep(seeds: Range<u64>) {
    let many = selected(seeds.clone()).count();
    let mut counted = Counted::default();
    let compared = compare_all_of(seeds, STATES, disturbed, |table, explored| count(table, explored, &mut counted));
    crate::generated::report(&compared, &counted);
    assert!(compared.tables >= share_of(2_000) && compared.too_large * 10 <= many, "{compared:?}");
    assert!((0.2..0.8).contains(&compared.share(compared.sound)), "{compared:?}");
}

#[test]
fn first_quarter_of_gadgets() {
    sweep(0..2_600);
}

#[test]
fn second_quarter_of_gadgets() {
    sweep(2_600..5_200);
}

#[test]
fn third_quarter_of_gadgets() {
    sweep(5_200..7_800);
}

#[test]
fn last_quarter_of_gadgets() {
    sweep(7_800..10_400);
}

/// The most markings that may be explored for a hundred nodes: a quarter of the limit.
const FEW: usize = 5_000;

#[test]
fn a_row_of_a_hundred_nodes_is_sound_where_its_gadgets_are() {
    let mut nodes = 0;
    for seed in 0..24 {
        let dice = &mut Dice::new(seed);
        let twenty = gadgets(dice, 20, 5);
        let table = chain(dice, twenty);
        nodes += table.nodes.len();
        let looked_at = markings(table);
        assert!(looked_at < FEW, "{seed}: {looked_at}");
    }
    assert!(nodes > 24 * 80, "{nodes}");
}

#[test]
fn a_row_of_a_hundred_nodes_is_not_where_one_gadget_is_not() {
    for seed in 0..24 {
        let dice = &mut Dice::new(seed);
        let mut twenty = gadgets(dice, 20, 5);
        let at = dice.below(twenty.len());
        twenty[at] = broken(dice);
        let table = chain(dice, twenty);
        let found = check(&Net::new(table).unwrap());
        assert!(matches!(found, Verdict::Unsound { .. }), "{seed}: {found:?}");
    }
}

/// A gadget in which a run gets two tokens in one place, or waits for ever.
fn broken(dice: &mut Dice) -> Table {
    let breaks = |rule: &Rule| match rule {
        Rule::DoubleToken { place, .. } => place != "exit",
        rule => matches!(rule, Rule::StarvedJoin { .. } | Rule::Deadlock { .. }),
    };
    loop {
        let sound = gadget(dice, 8);
        for mutant in mutants(&sound) {
            let mutant = mutant.of(&sound);
            if let Ok(net) = Net::new(mutant.clone())
                && let Verdict::Unsound { violations } = check(&net)
                && violations.iter().all(|violation| breaks(&violation.rule))
            {
                return mutant;
            }
        }
    }
}

#[test]
fn a_ring_of_a_hundred_nodes_is_decided() {
    for seed in 0..24 {
        let dice = &mut Dice::new(seed);
        let twenty = gadgets(dice, 20, 5);
        let found = check(&Net::new(ring(dice, twenty)).unwrap());
        assert!(!matches!(found, Verdict::Undecided { .. }), "{seed}");
    }
}
