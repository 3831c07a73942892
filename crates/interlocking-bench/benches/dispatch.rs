//! Compares dispatch among a hundred nodes with a handwritten `match` with the same services:
//! `cargo bench -p interlocking-bench --bench dispatch`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::rounds::compare;
use interlocking_bench::transitions::{What, run};

const COUNT: u64 = 200_000;

fn main() {
    let ring = compare(101, || run(What::Ring, COUNT), || run(What::Match, COUNT));
    println!("{}", ring.line("transition, 100 nodes", COUNT, Some(1.2)));
}
