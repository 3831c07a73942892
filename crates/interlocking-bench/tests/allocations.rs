//! Allocations do not depend on load, so a test can pin them.

use interlocking::runtime::{Cancel, Event, EventSink};
use interlocking_bench::{Ball, ping_pong};
use std::sync::Arc;

fn allocations_of(hits: u64) -> u64 {
    let sink: Arc<dyn EventSink> = Arc::new(|_: Event| {});
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ball = Ball::new(hits);
    let cancel = Cancel::new();
    allocation_counter::measure(|| {
        let ball = runtime.block_on(ping_pong::play(ball, cancel, sink));
        assert_eq!(ball.hits, hits);
    })
    .count_total
}

/// The cost of a run is the same however many transitions it makes.
#[test]
fn a_transition_allocates_nothing() {
    allocations_of(10);
    assert_eq!(allocations_of(10_000), allocations_of(10));
}
