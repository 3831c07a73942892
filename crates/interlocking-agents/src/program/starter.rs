//! The thread that starts all programs, one after the other.
//!
//! Its niceness is raised by 1, and every process that it starts inherits that: so programs can be told from other children of
//! this process. A raised niceness cannot be lowered again, so a dedicated thread is used.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::tree::raise_niceness;

type Work = Box<dyn FnOnce() + Send>;

/// Runs `work` on the starter thread. If the future is dropped, work that has not begun is never run; work that has begun is
/// waited for, and its result is dropped.
///
/// # Errors
///
/// The thread could not be started, or `work` panicked.
pub(super) async fn on_starter<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    let is_cancelled = Arc::new(Mutex::new(false));
    let mut request = Request { is_cancelled: Arc::clone(&is_cancelled), receiver };
    send_to_starter(Box::new(move || {
        // Held while the work runs, so that dropping the request waits for it.
        let is_cancelled = lock(&is_cancelled);
        if !*is_cancelled {
            // If the receiver is gone, the result is dropped.
            let _ = sender.send(work());
        }
    }))?;
    (&mut request.receiver).await.map_err(|_| panicked())
}

/// Like [`on_starter`], for synchronous code: blocks until the work is done.
///
/// # Errors
///
/// Those of [`on_starter`].
pub(super) fn on_starter_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = channel();
    // The receiver waits.
    send_to_starter(Box::new(move || drop(sender.send(work()))))?;
    receiver.recv().map_err(|_| panicked())
}

fn panicked() -> io::Error {
    io::Error::other("the thread that starts programs panicked")
}

/// A request to the starter thread. Dropping it cancels work that has not begun, and waits for work that has.
struct Request<T> {
    is_cancelled: Arc<Mutex<bool>>,
    receiver: oneshot::Receiver<T>,
}

impl<T> Drop for Request<T> {
    fn drop(&mut self) {
        *lock(&self.is_cancelled) = true;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends work to the starter thread. The first call starts the thread.
fn send_to_starter(work: Work) -> io::Result<()> {
    static STARTER: Mutex<Option<Sender<Work>>> = Mutex::new(None);
    let mut starter = lock(&STARTER);
    if let Some(sender) = &*starter {
        return sender.send(work).map_err(|_| io::Error::other("the thread that starts programs has ended"));
    }
    let (sender, receiver) = channel::<Work>();
    std::thread::Builder::new().name("programs".to_owned()).spawn(move || {
        raise_niceness();
        for work in receiver {
            // After a panic, the request fails because its sender is dropped. Later requests still run.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    })?;
    // This cannot fail: the thread holds the receiver.
    let _ = sender.send(work);
    *starter = Some(sender);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn everything_is_done_on_one_thread_and_a_panic_ends_nothing_but_itself() {
        let thread = || std::thread::current().id();
        let (first, second) = (on_starter(thread).await.unwrap(), on_starter(thread).await.unwrap());
        assert!(first == second && first != thread());
        let panicked = on_starter(|| panic!("as a test of it does")).await;
        assert_eq!(panicked.unwrap_err().to_string(), "the thread that starts programs panicked");
        assert_eq!(on_starter(|| 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn what_is_unwanted_before_it_began_is_not_done_and_what_has_begun_is_waited_for() {
        static IS_DONE: AtomicBool = AtomicBool::new(false);
        static IS_LATER_DONE: AtomicBool = AtomicBool::new(false);
        let (begun, begins) = std::sync::mpsc::channel();
        let (go, goes) = std::sync::mpsc::channel();
        let first = tokio::spawn(on_starter(move || {
            begun.send(()).unwrap();
            goes.recv().unwrap();
            IS_DONE.store(true, Ordering::SeqCst);
        }));
        while begins.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        let mut second = Box::pin(on_starter(|| IS_LATER_DONE.store(true, Ordering::SeqCst)));
        assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
        drop(second);
        let going = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            go.send(()).unwrap();
        });
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        assert!(IS_DONE.load(Ordering::SeqCst), "it was waited for");
        going.join().unwrap();
        on_starter(|| ()).await.unwrap();
        assert!(!IS_LATER_DONE.load(Ordering::SeqCst), "nobody wanted it");
    }
}
