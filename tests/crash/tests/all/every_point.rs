//! Killed once, at every point.

use crate::case::{Case, Kill, undisturbed};
use crate::many;

#[test]
fn a_run_goes_on_from_every_point_at_which_its_process_is_killed() {
    let points =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(undisturbed()).points;
    let stride: usize = std::env::var("CRASH_STRIDE").map_or(5, |stride| stride.parse().unwrap());
    let offset: u64 = std::env::var("CRASH_OFFSET").map_or(1, |stride| stride.parse().unwrap());
    let points: Vec<u64> = (offset..=points).step_by(stride).collect();
    let started = std::time::Instant::now();
    let kills = many::each(
        &points,
        |point| format!("CRASH_OFFSET={point} CRASH_STRIDE=10000"),
        async |point: &u64| {
            let mut case = Case::new();
            case.process(Kill::At(*point), true).await;
            case.settle(true).await;
            case.kills
        },
    );
    println!("{kills} kills in {:?}", started.elapsed());
}
