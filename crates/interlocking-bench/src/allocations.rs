//! How often the executor allocates. Who asks brings what counts, because a counting allocator slows down whatever it is
//! linked with.

use crate::fan;
use crate::transitions::{What, run};
use tokio::runtime::Builder;

/// Gives the number of allocations that its argument makes.
pub type Measure = fn(&dyn Fn()) -> u64;

/// Allocations of a thousand transitions: what a longer run allocates beyond a shorter one.
pub fn of_a_thousand_transitions(measure: Measure) -> u64 {
    let of = |count| measure(&|| run(What::Graph, count));
    of(10);
    of(1_010) - of(10)
}

/// Allocations of one fork and its join: what one more round adds.
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
