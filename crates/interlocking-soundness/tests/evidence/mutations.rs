//! The protocols and some small tables with one edge, source, branch, budget, cancel or latch changed.

use crate::compare::{Compared, compare, smallest};
use crate::hand_made::{event, join, logic, table};
use crate::protocols;
use crate::sample;
use interlocking_core::net::Net;
use interlocking_core::table::Table;
use interlocking_reference_model::explore::explore;
use interlocking_reference_model::mutate::{Mutant, mutants};
use interlocking_reference_model::rules::Budgets;
use interlocking_soundness::{Verdict, check};

/// The most states of a mutant that is explored completely. Only some mutants of V3 have more; they are unsound, as their
/// paths show.
pub(crate) const STATES: usize = 6_000;

/// Compares the verdicts of all mutants, by hand of one in three. Of all mutants, at least `sound` are sound and `unsound` are
/// not.
fn mutate(table: &Table, sound: usize, unsound: usize) {
    let one_in = sample::one_in(3);
    let compared = compare_all(table, mutants(table).into_iter().step_by(one_in).collect());
    let enough = compared.sound >= sound / one_in && compared.tables - compared.sound >= unsound / one_in;
    assert!(enough, "{}: {compared:?}", table.graph);
}

/// Compares the verdicts of these mutants, none of which has too many states.
pub(crate) fn compare_all(table: &Table, all: Vec<Mutant>) -> Compared {
    compare_all_within(table, all, STATES)
}

/// Compares the verdicts of these mutants; fails if a mutant is too large for a brute force of `states` states.
pub(crate) fn compare_all_within(table: &Table, all: Vec<Mutant>, states: usize) -> Compared {
    let many = all.len();
    let (mut compared, mut refused, mut wrong) = (Compared::default(), 0, Vec::new());
    for mutant in all {
        let what = mutant.what.clone();
        let mutant = mutant.of(table);
        if Net::new(mutant.clone()).is_err() {
            refused += 1;
        } else if let Err(why) = compare(&mutant, states, &mut compared) {
            wrong.push((what, why, mutant));
        }
    }
    report(table, many, refused, &compared);
    if let Some((_, _, first)) = wrong.first() {
        let again = |table: &Table| compare(table, states, &mut Compared::default()).err();
        let small = smallest(first.clone(), &|table| again(table).is_some());
        let why = again(&serde_json::from_str(&small).unwrap()).unwrap();
        let all: Vec<String> = wrong.iter().map(|(what, why, _)| format!("{what}: {why}")).collect();
        panic!(
            "{}: {} of {many}:\n{}\nThe first, made small: {why}\n{small}",
            table.graph,
            wrong.len(),
            all.join("\n")
        );
    }
    assert_eq!(compared.too_large, 0, "{}: {compared:?}", table.graph);
    compared
}

#[expect(clippy::print_stderr, reason = "the measured numbers, for whoever asks with --nocapture")]
fn report(table: &Table, many: usize, refused: usize, compared: &Compared) {
    eprintln!("{}: {many} mutants, {refused} refused: {compared:?}", table.graph);
}

#[test]
fn of_hybrid() {
    mutate(&protocols::hybrid(), 180, 800);
}

#[test]
fn of_v3() {
    mutate(&protocols::v3(), 120, 250);
}

#[test]
fn of_scout_and_wave() {
    mutate(&protocols::scout_and_wave(), 1000, 300);
}

#[test]
fn of_small_tables() {
    let redo = table([
        logic("split").fork(&["a", "b|meet.b"], &[]),
        logic("a").goto("meet", &[]).goto("a", &[]).attempts(2).exhausted("exit", &["*"]),
        logic("b").goto("meet.b", &[]).goto("split", &["a", "meet"]).visits(2),
        join("meet", &["a", "!b"]).goto("a", &[]).goto("exit", &[]).visits(2),
    ]);
    let twice = table([
        logic("split").fork(&["a", "inner"], &[]),
        logic("a").goto("outer", &[]),
        logic("inner").fork(&["b", "c"], &[]),
        logic("b").goto("meet", &[]),
        logic("c").goto("meet", &[]).goto("exit", &["*"]),
        join("meet", &["b", "c"]).goto("outer", &[]).goto("inner", &[]).visits(2),
        join("outer", &["a", "meet"]).goto("exit", &[]),
    ]);
    let message = table([
        logic("split").fork(&["a", "b"], &[]),
        logic("a").goto("meet", &[]),
        logic("b").goto("meet", &[]),
        join("meet", &["a", "!b"]).goto("exit", &[]),
        event("message").resume().goto("split", &["*"]).goto("a", &["a", "meet.a"]).visits(2),
    ]);
    for sound in [redo, twice, message] {
        assert!(explore(&sound, Budgets::OneBit, STATES).unwrap().broken.is_empty());
        mutate(&sound, 5, 20);
    }
}

fn is_sound(table: &Table) -> bool {
    matches!(check(&Net::new(table.clone()).unwrap()), Verdict::Sound { .. })
}

#[test]
fn the_protocols_are_sound_and_need_their_cancels_and_latches() {
    for table in [protocols::hybrid(), protocols::v3(), protocols::scout_and_wave()] {
        assert!(is_sound(&table), "{}", table.graph);
    }
    let (mut cancels, mut latches) = (0, 0);
    for table in [protocols::hybrid(), protocols::v3()] {
        for mutant in mutants(&table) {
            let what = mutant.what.clone();
            let is_cancel =
                what.contains(": goto ") && what.contains("without cancelling") && !what.starts_with("rebaser");
            let is_latch =
                ["merges latched or no more", "impl latched or no more"].iter().any(|latch| what.ends_with(latch));
            if is_cancel && table.graph == "V3" || is_latch {
                assert!(!is_sound(&mutant.of(&table)), "{}: {what}", table.graph);
                cancels += usize::from(is_cancel);
                latches += usize::from(is_latch);
            }
        }
    }
    assert_eq!((cancels, latches), (8, 2));
}
