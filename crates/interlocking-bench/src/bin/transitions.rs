//! Runs a number of transitions and nothing else, for callgrind: `transitions (graph|loop) COUNT`.

use interlocking::runtime::{Cancel, EventSink};
use interlocking_bench::sink::Counter;
use interlocking_bench::{Ball, ping_pong, services_loop};
use std::sync::Arc;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let counter = Arc::new(Counter::default());
    let sink: Arc<dyn EventSink> = counter.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let ball = match what.as_str() {
        "graph" => runtime.block_on(ping_pong::play(Ball::new(count), Cancel::new(), sink)),
        "loop" => runtime.block_on(services_loop::play(Ball::new(count), Cancel::new(), sink, None)),
        _ => panic!("usage: transitions (graph|loop) COUNT"),
    };
    assert_eq!(ball.hits, count, "every hit is a transition");
    assert!(counter.count() >= 2 * count, "every transition makes two events");
}
