//! Random tables with random schedules: compares the frontier with a naive model of the rules, step by
//! step.

mod model;
mod random_table;
mod schedule;

use proptest::test_runner::{Config, TestRunner};
use schedule::{Seen, play, strategy};
use std::cell::RefCell;

#[test]
fn the_frontier_agrees_with_a_naive_model_of_the_rules() {
    let config = Config { cases: 1500, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let seen = RefCell::new(Seen::default());
    TestRunner::new(config)
        .run(&strategy(), |(nodes, choices)| {
            play(&random_table::table(&nodes), &choices, &mut seen.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    // Agreement proves nothing about events that never happened.
    let seen = seen.into_inner();
    for (what, count) in seen.counts() {
        assert!(count > 0, "no random run came to: {what}; {seen:?}");
    }
}
