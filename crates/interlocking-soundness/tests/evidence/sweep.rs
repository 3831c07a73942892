//! Generated tables, one for each seed, compared with the brute force.
//!
//! By hand one seed in five is used; thorough tests use all of them: ten thousand tables of each family.

use crate::compare::{Compared, compare, smallest};
use crate::sample;
use interlocking_core::table::Table;
use interlocking_reference_model::explore::Explored;
use std::ops::Range;

fn one_in() -> usize {
    // Odd, because some properties of tables depend on whether the seed is even.
    sample::one_in(5)
}

/// The seeds that are used.
pub(crate) fn selected(seeds: Range<u64>) -> impl Iterator<Item = u64> + Clone {
    seeds.step_by(one_in())
}

/// If the tables of all seeds have at least `all` of something, the tables of the seeds in use are expected to have this share.
pub(crate) fn share_of(all: usize) -> usize {
    all / one_in()
}

/// Compares the table of each seed that is [selected]; the brute force may explore up to `states` states of each. `each`
/// is given the result, unless the table is too large.
///
/// # Panics
///
/// If a verdict differs. The message lists all such seeds, and the first table, minimised.
pub(crate) fn compare_all_of(
    seeds: Range<u64>,
    states: usize,
    table: impl Fn(u64) -> Table,
    mut each: impl FnMut(&Table, &Explored),
) -> Compared {
    let (mut compared, mut wrong) = (Compared::default(), Vec::new());
    for seed in selected(seeds.clone()) {
        let table = table(seed);
        match compare(&table, states, &mut compared) {
            Err(why) => wrong.push((seed, why)),
            Ok(None) => {}
            Ok(Some(explored)) => each(&table, &explored),
        }
    }
    if let Some((seed, _)) = wrong.first() {
        let again = |table: &Table| compare(table, states, &mut Compared::default()).err();
        let table = smallest(table(*seed), &|table| again(table).is_some());
        let why = again(&serde_json::from_str(&table).unwrap()).unwrap();
        let all: Vec<String> = wrong.iter().map(|(seed, why)| format!("{seed}: {why}")).collect();
        panic!(
            "{} of {seeds:?}, compared {compared:?}:\n{}\nThe first, made small: {why}\n{table}",
            wrong.len(),
            all.join("\n")
        );
    }
    compared
}
