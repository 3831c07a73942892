//! V3's own table, with children that run it too, messages and crashes: 80 seeds by default, 240 where tests are
//! thorough, or as many as `SIMULATION_V3_SEEDS` says. With `SIMULATION_SEED`, simulates only that seed and prints its
//! trace.

#![expect(clippy::expect_used, reason = "a test, also outside its test functions")]

use crate::seeds::{assert_counts, number, replay};
use crate::{Counts, sample, simulate_tables};
use interlocking_core::table::{NodeKind, Table};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// The number of seeds where tests are thorough.
const SEEDS: u64 = 240;

/// The least counts of each kind of event in these seeds; the real counts are far higher.
const REQUIRED_COUNTS: [(&str, usize); 14] = [
    ("outcomes", 1_500),
    ("children", 100),
    ("compared", 20),
    ("cancelled", 50),
    ("spent edges", 10),
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

/// The largest edge budget that the oracle can count.
const MAX_BUDGET: u32 = 14;

/// The table that the derive writes, with the names that the simulation expects, edge budgets of at most `budget`, and
/// a tree of three levels.
fn table(budget: u32) -> Table {
    let json = include_str!("../../interlocking-soundness/tests/evidence/tables/v3/all.table.V3.json");
    let json = json.replace("\"rebaser\"", "\"event\"");
    let mut table: Table = serde_json::from_str(&json).expect("a table");
    table.graph = "Child".into();
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map) {
        (row.map, row.depth) = (Some("Child".to_owned()), Some(2));
    }
    for goto in table.nodes.iter_mut().flat_map(|row| &mut row.goto) {
        goto.times = goto.times.map(|times| times.min(budget));
    }
    table
}

/// V3-159, V3-127, V3-129: interrupted again and again, the protocol's table ends, with nothing lost and nothing done
/// twice.
#[test]
fn v3_ends_as_it_must() {
    // Every second seed soon spends some budget.
    let tables = [table(MAX_BUDGET), table(1)];
    let simulate = |seed: u64| {
        let table = &tables[usize::from(seed % 2 == 1)];
        simulate_tables(seed, [table.clone(), table.clone()])
    };
    if let Some(seed) = number("SIMULATION_SEED") {
        return replay(seed, simulate);
    }
    let one_in: u8 = sample::one_in(3);
    let usual = SEEDS / u64::from(one_in);
    let seeds = number("SIMULATION_V3_SEEDS").unwrap_or(usual);
    let (next, counts, failed) = (AtomicU64::new(0), Mutex::new(Counts::default()), Mutex::new(String::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(seed) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|seed| *seed < seeds) {
                    let (played, result) = simulate(seed);
                    counts.lock().expect("nobody panics").merge(&played.counts);
                    if let Err(why) = result {
                        *failed.lock().expect("nobody panics") += &format!("seed {seed}: {why}\n");
                    }
                }
            });
        }
    });
    let (counts, failed) = (counts.into_inner().expect("nobody panics"), failed.into_inner().expect("nobody panics"));
    println!("{counts}");
    assert!(failed.is_empty(), "{failed}");
    if seeds >= usual {
        assert_counts(&counts, &REQUIRED_COUNTS, one_in.into());
    }
}
