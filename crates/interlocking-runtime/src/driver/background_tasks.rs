//! The tasks of background executions. Those of all graphs are of one type for tokio, whose part of them is compiled once.

use crate::driver::background::Returned;
use interlocking_core::graph::Graph;
use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// The tasks of a graph's background executions. Stops them when it is dropped.
pub(super) struct BackgroundTasks<G: Graph> {
    tasks: AnyTasks,
    graph: PhantomData<fn() -> G>,
}

/// What they are for any graph.
#[derive(Default)]
struct AnyTasks(JoinSet<AnyReturned>);

type AnyReturned = Box<dyn Any + Send>;

impl<G: Graph> Default for BackgroundTasks<G> {
    fn default() -> Self {
        Self { tasks: AnyTasks::default(), graph: PhantomData }
    }
}

impl<G: Graph> BackgroundTasks<G> {
    pub(super) fn len(&self) -> usize {
        self.tasks.0.len()
    }

    pub(super) fn spawn(&mut self, task: impl Future<Output = Returned<G>> + Send + 'static) {
        self.tasks.spawn(Box::pin(async { Box::new(task.await) as AnyReturned }));
    }

    /// The next execution that returns; `None` when there is none.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Returned<G>>> {
        self.tasks.poll_next(context).map(|returned| Some(*returned?.downcast().ok()?))
    }

    /// Stops them all, and waits until they have stopped.
    pub(super) async fn shutdown(&mut self) {
        self.tasks.0.shutdown().await;
    }
}

impl AnyTasks {
    fn spawn(&mut self, task: Pin<Box<dyn Future<Output = AnyReturned> + Send>>) {
        self.0.spawn(task);
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<AnyReturned>> {
        loop {
            match self.0.poll_join_next(context) {
                // A task catches what its node does; what ends it otherwise ends the runtime.
                Poll::Ready(Some(Err(_))) => {}
                Poll::Ready(Some(Ok(returned))) => return Poll::Ready(Some(returned)),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
