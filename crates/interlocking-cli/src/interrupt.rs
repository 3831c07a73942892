//! Interrupts: the first suspends a run, the second ends the program.

use crate::console::{Console, Style};
use crate::exit::Exit;
use interlocking_runtime::CancelToken;

/// Ctrl-C, and requests to terminate where there is such a thing. None is lost from when they are registered.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl Interrupts {
    /// From now on they do not end the process by themselves.
    pub(crate) fn register() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let signals =
                signal(SignalKind::interrupt()).and_then(|ctrl_c| Ok([ctrl_c, signal(SignalKind::terminate())?]));
            // Without a handler the signal ends the program by itself.
            Self { signals: signals.ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Suspends what `cancel` stops at the first interrupt, and ends the process at the second.
    pub(crate) async fn listen(mut self, cancel: CancelToken, console: Console) {
        self.next().await;
        console.line(Style::Bold, "suspending (interrupt again to stop at once)");
        cancel.suspend();
        self.next().await;
        // Whatever is under way, a thread that waits for a disk too, is not waited for. The journal survives that.
        console.give_up();
        std::process::exit(i32::from(Exit::Aborted.code()));
    }

    /// Resolves on the next one.
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
