//! Ten thousand tables with maps: the verdict does not depend on whether a map waits for all of its children or for some, nor on
//! whether messages add items to it.

use crate::sweep::{selected, share_of};
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, Quorum, Table};
use interlocking_reference_model::generate::{self, Dice};
use interlocking_soundness::{Verdict, check};
use std::ops::Range;

/// The table of `seed`, which has a map: one of the common generator, in which a node is made a map if there is none.
fn with_a_map(seed: u64) -> Table {
    let mut dice = Dice::new(seed ^ 0x3a9);
    loop {
        let mut table = generate::table(dice.below(1 << 40) as u64);
        let plain: Vec<usize> = (0..table.nodes.len()).filter(|at| table.nodes[*at].kind == NodeKind::Logic).collect();
        if !table.nodes.iter().any(|row| row.kind == NodeKind::Map) && !plain.is_empty() {
            table.nodes[*dice.pick(&plain)].kind = NodeKind::Map;
        }
        if table.nodes.iter().any(|row| row.kind == NodeKind::Map) && Net::new(table.clone()).is_ok() {
            return table;
        }
    }
}

/// The same with a quorum at each map; the messages that leave the run as it is add items to them.
fn with_quorums(table: &Table, dice: &mut Dice) -> Table {
    let mut table = table.clone();
    let maps: Vec<String> =
        table.nodes.iter().filter(|row| row.kind == NodeKind::Map).map(|row| row.name.clone()).collect();
    for row in table.nodes.iter_mut().filter(|row| row.resume) {
        row.adds_to = maps.clone();
        row.resume = dice.percent(50);
    }
    for row in table.nodes.iter_mut().filter(|row| row.kind == NodeKind::Map) {
        row.quorum = Some(if dice.percent(50) { Quorum::Enough } else { Quorum::AtLeast(1 + dice.below(4) as u32) });
    }
    table
}

fn sweep(seeds: Range<u64>) {
    let (mut sound, mut unsound, mut added) = (0, 0, 0);
    for seed in selected(seeds) {
        let table = with_a_map(seed);
        let given = with_quorums(&table, &mut Dice::new(seed));
        added += usize::from(given.nodes.iter().any(|row| !row.adds_to.is_empty()));
        let [plain, given] = [table.clone(), given].map(|table| check(&Net::new(table).unwrap()));
        assert_eq!(plain, given, "seed {seed}: {}", serde_json::to_string(&table).unwrap());
        match plain {
            Verdict::Sound { .. } => sound += 1,
            _ => unsound += 1,
        }
    }
    assert!(
        sound > share_of(500) && unsound > share_of(500) && added > share_of(200),
        "{sound} sound, {unsound} unsound, to {added} items are added"
    );
}

#[test]
fn a_quorum_is_no_matter_of_the_check_in_the_first_half() {
    sweep(0..5_000);
}

#[test]
fn a_quorum_is_no_matter_of_the_check_in_the_second_half() {
    sweep(5_000..10_000);
}
