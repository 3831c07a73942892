//! A thousand seeds, or as many as `SIMULATION_SEEDS` says; with `SIMULATION_SEED` that one alone, and all that happens in it.

#![expect(clippy::expect_used, reason = "a test, also outside its test functions")]

use interlocking_simulation::{Counts, Played, simulate};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How many seeds there are by default.
const SEEDS: u64 = 1_000;

/// A seed takes some milliseconds. If none comes to its end for so long, one hangs without a line in its log.
const HANGS: Duration = Duration::from_secs(180);

/// What must have happened in the usual seeds, and how often at least; far less than what does.
const HAPPENED: [(&str, usize); 74] = [
    ("outcomes", 5_000),
    ("children", 500),
    ("children of graph nodes", 200),
    ("sections", 80),
    ("waits for a turn", 30),
    ("failed children", 60),
    ("decisions", 100),
    ("out of reach", 20),
    ("quorums met", 300),
    ("quorums missed", 3),
    ("slots missing", 200),
    ("losers", 200),
    ("too late", 10),
    ("items added", 5),
    ("items refused", 1),
    ("compared", 300),
    ("unrecorded", 500),
    ("only unrecorded", 150),
    ("cancelled", 200),
    ("exhausted", 200),
    ("spent edges", 40),
    ("routed", 30),
    ("worked apart", 300),
    ("remembered", 50),
    ("messages", 50),
    ("messages missed", 5),
    ("redirects", 40),
    ("sent", 40),
    ("answers", 500),
    ("waits", 200),
    ("advisory", 200),
    ("effects", 1_000),
    ("memories", 500),
    ("resumed", 1_000),
    ("retried", 250),
    ("children retried", 10),
    ("finished when retried", 50),
    ("failed when retried", 50),
    ("void wishes", 50),
    ("late reports", 2),
    ("process ends", 100),
    ("future dropped", 50),
    ("suspended", 50),
    ("journal refuses", 40),
    ("journal refuses for a while", 80),
    ("ends before a record", 50),
    ("ends after a record", 50),
    ("finished", 1_000),
    ("failed", 10),
    ("failed by a bound", 50),
    ("failed by a child", 10),
    ("failed by an edge", 10),
    ("panicked", 3),
    ("timed out", 2),
    ("was cancelled", 5),
    ("runs", 2_000),
    ("calls", 4_000),
    ("corrections", 800),
    ("reminders", 500),
    ("interrupted", 100),
    ("provider errors", 600),
    ("agent errors", 80),
    ("failed by its agent", 10),
    ("fresh", 1_500),
    ("continue", 80),
    ("fork", 60),
    ("sessions", 1_500),
    ("sessions resumed", 300),
    ("sessions lost", 15),
    ("spent", 100),
    ("held up", 3),
    ("calls used up", 20),
    ("patience used up", 10),
    ("called beside", 80),
];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect(name))
}

#[test]
fn every_seed_ends_as_it_must() {
    if let Some(seed) = number("SIMULATION_SEED") {
        let (Played { trace, counts }, result) = simulate(seed);
        println!("{trace}{counts}");
        return assert_eq!(result, Ok(()), "seed {seed}");
    }
    let seeds = number("SIMULATION_SEEDS").unwrap_or(SEEDS);
    let (counts, failed) = all(seeds);
    println!("{counts}");
    let failed: String = failed.iter().map(|(seed, why)| format!("seed {seed}: {why}\n{}\n", replay(*seed))).collect();
    assert!(failed.is_empty(), "{failed}");
    for (what, least) in HAPPENED.into_iter().filter(|_| seeds >= SEEDS) {
        assert!(counts.get(what) >= least, "{what}: only {} times", counts.get(what));
    }
}

#[test]
fn the_same_seed_does_the_same() {
    for seed in 0..40 {
        let [(once, first), (again, second)] = [simulate(seed), simulate(seed)];
        let differs = once.trace.lines().zip(again.trace.lines()).position(|(one, other)| one != other);
        assert_eq!(differs, None, "seed {seed} differs first in this line of its trace");
        assert_eq!((once.trace == again.trace, first), (true, second), "seed {seed}");
    }
}

/// What a thread does.
enum Now {
    Begins(u64),
    Ends(u64, Box<(Played, Result<(), String>)>),
}

/// What all seeds came upon, and those that failed with the reason.
fn all(seeds: u64) -> (Counts, BTreeMap<u64, String>) {
    let (sender, receiver) = channel();
    let next = Arc::new(AtomicU64::new(0));
    for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
        let (sender, next) = (sender.clone(), next.clone());
        thread::spawn(move || work(seeds, &next, &sender));
    }
    drop(sender);
    let (mut counts, mut failed, mut under_way) = (Counts::default(), BTreeMap::new(), BTreeSet::new());
    loop {
        match receiver.recv_timeout(HANGS) {
            Ok(Now::Begins(seed)) => {
                under_way.insert(seed);
            }
            Ok(Now::Ends(seed, simulated)) => {
                under_way.remove(&seed);
                let (played, result) = *simulated;
                counts.merge(&played.counts);
                failed.extend(result.err().map(|why| (seed, why)));
            }
            Err(RecvTimeoutError::Timeout) => {
                failed.extend(under_way.into_iter().map(|seed| (seed, format!("no end after {HANGS:?}"))));
                return (counts, failed);
            }
            Err(RecvTimeoutError::Disconnected) => {
                failed.extend(under_way.into_iter().map(|seed| (seed, "the simulation panicked".to_owned())));
                return (counts, failed);
            }
        }
    }
}

/// Simulates seeds until there are no more, or nobody listens.
fn work(seeds: u64, next: &AtomicU64, sender: &Sender<Now>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= seeds || sender.send(Now::Begins(seed)).is_err() {
            return;
        }
        if sender.send(Now::Ends(seed, Box::new(simulate(seed)))).is_err() {
            return;
        }
    }
}

fn replay(seed: u64) -> String {
    format!("  SIMULATION_SEED={seed} cargo test -p interlocking-simulation every_seed -- --nocapture")
}
