//! The time that something takes which reports nothing itself.

use interlocking::cli::Console;
use std::time::{Duration, Instant};

/// Shows it on the living line, where there is one.
pub(crate) async fn while_waiting<T>(console: &Console, what: &str, work: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let mut ticks = tokio::time::interval(Duration::from_millis(200));
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => {
                console.status("");
                return done;
            }
            _ = ticks.tick() => console.status(&format!("{:>6.1} s {what}", started.elapsed().as_secs_f64())),
        }
    }
}
