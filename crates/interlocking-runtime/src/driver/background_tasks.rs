//! The tasks of background executions.

use crate::driver::background::Returned;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// The tasks of a run's background executions. Stops them when it is dropped.
#[derive(Default)]
pub(super) struct BackgroundTasks(JoinSet<Returned>);

impl BackgroundTasks {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = Returned> + Send + 'static) {
        self.0.spawn(task);
    }

    /// The next execution that returns; `None` when there is none.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Returned>> {
        loop {
            match self.0.poll_join_next(context) {
                // A task catches its node's panic, so only the end of the runtime makes a join fail.
                Poll::Ready(Some(Err(_))) => {}
                Poll::Ready(Some(Ok(returned))) => return Poll::Ready(Some(returned)),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Stops all tasks, and waits until they have stopped.
    pub(super) async fn shutdown(&mut self) {
        self.0.shutdown().await;
    }
}
