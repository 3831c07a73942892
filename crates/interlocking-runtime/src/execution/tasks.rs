//! The executions of a run that run as [tasks of their own](crate::execution::task).
//!
//! All of them push their outcomes to one queue, and the driver takes all that are there at once. What is unusual here (no `JoinSet`, inputs
//! beside their tasks, a [`CROWD`] that is spawned together) is for the row "a forked branch" of `docs/book/src/performance.md`.

use crate::clock::Elapsed;
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::completions::Completed;
use crate::execution::interruption::Interruption;
use crate::execution::task::{complete, spawn_boxed};
use interlocking_core::frontier::Execution;
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::runtime::{Handle, RuntimeFlavor};

/// From how many executions on that start at once they are handed over so many at a time.
const CROWD: usize = 32;

/// The tasks that are under way, once there has been any. Stops them when it is dropped.
#[derive(Default)]
pub(crate) struct RunningTasks(Option<Box<TaskSet>>);

/// The tasks of a run, as its driver sees them.
struct TaskSet {
    shared: Arc<dyn ErasedShared>,
    /// How many tasks have not been taken by [`next`](RunningTasks::next), the stopped ones included.
    unfinished: usize,
    /// What was taken from the queue, and not by `next` yet.
    completed: VecDeque<Completed>,
    /// By node: when its latest task started.
    started: Vec<Elapsed>,
    /// Whether the runtime has several threads. Only then is a crowd spawned together.
    threads: bool,
    /// Whether a crowd starts now.
    crowded: bool,
    /// The tasks that are spawned together next.
    crowd: Vec<HeldBack>,
}

/// A task that is not spawned yet. Its execution is complete when this is dropped.
struct HeldBack {
    shared: Arc<dyn ErasedShared>,
    execution: Execution,
    is_spawned: bool,
}

impl RunningTasks {
    fn tasks(&mut self, shared: &Arc<dyn ErasedShared>) -> &mut TaskSet {
        self.0.get_or_insert_with(|| {
            let started = vec![Elapsed::default(); shared.net().nodes().len()];
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
    pub(crate) fn gather(&mut self, shared: &Arc<dyn ErasedShared>, due: usize) {
        if due > CROWD || self.0.is_some() {
            let tasks = self.tasks(shared);
            tasks.crowded = due > CROWD && tasks.threads;
        }
    }

    /// Runs `execution` in a task of its own. Takes the input.
    pub(crate) fn start(
        &mut self,
        shared: &Arc<dyn ErasedShared>,
        execution: Execution,
        input: &mut Option<ErasedToken>,
        started: Elapsed,
    ) {
        let mut slot = shared.task_state().inputs.of(execution.node);
        slot.execution = execution;
        std::mem::swap(&mut slot.input, input);
        drop(slot);
        let tasks = self.tasks(shared);
        tasks.started[usize::from(execution.node)] = started;
        tasks.unfinished += 1;
        if !tasks.crowded {
            return shared.clone().spawn(execution);
        }
        if tasks.crowd.is_empty() {
            tasks.crowd.reserve_exact(CROWD);
        }
        tasks.crowd.push(HeldBack { shared: shared.clone(), execution, is_spawned: false });
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
    pub(crate) fn next(&mut self) -> Option<Completed> {
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

impl TaskSet {
    /// Starts those that were held back.
    ///
    /// One task spawns the tasks of all of them, on a thread of the runtime. From outside each would go through the
    /// queue that the runtime's threads share, and these, quicker than who spawns, would fall asleep and have to be
    /// woken time and again.
    fn launch(&mut self) {
        let crowd = std::mem::take(&mut self.crowd);
        spawn_boxed(Box::pin(async move { crowd.into_iter().for_each(HeldBack::spawn) }));
    }
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.shared.task_state().stops.stop_all();
    }
}

impl HeldBack {
    fn spawn(mut self) {
        self.is_spawned = true;
        self.shared.clone().spawn(self.execution);
    }
}

impl Drop for HeldBack {
    fn drop(&mut self) {
        if !self.is_spawned {
            complete(&*self.shared, self.execution, Err(Interruption::TaskLost));
        }
    }
}
