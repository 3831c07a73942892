//! Executions that run as tasks of their own.
//!
//! A branch of a fork costs one task and no more: all of them push their outcomes to one queue, and the driver takes all that are
//! there at once. What is unusual here (no `JoinSet`, inputs beside their tasks, boxes from [`LARGE`] bytes on, a [`CROWD`] that is spawned
//! together) is for the row "a forked branch" of `docs/book/src/performance.md`.

use crate::clock::Elapsed;
use crate::execution::completions::Completed;
use crate::execution::interruption::Interruption;
use crate::execution::perform::{Performed, perform};
use crate::execution::shared::Shared;
use crate::execution::stops::Stops;
use crate::limits::allowance::Stopped;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Done, Graph};
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::{Handle, RuntimeFlavor};

/// From how many bytes on an allocation costs less than moving a task several times.
const LARGE: usize = 1_024;

/// From how many executions on that start at once they are handed over so many at a time.
const CROWD: usize = 32;

/// The tasks that are under way, once there has been any. Stops them when it is dropped.
pub(crate) struct RunningTasks<G: Graph>(Option<Box<TaskSet<G>>>);

/// The tasks of a run, as its driver sees them.
struct TaskSet<G: Graph> {
    shared: Arc<Shared<G>>,
    /// How many tasks have not been taken by [`next`](RunningTasks::next), the stopped ones included.
    unfinished: usize,
    /// What was taken from the queue, and not by `next` yet.
    completed: VecDeque<Completed<G>>,
    /// By node: when its latest task started.
    started: Vec<Elapsed>,
    /// Whether the runtime has several threads. Only then is a crowd spawned together.
    threads: bool,
    /// Whether a crowd starts now.
    crowded: bool,
    /// The tasks that are spawned together next.
    crowd: Vec<Task<G>>,
}

/// What a task holds. It is complete when this is dropped.
struct Task<G: Graph> {
    shared: Arc<Shared<G>>,
    execution: Execution,
    completed: bool,
}

impl<G: Graph> Default for RunningTasks<G> {
    fn default() -> Self {
        Self(None)
    }
}

impl<G: Graph> RunningTasks<G> {
    fn tasks(&mut self, shared: &Arc<Shared<G>>) -> &mut TaskSet<G> {
        self.0.get_or_insert_with(|| {
            let started = vec![Elapsed::default(); G::net().nodes().len()];
            let threads =
                Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() != RuntimeFlavor::CurrentThread);
            let (unfinished, completed, crowded, crowd) = Default::default();
            Box::new(TaskSet { shared: shared.clone(), unfinished, completed, started, threads, crowded, crowd })
        })
    }

    /// Whether no task is left that `next` has not given.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|tasks| tasks.unfinished == 0)
    }

    /// Says how many tasks are about to start: they may be held back until [`launch`](Self::launch).
    #[inline]
    pub(crate) fn gather(&mut self, shared: &Arc<Shared<G>>, due: usize) {
        if due > CROWD || self.0.is_some() {
            let tasks = self.tasks(shared);
            tasks.crowded = due > CROWD && tasks.threads;
        }
    }

    /// Runs `execution` in a task of its own. Takes the input.
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        shared: &Arc<Shared<G>>,
        execution: Execution,
        input: &mut Option<G::Token>,
        started: Elapsed,
    ) {
        let unfinished = Task { shared: shared.clone(), execution, completed: false };
        let mut slot = shared.task_state().inputs.of(execution.node);
        slot.execution = execution;
        std::mem::swap(&mut slot.input, input);
        drop(slot);
        let tasks = self.tasks(shared);
        tasks.started[usize::from(execution.node)] = started;
        tasks.unfinished += 1;
        if !tasks.crowded {
            return unfinished.spawn();
        }
        if tasks.crowd.is_empty() {
            tasks.crowd.reserve_exact(CROWD);
        }
        tasks.crowd.push(unfinished);
        if tasks.crowd.len() == CROWD {
            tasks.launch();
        }
    }

    /// Starts those that were held back.
    pub(crate) fn launch(&mut self) {
        if let Some(tasks) = self.0.as_mut().filter(|tasks| !tasks.crowd.is_empty()) {
            tasks.launch();
        }
    }

    /// The next completed execution, of those that [`poll_completed`](Self::poll_completed) has taken.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Completed<G>> {
        let tasks = self.0.as_mut()?;
        let completed = tasks.completed.pop_front()?;
        tasks.unfinished -= 1;
        Some(completed)
    }

    /// Takes what has completed; [`next`](Self::next) gives it.
    pub(crate) fn poll_completed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(tasks) => tasks.shared.task_state().completions.poll_take(&mut tasks.completed, context),
            None => Poll::Pending,
        }
    }

    /// When the latest task of a node started.
    pub(crate) fn started(&self, node: NodeIndex) -> Elapsed {
        self.0.as_ref().map_or(Elapsed::default(), |tasks| tasks.started[usize::from(node)])
    }

    /// Forgets a task that was stopped and has completed.
    pub(crate) fn forget(&self, execution: Execution) {
        if let Some(tasks) = &self.0 {
            tasks.shared.task_state().stops.forget(execution);
        }
    }

    /// Stops a task. It still completes.
    pub(crate) fn stop(&self, execution: Execution) {
        let Some(tasks) = &self.0 else { return };
        let task_state = tasks.shared.task_state();
        task_state.stops.stop(execution);
        // The input of a task that has not begun is dropped here, and not when the task is polled.
        let input = task_state.inputs.of(execution.node).input.take();
        drop(input);
    }

    /// Stops all tasks, and waits until they have stopped.
    pub(crate) async fn shutdown(&mut self) {
        if let Some(tasks) = &mut self.0 {
            tasks.shared.task_state().stops.stop_all();
            // Tasks that were not spawned yet complete when they are dropped.
            tasks.crowd.clear();
        }
        while !self.is_empty() {
            if self.next().is_none() {
                std::future::poll_fn(|context| self.poll_completed(context)).await;
            }
        }
    }
}

