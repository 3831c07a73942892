//! Many cases, a few at a time.
//!
//! Random choices follow from a seed, which differs in each test run. The name of a failing case says what to set in the
//! environment to reproduce it; a kill from outside then happens at about the same instant only. By hand, a third or a sixth of the
//! points is taken that thorough tests take; `CRASH_POINTS=all` takes every point, and more seeds.

use interlocking_crash::order::Presence;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of processes that were killed, or whose disk was full.
pub(crate) struct Kills(usize);

/// Numbers that follow from a seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    pub(crate) fn presence(&mut self) -> Presence {
        if self.below(2) == 0 { Presence::Here } else { Presence::Away }
    }
}

impl Kills {
    /// Asserts that processes were disturbed: otherwise the test shows nothing.
    #[track_caller]
    pub(crate) fn at_least(self, least: usize) {
        if number("CRASH_POINT").or(number("CRASH_SEED")).is_none() {
            assert!(self.0 >= least, "only {} processes were disturbed, not {least}", self.0);
        }
    }
}

/// A number from the environment.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

pub(crate) fn all_points() -> bool {
    std::env::var("CRASH_POINTS").is_ok_and(|points| points == "all")
}

/// A number that differs in every run of the tests.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64)
}

/// So many seeds, or the one that the environment sets.
pub(crate) fn seeds(count: u64) -> Vec<u64> {
    number("CRASH_SEED").map_or_else(|| (seed()..seed() + count).collect(), |seed| vec![seed])
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Judges all cases, and panics with the names of those that failed.
pub(crate) fn each<T: Sync>(
    cases: &[T],
    name: impl Fn(&T) -> String + Sync,
    judge: impl AsyncFn(&T) -> u32 + Sync,
) -> Kills {
    let (next, kills, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(2, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let runtime = runtime();
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    match catch_unwind(AssertUnwindSafe(|| runtime.block_on(judge(case)))) {
                        Ok(killed) => drop(kills.fetch_add(killed as usize, Ordering::SeqCst)),
                        Err(_) => failures.lock().unwrap().push(name(case)),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let (failed, of) = (failures.len(), cases.len());
    assert!(failures.is_empty(), "{failed} of {of} cases do not hold; each again with:\n{}", failures.join("\n"));
    Kills(kills.into_inner())
}
