//! Time that passes only when a test advances it, while programs run, so that nothing depends on their speed.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

/// While this lives, tokio's time stands still on this thread.
pub(crate) struct StoppedTime {
    _holds: Sender<()>,
}

impl StoppedTime {
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        // Tokio would advance the time whenever all tasks are waiting, but not while a blocking task runs.
        let (holds, held) = channel();
        spawn_blocking(move || held.recv());
        Self { _holds: holds }
    }

    /// Advances the time, and runs what is due.
    pub(crate) async fn pass(&self, duration: Duration) {
        tokio::time::advance(duration).await;
    }

    /// Waits in real time, as the programs do.
    pub(crate) async fn until(&self, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(100), "it never was so");
            spawn_blocking(|| std::thread::sleep(Duration::from_millis(2))).await.expect("nothing panics there");
        }
    }
}
