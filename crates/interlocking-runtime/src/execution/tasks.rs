//! The executions of a run that run as [tasks of their own](crate::execution::task).
//!
//! All tasks push their outcomes to one queue, and the driver takes all outcomes that are there at once. The unusual parts (no
//! `JoinSet`, inputs beside their tasks, a [`BATCH`] that is spawned together) are for the row "a forked branch" of
//! `docs/book/src/performance.md`.

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

/// When more executions than this start at once, this many are spawned together.
const BATCH: usize = 32;

/// The tasks in progress; `None` until there is one. Stops them when it is dropped.
#[derive(Default)]
pub(crate) struct RunningTasks(Option<Box<TaskSet>>);

/// The tasks of a run, as its driver sees them.
struct TaskSet {
    shared: Arc<dyn ErasedShared>,
    /// How many tasks have not been returned by [`next`](RunningTasks::next), including stopped ones.
    unfinished: usize,
    /// Completed executions that were taken from the queue, and not yet returned by `next`.
    completed: VecDeque<Completed>,
    /// By node: when its latest task started.
    started: Vec<Elapsed>,
    /// Whether the runtime has several threads. Only then is a batch spawned together.
    threads: bool,
    /// Whether the tasks that start now are spawned in batches.
    batches: bool,
    /// The tasks of the next batch.
    batch: Vec<PendingTask>,
}

/// A task that is not spawned yet. Its execution is complete when this is dropped.
struct PendingTask {
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
            let (unfinished, completed, batches, batch) = Default::default();
            Box::new(TaskSet { shared: shared.clone(), unfinished, completed, started, threads, batches, batch })
        })
    }

    /// Whether `next` has returned all tasks.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|tasks| tasks.unfinished == 0)
    }

    /// Says how many tasks are about to start. They may be kept in a batch until [`launch`](Self::launch).
    #[inline]
    pub(crate) fn prepare_batch(&mut self, shared: &Arc<dyn ErasedShared>, due: usize) {
        if due > BATCH {
            let tasks = self.tasks(shared);
            tasks.batches = tasks.threads;
        }
    }

    /// Runs `execution` in a task of its own. Takes `input`.
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
        if !tasks.batches {
            return shared.clone().spawn(execution);
        }
        if tasks.batch.is_empty() {
            tasks.batch.reserve_exact(BATCH);
        }
        tasks.batch.push(PendingTask { shared: shared.clone(), execution, is_spawned: false });
        if tasks.batch.len() == BATCH {
            tasks.launch();
        }
    }

    /// Spawns the tasks that are left in the batch. Tasks that start from now on are spawned at once.
    pub(crate) fn launch(&mut self) {
        if let Some(tasks) = &mut self.0 {
            tasks.batches = false;
            if !tasks.batch.is_empty() {
                tasks.launch();
            }
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

    /// Takes all completed executions from the queue; [`next`](Self::next) returns them.
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

    /// Forgets a stopped task that has completed.
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
            tasks.batch.clear();
        }
        while !self.is_empty() {
            if self.next().is_none() {
                std::future::poll_fn(|context| self.poll_completed(context)).await;
            }
        }
    }
}

impl TaskSet {
    /// Spawns the tasks of the batch.
    ///
    /// One task spawns all of them, on a thread of the runtime. If each were spawned from outside, it would go through the
    /// queue that the runtime's threads share, and these threads, which are faster than the one that spawns, would fall asleep
    /// and have to be woken time and again.
    fn launch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        spawn_boxed(Box::pin(async move { batch.into_iter().for_each(PendingTask::spawn) }));
    }
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.shared.task_state().stops.stop_all();
    }
}

impl PendingTask {
    fn spawn(mut self) {
        self.is_spawned = true;
        self.shared.clone().spawn(self.execution);
    }
}

impl Drop for PendingTask {
    fn drop(&mut self) {
        if !self.is_spawned {
            complete(&*self.shared, self.execution, Err(Interruption::TaskLost));
        }
    }
}
