//! Kills the process at a given point of its execution.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the points that the process passes, and kills the process at one of them. As with `kill -9`, the process
/// reports nothing and cleans nothing up.
#[derive(Clone, Debug, Default)]
pub struct KillSwitch(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    passed: AtomicU64,
    ends_at: Option<u64>,
}

impl KillSwitch {
    /// A switch that kills the process at the point with this number, counted from 1; with `None`, never.
    pub fn new(ends_at: Option<u64>) -> Self {
        Self(Arc::new(Counter { passed: AtomicU64::new(0), ends_at }))
    }

    /// Passes a point.
    pub fn pass(&self) {
        let number = self.0.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if Some(number) == self.0.ends_at {
            die();
        }
    }

    /// The number of points passed.
    pub fn passed(&self) -> u64 {
        self.0.passed.load(Ordering::SeqCst)
    }
}

/// Ends this process as `kill -9` does.
fn die() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // The signal arrives before the call returns, unless it was refused.
    loop {
        assert_eq!(killed, Ok(()), "a process may kill itself");
        std::thread::park();
    }
}
