//! Killed once, at one point after the other: before and after every append to the journal, every message to another run,
//! and every side effect.

use crate::case::{Case, Kill, undisturbed};
use crate::many::{self, Kills};
use crate::sample;
use interlocking_crash::order::Presence;

#[test]
fn a_run_goes_on_from_every_point_at_which_its_process_is_killed() {
    let points = many::runtime().block_on(undisturbed()).0.points;
    let points = many::number("CRASH_POINT").map_or_else(
        || {
            // Others each time, unless all are wanted.
            let step = if many::all_points() { 1 } else { (points * sample::one_in::<u64>(3) / 80).max(1) };
            (1 + many::seed() % step..=points).step_by(step as usize).collect()
        },
        |point| vec![point],
    );
    let kills = many::each(
        &points,
        |point| format!("CRASH_POINT={point}"),
        async |point| {
            let mut case = Case::new();
            case.process(Kill::At(*point), Presence::Here).await;
            case.settle(Presence::Here).await;
            case.kills
        },
    );
    // The last few points are not the same in number every time.
    kills.at_least(points.len() * 9 / 10);
}

/// A kill at a point of every process, until the run cannot be kept from its end.
#[test]
fn a_run_goes_on_however_often_its_processes_are_killed() {
    let seeds = many::seeds(if many::all_points() { 200 } else { 8 });
    let kills: Kills = many::each(
        &seeds,
        |seed| format!("CRASH_SEED={seed}"),
        async |seed| {
            let (mut random, mut case) = (many::Random(*seed), Case::new());
            let people = random.presence();
            // Taking a run up with all its children is a dozen points by itself.
            for _ in 0..12 {
                let kill = Kill::At(10 + random.below(70));
                if let Some(ending) = case.process(kill, people).await
                    && !case.attend(&ending).await
                {
                    break;
                }
            }
            case.settle(people).await;
            case.kills
        },
    );
    kills.at_least(seeds.len() * 6);
}
