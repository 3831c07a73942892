//! Synchronous work on a blocking thread.

use std::any::Any;
use tokio::task::{JoinError, JoinHandle};

type Work = Box<dyn FnOnce() -> Done + Send>;
type Done = Box<dyn Any + Send>;

/// Runs `work` on a blocking thread. It begins when this is called, and is done even if the caller stops waiting.
///
/// tokio's part of it is compiled once, and not for each work in each crate of a graph.
///
/// # Errors
///
/// Where `work` panics, or the runtime shuts down.
pub(crate) fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, JoinError>> + Send {
    let working = spawn(Box::new(move || Box::new(work())));
    async {
        let done = working.await?.downcast();
        Ok(*done.unwrap_or_else(|_| unreachable!("it is what the work returned")))
    }
}

fn spawn(work: Work) -> JoinHandle<Done> {
    tokio::task::spawn_blocking(work)
}
