//! Simulates 200 seeds by default, 600 where tests are thorough, or as many as `SIMULATION_SEEDS` says. With
//! `SIMULATION_SEED`, simulates only that seed and prints its trace.

#![expect(clippy::expect_used, reason = "a test, also outside its test functions")]

use crate::{Counts, Played, sample, simulate};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// The number of seeds where tests are thorough.
const SEEDS: u64 = 600;

/// A seed takes some milliseconds. If no seed ends for this long, one hangs without writing to its log.
const HANG_LIMIT: Duration = Duration::from_secs(180);

/// The least counts of each kind of event in these seeds; the real counts are far higher.
const REQUIRED_COUNTS: [(&str, usize); 74] = [
    ("outcomes", 3_000),
    ("children", 300),
    ("children of graph nodes", 120),
    ("sections", 45),
    ("waits for a turn", 18),
    ("failed children", 35),
    ("decisions", 60),
    ("out of reach", 12),
    ("quorums met", 180),
    ("quorums missed", 3),
    ("slots missing", 120),
    ("losers", 120),
    ("too late", 6),
    ("items added", 3),
    ("items refused", 1),
    ("compared", 180),
    ("unrecorded", 300),
    ("only unrecorded", 90),
    ("cancelled", 120),
    ("exhausted", 120),
    ("spent edges", 20),
    ("routed", 18),
    ("worked apart", 180),
    ("remembered", 30),
    ("messages", 30),
    ("messages missed", 1),
    ("redirects", 20),
    ("sent", 20),
    ("answers", 300),
    ("waits", 120),
    ("advisory", 120),
    ("effects", 600),
    ("memories", 300),
    ("resumed", 600),
    ("retried", 150),
    ("children retried", 6),
    ("finished when retried", 30),
    ("failed when retried", 30),
    ("late cancellations", 30),
    ("late reports", 3),
    ("process ends", 60),
    ("future dropped", 30),
    ("suspended", 30),
    ("journal refuses", 20),
    ("journal refuses for a while", 45),
    ("ends before a record", 30),
    ("ends after a record", 30),
    ("finished", 600),
    ("failed", 6),
    ("failed by a bound", 30),
    ("failed by a child", 6),
    ("failed by an edge", 6),
    ("panicked", 1),
    ("timed out", 3),
    ("was cancelled", 3),
    ("runs", 1_200),
    ("calls", 2_400),
    ("corrections", 480),
    ("reminders", 300),
    ("interrupted", 60),
    ("provider errors", 360),
    ("agent errors", 45),
    ("failed by its agent", 4),
    ("fresh", 900),
    ("continue", 45),
    ("fork", 35),
    ("sessions", 900),
    ("sessions resumed", 140),
    ("sessions lost", 9),
    ("spent", 60),
    ("held up", 1),
    ("calls used up", 12),
    ("patience used up", 6),
    ("called beside", 45),
];

pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect(name))
}

/// Simulates one seed, and prints its trace.
pub(crate) fn replay(seed: u64, simulate: impl Fn(u64) -> (Played, Result<(), String>)) {
    let (Played { trace, counts }, result) = simulate(seed);
    println!("{trace}{counts}");
    assert_eq!(result, Ok(()), "seed {seed}");
}

#[test]
fn every_seed_ends_as_it_must() {
    if let Some(seed) = number("SIMULATION_SEED") {
        return replay(seed, simulate);
    }
    let one_in: u8 = sample::one_in(3);
    let usual = SEEDS / u64::from(one_in);
    let seeds = number("SIMULATION_SEEDS").unwrap_or(usual);
    let (counts, failed) = all(seeds, simulate);
    println!("{counts}");
    let failed: String =
        failed.iter().map(|(seed, why)| format!("seed {seed}: {why}\n{}\n", replay_command(*seed))).collect();
    assert!(failed.is_empty(), "{failed}");
    if seeds >= usual {
        assert_counts(&counts, &REQUIRED_COUNTS, one_in.into());
    }
}

/// Checks the counts of one seed in `one_in`. Counts that are rarer than that are required of all seeds only.
pub(crate) fn assert_counts(counts: &Counts, required: &[(&str, usize)], one_in: usize) {
    for (what, least) in required {
        let found = counts.get(what);
        if *least < one_in {
            println!("{what}: {found} times; only all seeds must have {least}");
        } else {
            assert!(found >= least / one_in, "{what}: only {found} times");
        }
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

/// The progress of a thread.
enum Now {
    Begins(u64),
    Ends(u64, Box<(Played, Result<(), String>)>),
}

/// The counts of all seeds, and the failed seeds with the reason.
pub(crate) fn all<S>(seeds: u64, simulate: S) -> (Counts, BTreeMap<u64, String>)
where
    S: Fn(u64) -> (Played, Result<(), String>) + Send + Sync + 'static,
{
    let (sender, receiver) = channel();
    let (next, simulate) = (Arc::new(AtomicU64::new(0)), Arc::new(simulate));
    for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
        let (sender, next, simulate) = (sender.clone(), next.clone(), simulate.clone());
        thread::spawn(move || work(seeds, &next, &sender, &*simulate));
    }
    drop(sender);
    let (mut counts, mut failed, mut under_way) = (Counts::default(), BTreeMap::new(), BTreeSet::new());
    loop {
        match receiver.recv_timeout(HANG_LIMIT) {
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
                failed.extend(under_way.into_iter().map(|seed| (seed, format!("no end after {HANG_LIMIT:?}"))));
                return (counts, failed);
            }
            Err(RecvTimeoutError::Disconnected) => {
                failed.extend(under_way.into_iter().map(|seed| (seed, "the simulation panicked".to_owned())));
                return (counts, failed);
            }
        }
    }
}

/// Simulates seeds until there are no more, or the receiver is gone.
fn work(seeds: u64, next: &AtomicU64, sender: &Sender<Now>, simulate: &dyn Fn(u64) -> (Played, Result<(), String>)) {
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

fn replay_command(seed: u64) -> String {
    format!("  SIMULATION_SEED={seed} cargo test -p interlocking-simulation every_seed -- --nocapture")
}
