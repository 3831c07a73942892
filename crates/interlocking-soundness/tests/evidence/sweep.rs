//! Generated tables, one a seed, held to the brute force.
//!
//! By hand one seed in five is looked at, and all of them where tests are thorough: ten thousand tables of each family.

use crate::compare::{Compared, compare, smallest};
use crate::sample;
use interlocking_core::table::Table;
use interlocking_reference_model::explore::Explored;
use std::ops::Range;

fn one_in() -> usize {
    // Odd, because what some seeds make depends on whether they are even.
    sample::one_in(5)
}

/// Those of these seeds that are looked at.
pub(crate) fn looked_at(seeds: Range<u64>) -> impl Iterator<Item = u64> + Clone {
    seeds.step_by(one_in())
}

/// Of what all seeds have at least so many of, how many those have that are looked at.
pub(crate) fn share_of(all: usize) -> usize {
    all / one_in()
}

/// Compares the table of each seed that is [looked at](looked_at), of which the brute force may look at so many states. `each` is given
/// what it found, unless a table is too large for it.
///
/// # Panics
///
/// Where one differs: with all that do, and the first of them made small.
pub(crate) fn compare_all_of(
    seeds: Range<u64>,
    states: usize,
    table: impl Fn(u64) -> Table,
    mut each: impl FnMut(&Table, &Explored),
) -> Compared {
    let (mut compared, mut wrong) = (Compared::default(), Vec::new());
    for seed in looked_at(seeds.clone()) {
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
