//! Performs one node execution.

use crate::erased::done::ErasedDone;
use crate::erased::token::ErasedToken;
use crate::execution::guard::{Guarded, Step, Watch};
use crate::execution::interruption::{Interruption, poll_caught};
use crate::execution::shared::Shared;
use crate::execution::stops::Stops;
use interlocking_core::context::Entered;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Done, Graph};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// An execution to perform, with access to its run.
pub(crate) trait Performed<G: Graph>: Send + Sync {
    fn execution(&self) -> Execution;
    fn shared(&self) -> &Shared<G>;

    /// Takes the input; `None` if it was taken before, or if the execution was stopped.
    fn take_input(&mut self) -> Option<G::Token>;

    /// Takes the memory in which the input was, if it is still there.
    fn take_memory(&mut self) -> Option<ErasedToken> {
        None
    }

    /// What may stop this execution alone; `None` where it only stops with its run.
    fn stops(&self) -> Option<&Stops> {
        None
    }

    /// The part that does not depend on the graph's type.
    #[inline]
    fn guarded(&self) -> Guarded<'_> {
        Guarded { untyped: &self.shared().services.untyped, execution: self.execution(), stops: self.stops() }
    }
}

/// Performs an execution, and returns what `finish` makes of the outcome.
///
/// It is one future and not several nested ones, and it does not hold the input, which the handler's future takes from its
/// slot: tokio copies a task five times, and copies of up to about a hundred bytes cost least (row "a forked branch" of
/// `docs/book/src/performance.md`).
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps each argument twice, and every branch holds one of these"
)]
pub(crate) fn perform<G: Graph, P: Performed<G>, R>(
    mut performed: P,
    finish: impl FnOnce(P, Result<ErasedDone, Interruption>) -> R + Send,
) -> impl Future<Output = R> + Send {
    async move {
        let done = 'done: {
            // Bound by this one `match`, so that the future does not keep a second copy.
            let input = match if performed.guarded().is_stopped() { None } else { performed.take_input() } {
                Some(input) => input,
                None => break 'done Err(Interruption::Cancelled),
            };
            if let Some(overdue) = performed.guarded().overdue() {
                drop(input);
                break 'done Err(overdue);
            }
            // Pinned here and borrowed from then on, because it is large to move.
            let entered = Entered { services: &performed.shared().services, execution: performed.execution() };
            let mut step = pin!(Some(performed.shared().services.graph.step(input, entered)));
            let watch = if performed.guarded().is_watched() {
                Watch::FromTheStart
            } else {
                // Nodes that do not wait are mostly ready after this poll, and cost no timer and no allocation.
                match poll_fn(|context| Poll::Ready(poll_caught(begun(step.as_mut()), context))).await {
                    Poll::Ready(done) => break 'done done,
                    Poll::Pending => Watch::Waiting,
                }
            };
            run_to_end(performed.guarded(), step, watch).await
        };
        let done = done.map(|done| ErasedDone::new(done, performed.take_memory()));
        finish(performed, done)
    }
}

/// Runs a step to its end or to its interruption. Boxed, so that a task that does not wait does not carry this state.
fn run_to_end<'run, G: Graph>(
    guarded: Guarded<'run>,
    step: Pin<&'run mut Option<impl Future<Output = Done<G>> + Send>>,
    watch: Watch,
) -> Pin<Box<impl Future<Output = Result<Done<G>, Interruption>> + Send + 'run>> {
    Box::pin(async move {
        let mut stored = StoreOutput { step, done: None };
        let began_at = guarded.run(&mut stored, watch).await?;
        let Some(mut done) = stored.done else { unreachable!("it has come to its end") };
        if let Some(commit) = began_at {
            done.effects.began_at(commit);
        }
        Ok(done)
    })
}

/// A step that was not dropped.
#[inline]
fn begun<F>(step: Pin<&mut Option<F>>) -> Pin<&mut F> {
    step.as_pin_mut().unwrap_or_else(|| unreachable!("nothing polls it after its drop"))
}

/// Stores the output of a future. The guards of the future need to know only that it has ended, so they are compiled once, and
/// not for each graph.
struct StoreOutput<'step, F: Future> {
    step: Pin<&'step mut Option<F>>,
    done: Option<F::Output>,
}

/// The stored output is never pinned.
impl<F: Future> Unpin for StoreOutput<'_, F> {}

impl<F: Future> Future for StoreOutput<'_, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        begun(self.step.as_mut()).poll(context).map(|done| self.done = Some(done))
    }
}

impl<F: Future<Output: Send> + Send> Step for StoreOutput<'_, F> {
    fn stop(&mut self) {
        self.step.set(None);
    }
}