impl<G: Graph> TaskSet<G> {
    /// Starts those that were held back.
    ///
    /// One task spawns the tasks of all of them, on a thread of the runtime. From outside each would go through the
    /// queue that the runtime's threads share, and these, quicker than who spawns, would fall asleep and have to be
    /// woken time and again.
    fn launch(&mut self) {
        let crowd = std::mem::take(&mut self.crowd);
        spawn_boxed(Box::pin(async move { crowd.into_iter().for_each(Task::spawn) }));
    }
}

impl<G: Graph> Drop for TaskSet<G> {
    fn drop(&mut self) {
        self.shared.task_state().stops.stop_all();
    }
}

impl<G: Graph> Task<G> {
    /// Spawns the task.
    #[inline(always)]
    fn spawn(self) {
        spawn_task(perform(self, Self::complete));
    }

    fn complete(mut self, result: Result<Done<G>, Interruption>) {
        self.completed = true;
        self.leave(result);
    }

    fn leave(&self, result: Result<Done<G>, Interruption>) {
        let untyped = &self.shared.services.untyped;
        if untyped.net.features().maps && !is_held_back(&result) {
            untyped.leads_to_no_section(self.execution);
        }
        let now = untyped.now();
        self.shared.task_state().completions.push(Completed { execution: self.execution, result, now });
    }
}

/// Spawns a task. A runtime moves what it is given several times, and this holds the state of every handler of the graph.
#[inline(always)]
fn spawn_task<T: Future<Output = ()> + Send + 'static>(task: T) {
    // Known when this is compiled, so that one of the two ways is.
    if const { size_of::<T>() > LARGE } { spawn_boxed(Box::pin(task)) } else { drop(tokio::spawn(task)) }
}

/// Spawns a boxed task: tokio's part of it is compiled once, and not for each graph.
pub(crate) fn spawn_boxed(task: Pin<Box<dyn Future<Output = ()> + Send>>) {
    drop(tokio::spawn(task));
}

/// Whether an execution goes on in another process, for what it may use is used up.
fn is_held_back<G: Graph>(result: &Result<Done<G>, Interruption>) -> bool {
    matches!(result, Ok(Done { route: Err(error), .. }) if error.downcast_ref::<Stopped>().is_some())
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
        // A task that was stopped may come late, and find what its successor is to take.
        if slot.execution == self.execution { slot.input.take() } else { None }
    }

    fn stops(&self) -> Option<&Stops> {
        Some(&self.shared.task_state().stops)
    }
}

impl<G: Graph> Drop for Task<G> {
    fn drop(&mut self) {
        if !self.completed {
            self.leave(Err(Interruption::TaskLost));
        }
    }
}
