//! Interrupts: the first suspends a run, the second ends the program.

use crate::console::{Console, Style};
use crate::exit::Exit;
use interlocking_runtime::CancelToken;

/// Listens for Ctrl-C and, on Unix, for SIGTERM. A signal that arrives after `register` is not lost.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl Interrupts {
    /// Registers the signal handlers, so that the signals do not end the process by themselves.
    pub(crate) fn register() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let signals =
                signal(SignalKind::interrupt()).and_then(|ctrl_c| Ok([ctrl_c, signal(SignalKind::terminate())?]));
            // If no handler can be registered, the signals end the process.
            Self { signals: signals.ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Suspends the run of `cancel` at the first interrupt, and ends the process at the second.
    pub(crate) async fn listen(mut self, cancel: CancelToken, console: Console) {
        self.next().await;
        console.line(Style::Bold, "suspending (interrupt again to stop at once)");
        cancel.suspend();
        self.next().await;
        // Waits for no work in progress, not even for a thread that waits for a disk. The journal survives that.
        console.clear_for_exit();
        std::process::exit(i32::from(Exit::Aborted.code()));
    }

    /// Resolves on the next interrupt.
    async fn next(&mut self) {
        #[cfg(unix)]
        match &mut self.signals {
            Some([ctrl_c, terminate]) => {
                tokio::select! {
                    _ = ctrl_c.recv() => {}
                    _ = terminate.recv() => {}
                }
            }
            None => std::future::pending().await,
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
