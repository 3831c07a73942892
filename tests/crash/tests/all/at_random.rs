//! Kills from outside, at any instant: during a write, a commit, a start.

use crate::case::{Case, Kill, undisturbed};
use crate::many;
use crate::sample;
use std::time::Duration;

#[test]
fn a_run_goes_on_from_any_instant_at_which_its_process_is_killed() {
    let (_, took) = many::runtime().block_on(undisturbed());
    let seeds = many::seeds(if many::all_points() { 600 } else { 18 / sample::one_in::<u64>(3) });
    let kills = many::each(
        &seeds,
        |seed| format!("CRASH_SEED={seed}"),
        async |seed| {
            let (mut random, mut case) = (many::Random(*seed), Case::new());
            let people = random.presence();
            for _ in 0..1 + random.below(6) {
                let delay = Duration::from_micros(random.below(took.as_micros() as u64));
                if let Some(ending) = case.process(Kill::After(delay), people).await
                    && !case.attend(&ending).await
                {
                    break;
                }
            }
            case.settle(people).await;
            case.kills
        },
    );
    kills.at_least(seeds.len());
}
