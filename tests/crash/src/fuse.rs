//! Kills the process at a given point of its way.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the points that the process comes by, and kills it at one of them: as `kill -9` does, nothing is told and
/// nothing is cleaned up.
#[derive(Clone, Debug, Default)]
pub struct Fuse(Arc<Burning>);

#[derive(Debug, Default)]
struct Burning {
    passed: AtomicU64,
    ends_at: Option<u64>,
}

impl Fuse {
    /// One that ends at the point with this number, counted from 1; without one, never.
    pub fn new(ends_at: Option<u64>) -> Self {
        Self(Arc::new(Burning { passed: AtomicU64::new(0), ends_at }))
    }

    /// A point.
    pub fn pass(&self) {
        let number = self.0.passed.fetch_add(1, Ordering::SeqCst) + 1;
        if Some(number) == self.0.ends_at {
            die();
        }
    }

    /// How many points it came by.
    pub fn passed(&self) -> u64 {
        self.0.passed.load(Ordering::SeqCst)
    }
}

/// Ends this process as the system would on `kill -9`.
fn die() -> ! {
    let killed = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    // The signal is there before the call returns, unless it was refused.
    loop {
        assert_eq!(killed, Ok(()), "a process may kill itself");
        std::thread::park();
    }
}
