//! Compares ten thousand runs of five nodes of a millisecond each with as many bare tasks: `cargo bench -p
//! interlocking-bench --bench runs`, or `--bench runs_mimalloc` for the same with another allocator.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::many::{five, requests, runs, tasks};
use interlocking_bench::rounds::compare;
use std::time::Duration;
use tokio::runtime::Builder;

const RUNS: u32 = 10_000;
const WAIT: Duration = Duration::from_millis(1);

pub(crate) fn main() {
    let graph = five(WAIT);
    for (name, runtime) in [
        ("two threads", Builder::new_multi_thread().worker_threads(2).enable_time().build()),
        ("one thread", Builder::new_current_thread().enable_time().build()),
    ] {
        let runtime = runtime.expect("a runtime");
        let bare = || assert_eq!(runtime.block_on(tasks(WAIT, RUNS)), 5 * u64::from(RUNS));
        let begun_before = compare(31, || assert_eq!(runtime.block_on(runs(&graph, RUNS)), 5 * u64::from(RUNS)), bare);
        let begun_there =
            compare(31, || assert_eq!(runtime.block_on(requests(&graph, RUNS)), 5 * u64::from(RUNS)), bare);
        for (how, compared) in [("begun before it is spawned", begun_before), ("begun in its task", begun_there)] {
            println!("{}", compared.line(&format!("{name}, {how}"), u64::from(RUNS), Some(1.3)));
        }
    }
}
