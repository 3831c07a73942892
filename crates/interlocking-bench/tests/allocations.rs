//! Allocations do not depend on load, so a test can pin them.

use interlocking_bench::allocations;

/// The cost of a run is the same however many transitions it makes.
#[test]
fn a_transition_allocates_nothing() {
    assert_eq!(allocations::of_a_thousand_transitions(measure), 0);
}

/// Tokio's task and its place in the set.
#[test]
fn a_branch_allocates_twice() {
    let allocations = allocations::of_a_fork(measure);
    let branches = u64::from(interlocking_bench::fan::BRANCHES);
    assert!(allocations < 2 * branches + 100, "{allocations} allocations for {branches} branches");
}

/// Beyond what its nodes hold.
#[test]
fn a_parked_run_holds_at_most_a_kibibyte() {
    let held = allocations::bytes_of_a_parked_run(|work| allocation_counter::measure(work).bytes_current as u64);
    assert!(held <= 1_024, "{held} bytes");
}

fn measure(work: &dyn Fn()) -> u64 {
    allocation_counter::measure(work).count_total
}
