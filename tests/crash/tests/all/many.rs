//! Many cases, a few at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Judges all cases, and panics with what was found of the first few that did not hold. Each is named by what replays it.
pub(crate) fn each<T: Sync>(
    cases: &[T],
    name: impl Fn(&T) -> String + Sync,
    judge: impl AsyncFn(&T) -> u32 + Sync,
) -> u32 {
    let (next, kills, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(2, usize::from).min(8);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
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
    assert!(
        failures.is_empty(),
        "{} of {} cases do not hold; to replay them:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    kills.into_inner() as u32
}
