//! Runs a number of transitions, of rounds of a fork, or of whole runs at once, and nothing else, for callgrind and
//! perf:
//! `transitions (graph|graph-one-by-one|journaled|loop|loop-one-by-one|ring|match|fork|join-set|runs|tasks) COUNT`.

use interlocking_bench::transitions::{What, run};
use interlocking_bench::{fan, many};
use std::time::Duration;
use tokio::runtime::Builder;

fn main() {
    const WAIT: Duration = Duration::from_millis(1);
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    match (what.as_str(), What::named(&what)) {
        ("fork", _) => assert!(runtime.block_on(fan::graph(count as u32)) > 0),
        ("join-set", _) => assert!(runtime.block_on(fan::join_set(count as u32)) > 0),
        ("runs", _) => assert!(runtime.block_on(many::runs(&many::five(WAIT), count as u32)) > 0),
        ("tasks", _) => assert!(runtime.block_on(many::tasks(WAIT, count as u32)) > 0),
        (_, Some(what)) => run(what, count),
        _ => panic!(
            "usage: transitions \
             (graph|graph-one-by-one|journaled|loop|loop-one-by-one|ring|match|fork|join-set|runs|tasks) COUNT"
        ),
    }
}
