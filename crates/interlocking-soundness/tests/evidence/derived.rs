//! Every derived graph of the repository, with one edge, source, branch, budget, cancel or latch changed.
//!
//! Their tables are in `tables/`, one folder for each package. A test of the package compares each table with the derive: see
//! `tables/held.rs`.

use crate::compare::{Compared, compare};
use crate::mutations::compare_all_within;
use crate::sources;
use interlocking_core::table::Table;
use interlocking_reference_model::mutate::mutants;
use std::collections::BTreeMap;
use std::path::Path;

/// The most states of a table or of a mutant.
const MOST_STATES: usize = 2_000_000;

/// The cost limit for comparing one table's mutants: mutants times states of the table times nodes. If all mutants of a table
/// would cost more, only a sample of them is compared. That concerns some large protocols, and the ring and the chain of a
/// hundred nodes with one token each, whose tens of thousands of mutants differ in little but the node's number.
const MOST_NODES: usize = 5_000_000;

/// One mutant in so many is compared. The number is a prime, so that all targets have their turn.
fn one_in(table: &Table, states: usize, mutants: usize) -> usize {
    let is_prime = |number: &usize| (2..*number).all(|divisor| !number.is_multiple_of(divisor));
    (mutants * states * table.nodes.len() / MOST_NODES + 1..).find(is_prime).unwrap()
}

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
        let one_in = one_in(&table, explored.states, mutants.len());
        if one_in > 1 {
            mutants = mutants.into_iter().step_by(one_in).collect();
            sampled.push((table.graph.clone(), one_in));
        }
        let compared = compare_all_within(&table, mutants, MOST_STATES);
        assert!(compared.tables > 0, "{package}, {}: {compared:?}", table.graph);
        sound += compared.sound;
        unsound += compared.tables - compared.sound;
    }
    report(&sampled);
    assert!(sampled.len() <= 10, "most have all of theirs compared: {sampled:?}");
    assert!(sound >= 500 && unsound >= 2_000, "{sound} sound, {unsound} unsound");
}

#[expect(clippy::print_stderr, reason = "the measured numbers, for whoever asks with --nocapture")]
fn report(sampled: &[(String, usize)]) {
    eprintln!("of these one mutant in so many is compared: {sampled:?}");
}

/// How many graphs of each name each package has.
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
