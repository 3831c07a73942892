//! A fork to a thousand branches and their join beside a bare `JoinSet`: `cargo bench -p interlocking-bench --bench fork`.

#![expect(clippy::print_stdout, reason = "a benchmark reports to whoever runs it")]

use interlocking_bench::fan::{BRANCHES, graph, join_set};
use interlocking_bench::rounds::compare;
use tokio::runtime::{Builder, Runtime};

const ROUNDS: u32 = 10;

fn main() {
    let threads = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    report("branch, two threads", &threads);
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
