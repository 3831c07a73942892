//! V3's own table, with children that run it too, messages and crashes: 80 seeds by default, 240 where tests are
//! thorough, or as many as `SIMULATION_V3_SEEDS` says. With `SIMULATION_SEED`, simulates only that seed and prints its
//! trace.

#![expect(clippy::expect_used, reason = "a test, also outside its test functions")]

use crate::seeds::{all, assert_counts, number, replay};
use crate::{sample, simulate_tables};
use interlocking_core::table::{NodeKind, Table};

/// The number of seeds where tests are thorough.
const SEEDS: u64 = 240;

/// The least counts of each kind of event in these seeds; the real counts are far higher.
const REQUIRED_COUNTS: [(&str, usize); 16] = [
    ("outcomes", 1_500),
    ("children", 100),
    ("compared", 20),
    ("cancelled", 50),
    ("spent edges", 10),
    ("failed by an edge", 6),
    ("remembered", 6),
    ("messages", 200),
    ("redirects", 80),
    ("resumed", 200),
    ("retried", 20),
    ("process ends", 30),
    ("ends before a record", 15),
    ("ends after a record", 15),
    ("finished", 300),
    ("sessions resumed", 100),
];

/// The largest budget of an edge, and of attempts, that the oracle can count.
const MAX_BUDGET: u32 = 14;

/// The table that the derive writes, with the names that the simulation expects, edge budgets of at most `budget`,
/// attempts of at most `budget`, or two if that is more, and a tree of three levels.
fn table(budget: u32) -> Table {
    let json = include_str!("../../interlocking-soundness/tests/evidence/tables/v3/all.table.V3.json");
    let json = json.replace("\"rebaser\"", "\"event\"");
    let mut table: Table = serde_json::from_str(&json).expect("a table");
    table.graph = "Child".into();
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map) {
        (row.map, row.depth) = (Some("Child".to_owned()), Some(2));
    }
    for row in &mut table.nodes {
        row.attempts = row.attempts.map(|attempts| attempts.min(budget.max(2)));
    }
    for goto in table.nodes.iter_mut().flat_map(|row| &mut row.goto) {
        goto.times = goto.times.map(|times| times.min(budget));
    }
    table
}

/// The table without early ways to the exit and without routes of spent edges: its loops go round, and fail in the end. Its
/// children have no children.
fn persistent(mut table: Table) -> Table {
    for row in table.nodes.iter_mut().filter(|row| row.name != "judge") {
        row.goto.retain(|goto| !goto.to.is_exit());
        row.depth = row.depth.map(|_| 1);
    }
    table.nodes.iter_mut().flat_map(|row| &mut row.goto).for_each(|goto| goto.exhausted = None);
    table
}

/// V3-159, V3-127, V3-129: interrupted again and again, the protocol's table ends, with nothing lost and nothing done
/// twice.
#[test]
fn v3_ends_as_it_must() {
    // Every second seed soon spends some budget.
    let tables = [table(MAX_BUDGET), table(1), table(MAX_BUDGET), persistent(table(2))];
    let simulate = move |seed: u64| {
        let table = &tables[seed as usize % tables.len()];
        simulate_tables(seed, [table.clone(), table.clone()])
    };
    if let Some(seed) = number("SIMULATION_SEED") {
        return replay(seed, simulate);
    }
    let one_in: u8 = sample::one_in(3);
    let usual = SEEDS / u64::from(one_in);
    let seeds = number("SIMULATION_V3_SEEDS").unwrap_or(usual);
    let (counts, failed) = all(seeds, simulate);
    println!("{counts}");
    let failed: String = failed.iter().map(|(seed, why)| format!("seed {seed}: {why}\n")).collect();
    assert!(failed.is_empty(), "{failed}");
    if seeds >= usual {
        assert_counts(&counts, &REQUIRED_COUNTS, one_in.into());
    }
}
