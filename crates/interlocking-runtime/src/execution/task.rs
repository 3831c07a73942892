//! An execution that runs as a task of its own: this is all that a branch of a fork costs beside its token (row "a forked
//! branch" of `docs/book/src/performance.md`).

use crate::erased::done::ErasedDone;
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::completions::Completed;
use crate::execution::interruption::Interruption;
use crate::execution::perform::{Performed, perform};
use crate::execution::shared::Shared;
use crate::execution::stops::Stops;
use crate::limits::allowance::Stopped;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::Graph;
use std::pin::Pin;
use std::sync::Arc;

/// From this many bytes on, an allocation costs less than moving a task several times. A build without optimisation boxes every
/// task: then tokio's part of a task is compiled once, and not for each graph.
const LARGE: usize = if cfg!(debug_assertions) { 0 } else { 1_024 };

/// The state of a task. The execution is complete when this is dropped.
pub(crate) struct Task<G: Graph> {
    shared: Arc<Shared<G>>,
    execution: Execution,
    completed: bool,
}

impl<G: Graph> Task<G> {
    pub(crate) fn new(shared: Arc<Shared<G>>, execution: Execution) -> Self {
        Self { shared, execution, completed: false }
    }

    /// Spawns the task.
    #[inline(always)]
    pub(crate) fn spawn(self) {
        spawn_task(perform(self, Self::complete));
    }

    fn complete(mut self, result: Result<ErasedDone, Interruption>) {
        self.completed = true;
        complete(&*self.shared, self.execution, result);
    }
}

/// Tells the driver the result of an execution.
pub(crate) fn complete(shared: &dyn ErasedShared, execution: Execution, result: Result<ErasedDone, Interruption>) {
    let untyped = shared.untyped();
    if untyped.net.features().maps && !is_held_back(&result) {
        untyped.forget_sections_below(execution);
    }
    let now = untyped.now();
    shared.task_state().completions.push(Completed { execution, result, now });
}

/// Whether an execution continues in another process, because a budget is used up or a provider keeps failing.
fn is_held_back(result: &Result<ErasedDone, Interruption>) -> bool {
    matches!(result, Ok(ErasedDone { route: Err(error), .. }) if error.downcast_ref::<Stopped>().is_some())
}

/// Spawns a task. A runtime moves a task several times, and this one holds the state of every handler of the graph.
#[inline(always)]
fn spawn_task<T: Future<Output = ()> + Send + 'static>(task: T) {
    // Known at compile time, so that only one of the two ways is compiled.
    if const { size_of::<T>() > LARGE } { spawn_boxed(Box::pin(task)) } else { drop(tokio::spawn(task)) }
}

/// Spawns a boxed task: tokio's part of it is compiled once, and not for each graph.
pub(crate) fn spawn_boxed(task: Pin<Box<dyn Future<Output = ()> + Send>>) {
    drop(tokio::spawn(task));
}

impl<G: Graph> Performed<G> for Task<G> {
    fn execution(&self) -> Execution {
        self.execution
    }

    fn shared(&self) -> &Shared<G> {
        &self.shared
    }

    #[inline]
    fn take_input(&mut self) -> Option<G::Token> {
        let mut slot = self.shared.task_state().inputs.of(self.execution.node);
        // A task that was stopped may run late, and find the input of its successor.
        if slot.execution == self.execution { slot.input.as_mut().map(ErasedToken::take) } else { None }
    }

    #[inline]
    fn take_memory(&mut self) -> Option<ErasedToken> {
        let mut slot = self.shared.task_state().inputs.of(self.execution.node);
        if slot.execution == self.execution { slot.input.take() } else { None }
    }

    fn stops(&self) -> Option<&Stops> {
        Some(&self.shared.task_state().stops)
    }
}

impl<G: Graph> Drop for Task<G> {
    fn drop(&mut self) {
        if !self.completed {
            complete(&*self.shared, self.execution, Err(Interruption::TaskLost));
        }
    }
}
