//! Performs one node execution.

use crate::erased::done::ErasedDone;
use crate::erased::token::ErasedToken;
use crate::execution::guard::{Guarded, Watch};
use crate::execution::interruption::{Interruption, poll_caught};
use crate::execution::shared::Shared;
use crate::execution::stops::Stops;
use interlocking_core::context::Entered;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Done, Graph};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// An execution to perform, and what holds its run.
pub(crate) trait Performed<G: Graph>: Send + Sync {
    fn execution(&self) -> Execution;
    fn shared(&self) -> &Shared<G>;

    /// The input, once; `None` too where it was stopped meanwhile.
    fn take_input(&mut self) -> Option<G::Token>;

    /// Where the input lay, once, if it is still there.
    fn take_memory(&mut self) -> Option<ErasedToken> {
        None
    }

    /// What may stop this execution alone; `None` where it can only end with its run.
    fn stops(&self) -> Option<&Stops> {
        None
    }

    /// The part of it that depends on no graph type.
    #[inline]
    fn guarded(&self) -> Guarded<'_> {
        Guarded { untyped: &self.shared().services.untyped, execution: self.execution(), stops: self.stops() }
    }
}

/// Performs an execution, and gives what `finish` makes of the outcome.
///
/// One future, and not several nested ones, and without the input, which the handler's future takes from its slot: tokio copies a task
/// five times, and copies of up to about a hundred bytes cost least (row "a forked branch" of `docs/book/src/performance.md`).
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
            let mut step = pin!(performed.shared().services.graph.step(input, entered));
            let watch = if performed.guarded().is_watched() {
                Watch::FromTheStart
            } else {
                // Most nodes that do not wait are ready then, and cost no timer and no allocation.
                match poll_fn(|context| Poll::Ready(poll_caught(step.as_mut(), context))).await {
                    Poll::Ready(done) => break 'done done,
                    Poll::Pending => Watch::Waiting,
                }
            };
            to_its_end(performed.guarded(), step, watch).await
        };
        let done = done.map(|done| ErasedDone::new(done, performed.take_memory()));
        finish(performed, done)
    }
}

/// Runs a step to its end, or to what interrupts it. Boxed, so that a task that does not wait does not carry this one's state.
fn to_its_end<'run, G: Graph>(
    guarded: Guarded<'run>,
    step: Pin<&'run mut (impl Future<Output = Done<G>> + Send)>,
    watch: Watch,
) -> Pin<Box<impl Future<Output = Result<Done<G>, Interruption>> + Send + 'run>> {
    Box::pin(async move {
        let mut keeping = Keeping { step, done: None };
        let step = Pin::new(&mut keeping);
        let began_at = guarded.run(step, watch).await?;
        let Some(mut done) = keeping.done else { unreachable!("it has come to its end") };
        if let Some(commit) = began_at {
            done.effects.began_at(commit);
        }
        Ok(done)
    })
}

/// Keeps what a future came to: what guards it needs to know only that it has ended, so it is compiled once, and not for each graph.
struct Keeping<'step, F: Future> {
    step: Pin<&'step mut F>,
    done: Option<F::Output>,
}

/// What it keeps is never pinned.
impl<F: Future> Unpin for Keeping<'_, F> {}

impl<F: Future> Future for Keeping<'_, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.step.as_mut().poll(context).map(|done| self.done = Some(done))
    }
}
