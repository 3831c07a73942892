//! The thread on which programs are started, one after the other.
//!
//! It gives way a little to all others, and all that it starts with it: so they are told from this process's other children. That
//! cannot be taken back, so no other thread is used for it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::tree::give_way;

type Work = Box<dyn FnOnce() + Send>;

/// Does this on that thread. When this is dropped before it is done, nothing of it goes on thereafter: it is waited for if it has
/// begun, and what came of it is dropped.
///
/// # Errors
///
/// There can be no such thread, or the work panicked.
pub(super) async fn on_starter<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (sender, receiver) = oneshot::channel();
    let is_unwanted = Arc::new(Mutex::new(false));
    let mut asked = Asked { is_unwanted: Arc::clone(&is_unwanted), receiver };
    hand_over(Box::new(move || {
        let is_unwanted = lock(&is_unwanted);
        if !*is_unwanted {
            // Received, or dropped with the receiver.
            let _ = sender.send(work());
        }
    }))?;
    (&mut asked.receiver).await.map_err(|_| io::Error::other("the thread that starts programs panicked"))
}

/// Somebody who waits for something that is to be done.
struct Asked<T> {
    is_unwanted: Arc<Mutex<bool>>,
    receiver: oneshot::Receiver<T>,
}

impl<T> Drop for Asked<T> {
    fn drop(&mut self) {
        *lock(&self.is_unwanted) = true;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives it to the thread, which is made for the first one.
fn hand_over(work: Work) -> io::Result<()> {
    static STARTER: Mutex<Option<Sender<Work>>> = Mutex::new(None);
    let mut starter = lock(&STARTER);
    if let Some(there) = &*starter {
        return there.send(work).map_err(|_| io::Error::other("the thread that starts programs has ended"));
    }
    let (sender, receiver) = channel::<Work>();
    std::thread::Builder::new().name("programs".to_owned()).spawn(move || {
        give_way();
        for work in receiver {
            // Whoever waits for it is told, as its answer never comes; those after it have theirs.
            let _ = catch_unwind(AssertUnwindSafe(work));
        }
    })?;
    // The receiver was just made.
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
