//! Interrupts: the first suspends a run and ends a command that only reads, the second ends the program.

use crate::console::{Console, Style};
use crate::exit::Exit;
use interlocking_runtime::CancelToken;
use std::io;

/// Ctrl-C and, on Unix, SIGTERM. A signal that arrives after `register` is not lost.
struct Interrupts {
    #[cfg(unix)]
    signals: [tokio::signal::unix::Signal; 2],
}

/// Cancels `cancel` at the first interrupt, as a suspension, and ends the process at the second. Listens on a thread of its own:
/// the signals count whatever the program's threads wait for. If no handler can be registered, the first signal ends the process.
pub(crate) fn listen(cancel: CancelToken, console: Console) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let entered = runtime.enter();
    let interrupts = Interrupts::register();
    drop(entered);
    let Ok(mut interrupts) = interrupts else { return runtime.shutdown_background() };
    std::thread::spawn(move || {
        runtime.block_on(interrupts.next());
        console.line(Style::Bold, "interrupted (interrupt again to stop at once)");
        cancel.suspend();
        runtime.block_on(interrupts.next());
        // Waits for no work in progress, not even for a thread that waits for a disk. The journal survives that.
        console.abandon();
        std::process::exit(i32::from(Exit::Aborted.code()));
    });
}

impl Interrupts {
    /// Registers the signal handlers, so that the signals do not end the process by themselves.
    fn register() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            Ok(Self { signals: [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?] })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Resolves on the next interrupt.
    async fn next(&mut self) {
        #[cfg(unix)]
        {
            let [ctrl_c, terminate] = &mut self.signals;
            tokio::select! {
                _ = ctrl_c.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
