//! Counts the executor's allocations. The caller provides the counter, because a counting allocator slows down every
//! program it is linked into.

use crate::Ball;
use crate::fan;
use crate::many::{Five, five, five_times};
use crate::transitions::{What, run};
use interlocking::prelude::*;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::runtime::Builder;

/// Returns the number of allocations that its argument makes.
pub type Measure = fn(&dyn Fn()) -> u64;

/// Allocations of a thousand transitions: the difference between a longer and a shorter run.
pub fn of_a_thousand_transitions(measure: Measure) -> u64 {
    let of = |count| measure(&|| run(What::Graph, count));
    of(10);
    of(1_010) - of(10)
}

/// Allocations of one fork and its join: the difference that one more round makes.
///
/// # Panics
///
/// If a runtime cannot be made.
pub fn of_a_fork(measure: Measure) -> u64 {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let of = |rounds| measure(&|| assert!(runtime.block_on(fan::graph(rounds)) > 0));
    of(2);
    (of(12) - of(2)) / 10
}

/// The bytes that a run holds while it waits in a node, minus those of its nodes, which are measured by a bare future
/// that waits in the same way. `held` returns the bytes that its argument leaves allocated.
///
/// Each run is polled until it waits, and is not spawned: a task would add the memory that tokio needs for it.
///
/// # Panics
///
/// If a runtime cannot be made, or a run does not wait.
pub fn bytes_of_a_parked_run(held: Measure) -> u64 {
    let run = held(&|| park(|graph| Run::from_arc(graph.clone()).without_journal().start(Ball::new(5))));
    let bare = held(&|| park(|_| five_times(PARKED, Ball::new(5))));
    (run - bare) / u64::from(RUNS)
}

/// How many runs are parked, and for how long.
const RUNS: u32 = 1_000;
const PARKED: Duration = Duration::from_secs(3_600);

/// Leaves a thousand futures waiting.
fn park<F: Future>(make: impl Fn(&Arc<Five>) -> F) {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let entered = runtime.enter();
    let (graph, mut context) = (five(PARKED), Context::from_waker(Waker::noop()));
    for _ in 0..RUNS {
        let mut run = Box::pin(make(&graph));
        assert!(run.as_mut().poll(&mut context).is_pending());
        // The memory that it holds is measured, so it must not be freed.
        std::mem::forget(run);
    }
    drop(entered);
    std::mem::forget(runtime);
}
