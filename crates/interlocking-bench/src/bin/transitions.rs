//! Runs a number of transitions, or rounds of a fork, and nothing else, for callgrind:
//! `transitions (graph|journaled|loop|ring|match|fork|join-set) COUNT`.

use interlocking_bench::fan;
use interlocking_bench::transitions::{What, run};
use tokio::runtime::Builder;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let count = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    match (what.as_str(), What::named(&what)) {
        ("fork", _) => assert!(runtime.block_on(fan::graph(count as u32)) > 0),
        ("join-set", _) => assert!(runtime.block_on(fan::join_set(count as u32)) > 0),
        (_, Some(what)) => run(what, count),
        _ => panic!("usage: transitions (graph|journaled|loop|ring|match|fork|join-set) COUNT"),
    }
}
