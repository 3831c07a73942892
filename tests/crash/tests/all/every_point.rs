//! Kills once, at one point after the other: before and after every append to the journal, every message to another run,
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
            // Other points in each test run, unless all are asked for.
            let step = if many::all_points() { 1 } else { (points * sample::one_in::<u64>(6) / 80).max(1) };
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
    // The number of points near the end varies between runs.
    kills.at_least(points.len() * 9 / 10);
}

/// Kills every process at some point, until the run reaches its end.
#[test]
fn a_run_goes_on_however_often_its_processes_are_killed() {
    let seeds = many::seeds(if many::all_points() { 200 } else { 8 });
    let kills: Kills = many::each(
        &seeds,
        |seed| format!("CRASH_SEED={seed}"),
        async |seed| {
            let (mut random, mut case) = (many::Random(*seed), Case::new());
            let people = random.presence();
            // Resuming a run with all its children alone passes a dozen points.
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
