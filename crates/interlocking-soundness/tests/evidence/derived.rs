//! Every graph of the repository that is derived, with one edge, source, branch, budget, cancel or latch changed.
//!
//! Their tables are in `tables/`, one folder a package, and each is held to the derive by a test of its package: see
//! `tables/held.rs`.

use crate::compare::{Compared, compare};
use crate::mutate::mutants;
use crate::mutations::{STATES, compare_all_within};
use crate::sources;
use interlocking_core::table::Table;
use std::collections::BTreeMap;
use std::path::Path;

/// A table with more mutants than this has a sample of them compared. Only the ring and the chain of a hundred nodes have:
/// twenty thousand and ten thousand, of one token each, which differ in little but the node's number.
const MANY: usize = 3_000;

/// The most states of a table and of its mutants. One of more than [`STATES`], which takes a second, has a sample of its mutants compared,
/// too.
const MOST_STATES: usize = 2_000_000;

/// One mutant in so many is in the sample. It is a prime, so that all targets have their turn.
const ONE_IN: usize = 53;

/// The tables, each with its package.
fn tables() -> Vec<(String, Table)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evidence/tables");
    let files = sources::files(&folder, "json").into_iter().map(|file| {
        let package = file.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        let table = serde_json::from_str(&std::fs::read_to_string(&file).unwrap());
        (package, table.unwrap_or_else(|error| panic!("{}: {error}", file.display())))
    });
    files.collect()
}

#[test]
fn all_are_sound_and_their_mutants_are_what_the_brute_force_says() {
    let (mut sound, mut unsound, mut sampled) = (0, 0, Vec::new());
    for (package, table) in tables() {
        let explored = compare(&table, MOST_STATES, &mut Compared::default());
        let explored = explored.unwrap_or_else(|why| panic!("{package}, {}: {why}", table.graph));
        let explored = explored.unwrap_or_else(|| panic!("{package}, {}: too many states", table.graph));
        assert!(explored.broken.is_empty(), "{package}, {}: {:?}", table.graph, explored.broken);
        let mut mutants = mutants(&table);
        if mutants.len() > MANY || explored.states > STATES {
            mutants = mutants.into_iter().step_by(ONE_IN).collect();
            sampled.push(table.graph.clone());
        }
        let compared = compare_all_within(&table, mutants, MOST_STATES);
        assert!(compared.tables > 0, "{package}, {}: {compared:?}", table.graph);
        sound += compared.sound;
        unsound += compared.tables - compared.sound;
    }
    assert_eq!(sampled, ["Ring", "Chain", "V3"]);
    assert!(sound >= 500 && unsound >= 2_000, "{sound} sound, {unsound} unsound");
}

/// How many graphs of each name the packages have.
fn count(graphs: impl Iterator<Item = (String, String)>) -> BTreeMap<(String, String), usize> {
    graphs.fold(BTreeMap::new(), |mut count, graph| {
        *count.entry(graph).or_default() += 1;
        count
    })
}

#[test]
fn all_are_here() {
    let derived = count(sources::derived_graphs().into_iter());
    let here = count(tables().into_iter().map(|(package, table)| (package, table.graph)));
    let differ = |graph: &&(String, String)| derived.get(*graph) != here.get(*graph);
    let differ: Vec<_> = derived.keys().chain(here.keys()).filter(differ).collect();
    assert!(
        differ.is_empty(),
        "in the sources and not in tables/, or the reverse; `tables/held.rs` mends it: {differ:?}"
    );
    assert!(derived.len() > 40, "{derived:?}");
}
