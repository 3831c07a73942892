//! Time that passes only when a test says so, while programs run: nothing depends on how fast they are.

use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;

/// As long as this lives, tokio's time stands still on this thread.
pub(crate) struct StoppedTime {
    _holds: Sender<()>,
}

impl StoppedTime {
    pub(crate) fn new() -> Self {
        tokio::time::pause();
        // Otherwise time passes whenever nobody has anything to do. While something blocks, it does not.
        let (holds, held) = channel();
        spawn_blocking(move || held.recv());
        Self { _holds: holds }
    }

    /// Lets time pass, and everybody do what is due then.
    pub(crate) async fn pass(&self, duration: Duration) {
        tokio::time::advance(duration).await;
    }

    /// Waits, in the time that the programs have.
    pub(crate) async fn until(&self, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(100), "it never was so");
            spawn_blocking(|| std::thread::sleep(Duration::from_millis(2))).await.expect("nothing panics there");
        }
    }
}
