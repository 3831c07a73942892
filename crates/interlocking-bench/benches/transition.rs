//! Compares a transition in the executor with a handwritten loop with the same services: `cargo
//! bench -p interlocking-bench --bench transition`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::rounds::compare;
use interlocking_bench::transitions::{What, run};

const COUNT: u64 = 200_000;

fn main() {
    let services = compare(101, || run(What::Graph, COUNT), || run(What::Loop, COUNT));
    println!("{}", services.line("transition, nothing stored", COUNT, Some(1.25)));
    let journal = compare(21, || run(What::Journaled, COUNT / 20), || run(What::Loop, COUNT / 20));
    println!("{}", journal.line("transition, journal in memory", COUNT / 20, None));
}
