//! Executions that run as tasks of their own, and how they land.
//!
//! A branch of a fork costs one task and no more: the outcomes of all of them meet in one queue, and whoever waits for them
//! takes all that have come at once.

use crate::clock::Elapsed;
use crate::driver::Shared;
use crate::perform::{Performed, Stop, perform};
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Done, Graph};
use interlocking_core::net::NodeIndex;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::task::JoinHandle;

/// From how many bytes on an allocation costs less than moving a task several times.
const LARGE: usize = 1_024;

/// What came of an execution.
pub(crate) struct Landed<G: Graph> {
    pub(crate) execution: Execution,
    /// `None` where its task ended without an outcome: it was aborted, or the drop of a value in it panicked.
    pub(crate) result: Option<Result<Done<G>, Stop>>,
    pub(crate) now: Elapsed,
    pub(crate) took: Elapsed,
}

/// Where tasks leave what came of them.
pub(crate) struct Landings<G: Graph>(Mutex<Queue<G>>);

struct Queue<G: Graph> {
    landed: VecDeque<Landed<G>>,
    /// Who waits for them.
    waker: Option<Waker>,
}

/// The tasks that are under way. Aborts them when it is dropped.
pub(crate) struct Flight<G: Graph> {
    shared: Arc<Shared<G>>,
    /// How many tasks have not been seen landing, the aborted ones included.
    aloft: usize,
    /// What was taken from the queue last.
    landed: VecDeque<Landed<G>>,
    /// By node: its task, until that has landed or is stopped.
    tasks: Vec<Option<JoinHandle<()>>>,
}

/// What a task holds: it lands when this does.
struct Aloft<G: Graph> {
    shared: Arc<Shared<G>>,
    started: Elapsed,
    execution: Execution,
    landed: bool,
}

impl<G: Graph> Landings<G> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Queue { landed: VecDeque::new(), waker: None }))
    }

    fn push(&self, landed: Landed<G>) {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queue.landed.push_back(landed);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Gives all that have landed for the empty `taken`.
    fn poll_take(&self, taken: &mut VecDeque<Landed<G>>, context: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.landed.is_empty() {
            queue.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        std::mem::swap(&mut queue.landed, taken);
        Poll::Ready(())
    }
}

impl<G: Graph> Flight<G> {
    pub(crate) fn new(shared: Arc<Shared<G>>) -> Self {
        let tasks = std::iter::repeat_with(|| None).take(G::net().nodes().len()).collect();
        Self { shared, aloft: 0, landed: VecDeque::new(), tasks }
    }

    /// Runs `execution` in a task of its own.
    pub(crate) fn start(&mut self, execution: Execution, input: G::Token, started: Elapsed) {
        let aloft = Aloft { shared: self.shared.clone(), started, execution, landed: false };
        let task = perform(aloft, input, Aloft::land);
        // A runtime moves what it is given several times, and this holds the state of every handler of the graph.
        let task = if size_of_val(&task) > LARGE { tokio::spawn(Box::pin(task)) } else { tokio::spawn(task) };
        self.tasks[usize::from(execution.node)] = Some(task);
        self.aloft += 1;
    }

    /// The next one that has landed, if it was taken already.
    pub(crate) fn next(&mut self) -> Option<Landed<G>> {
        let landed = self.landed.pop_front()?;
        self.aloft -= 1;
        Some(landed)
    }

    /// Takes what has landed; [`next`](Self::next) gives it.
    pub(crate) fn poll_landed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.shared.landings.poll_take(&mut self.landed, context)
    }

    /// Forgets the task of a node whose outcome was taken.
    pub(crate) fn forget(&mut self, node: NodeIndex) {
        self.tasks[usize::from(node)] = None;
    }

    /// Stops the task of a node. It still lands.
    pub(crate) fn abort(&mut self, node: NodeIndex) {
        if let Some(task) = self.tasks[usize::from(node)].take() {
            task.abort();
        }
    }

    /// Stops all tasks, and waits until they have stopped.
    pub(crate) async fn shutdown(&mut self) {
        self.abort_all();
        while self.aloft > 0 {
            if self.next().is_none() {
                std::future::poll_fn(|context| self.poll_landed(context)).await;
            }
        }
    }

    fn abort_all(&mut self) {
        self.tasks.iter_mut().filter_map(Option::take).for_each(|task| task.abort());
    }
}

impl<G: Graph> Drop for Flight<G> {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl<G: Graph> Aloft<G> {
    fn land(mut self, result: Result<Done<G>, Stop>) {
        self.landed = true;
        self.leave(Some(result));
    }

    fn leave(&self, result: Option<Result<Done<G>, Stop>>) {
        let now = self.shared.services.backstage.now();
        self.shared.landings.push(Landed { execution: self.execution, result, now, took: now.since(self.started) });
    }
}

impl<G: Graph> Performed<G> for Aloft<G> {
    fn execution(&self) -> Execution {
        self.execution
    }

    fn shared(&self) -> &Shared<G> {
        &self.shared
    }
}

impl<G: Graph> Drop for Aloft<G> {
    fn drop(&mut self) {
        if !self.landed {
            self.leave(None);
        }
    }
}
