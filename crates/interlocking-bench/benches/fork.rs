//! Compares a fork to a thousand branches and their join with a bare `JoinSet`: `cargo bench -p interlocking-bench --bench
//! fork`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::fan::{BRANCHES, graph, join_set};
use interlocking_bench::rounds::compare;
use std::future::Future;
use tokio::runtime::{Builder, Runtime};

const ROUNDS: u32 = 10;

fn main() {
    let threads = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    report("branch, two threads", &threads);
    report_spawned("branch, two threads, in a task", &threads);
    let current = Builder::new_current_thread().build().expect("a runtime");
    report("branch, one thread", &current);
}

fn report(name: &str, runtime: &Runtime) {
    assert_eq!(runtime.block_on(graph(2)), runtime.block_on(join_set(2)), "both do the same");
    let branches = u64::from(BRANCHES) * u64::from(ROUNDS);
    let fork = compare(
        101,
        || assert!(runtime.block_on(graph(ROUNDS)) > 0),
        || assert!(runtime.block_on(join_set(ROUNDS)) > 0),
    );
    println!("{}", fork.line(name, branches, Some(1.15)));
}

/// The same, but the run and the set are on a thread of the runtime instead of the thread that waits.
fn report_spawned(name: &str, runtime: &Runtime) {
    let branches = u64::from(BRANCHES) * u64::from(ROUNDS);
    let fork = compare(101, || spawned(runtime, graph(ROUNDS)), || spawned(runtime, join_set(ROUNDS)));
    println!("{}", fork.line(name, branches, Some(1.15)));
}

fn spawned(runtime: &Runtime, sum: impl Future<Output = u64> + Send + 'static) {
    assert!(runtime.block_on(runtime.spawn(sum)).expect("it ends") > 0);
}
