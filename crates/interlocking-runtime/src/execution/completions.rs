//! The state that the tasks of a run share: their inputs, the stops, and the queue to which they push their outcomes.

use crate::clock::Elapsed;
use crate::erased::done::ErasedDone;
use crate::erased::token::ErasedToken;
use crate::execution::interruption::Interruption;
use crate::execution::stops::Stops;
use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use interlocking_core::net::{Net, NodeIndex};
use std::collections::VecDeque;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};

/// An execution that has completed.
pub(crate) struct Completed<D = ErasedDone> {
    pub(crate) execution: Execution,
    pub(crate) result: Result<D, Interruption>,
    /// When it ended.
    pub(crate) now: Elapsed,
}

/// The state that the tasks of one run share.
pub(crate) struct TaskState {
    pub(crate) completions: Completions,
    pub(crate) inputs: InputSlots,
    pub(crate) stops: Stops,
}

/// The queue of completed executions that the driver has not taken.
pub(crate) struct Completions(Mutex<Queue>);

struct Queue {
    completed: VecDeque<Completed>,
    /// The waker of the driver while it waits.
    waker: Option<Waker>,
}

/// By node: the input of the task that is about to begin.
pub(crate) struct InputSlots(Box<[Mutex<InputSlot>]>);

/// An input, and the execution that it is for.
pub(crate) struct InputSlot {
    pub(crate) execution: Execution,
    pub(crate) input: Option<ErasedToken>,
}

impl TaskState {
    pub(crate) fn new(net: &Net) -> Self {
        let completions = Completions(Mutex::new(Queue { completed: VecDeque::new(), waker: None }));
        Self { completions, inputs: InputSlots::new(net), stops: Stops::default() }
    }
}

impl Completions {
    pub(crate) fn push(&self, completed: Completed) {
        let mut queue = self.0.lock();
        queue.completed.push_back(completed);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Moves all completed executions to `taken`, which must be empty.
    pub(crate) fn poll_take(&self, taken: &mut VecDeque<Completed>, context: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.0.lock();
        if queue.completed.is_empty() {
            queue.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        debug_assert!(taken.is_empty(), "what was taken before would be put back");
        std::mem::swap(&mut queue.completed, taken);
        Poll::Ready(())
    }
}

impl InputSlots {
    fn new(net: &Net) -> Self {
        let empty = |node| Mutex::new(InputSlot { execution: Execution { node, visit: 0, attempt: 0 }, input: None });
        Self((0..net.nodes().len() as NodeIndex).map(empty).collect())
    }

    #[inline]
    pub(crate) fn of(&self, node: NodeIndex) -> MutexGuard<'_, InputSlot> {
        self.0[usize::from(node)].lock()
    }
}
