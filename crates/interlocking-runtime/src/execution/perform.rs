//! One node execution, with everything that guards it: panic, timeout, cancellation, its turn, read-only workspaces.

use crate::cancel::CancelToken;
use crate::context::services::RunServices;
use crate::execution::interruption::{Interruption, poll_caught};
use crate::execution::shared::Shared;
use crate::execution::stops::Stops;
use crate::workspaces::{WorkspaceError, Workspaces};
use interlocking_core::context::{Commit, Entered};
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Done, Graph};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tracing::Instrument;

/// An execution to perform, and what holds its run.
pub(crate) trait Performed<G: Graph>: Send + Sync {
    fn execution(&self) -> Execution;
    fn shared(&self) -> &Shared<G>;

    /// The input, once; `None` too where it was stopped meanwhile.
    fn take_input(&mut self) -> Option<G::Token>;

    /// What may stop this execution alone; `None` where it can only end with its run.
    fn stops(&self) -> Option<&Stops> {
        None
    }

    /// Whether it need not begin.
    #[inline]
    fn is_stopped(&self) -> bool {
        self.shared().cancel().is_some_and(CancelToken::is_cancelled)
            || self.stops().is_some_and(|stops| stops.is_stopped(self.execution()))
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
    finish: impl FnOnce(P, Result<Done<G>, Interruption>) -> R + Send,
) -> impl Future<Output = R> + Send {
    async move {
        let done = 'done: {
            // Bound by this one `match`, so that the future does not keep a second copy.
            let input = match if performed.is_stopped() { None } else { performed.take_input() } {
                Some(input) => input,
                None => break 'done Err(Interruption::Cancelled),
            };
            if is_overdue(&performed.shared().services, performed.execution()) {
                drop(input);
                break 'done Err(Interruption::TimedOut(whole_time(&performed).unwrap_or_default()));
            }
            // Pinned here and borrowed from then on, because it is large to move.
            let entered = Entered { services: &performed.shared().services, execution: performed.execution() };
            let mut step = pin!(performed.shared().services.graph.step(input, entered));
            if is_watched(&performed.shared().services, performed.execution()) {
                break 'done watched(&performed, step).await;
            }
            if let Poll::Ready(done) = begin(&mut step).await {
                break 'done done;
            }
            go_on(&performed, step).await
        };
        finish(performed, done)
    }
}

/// Whether an execution needs more than the guard: it waits for its turn, its workspace is made ready and compared, or somebody
/// traces.
#[inline]
pub(crate) fn is_watched<G: Graph>(services: &RunServices<G>, execution: Execution) -> bool {
    (services.untyped.net.features().guarded && services.untyped.net.node(execution.node).guarded)
        || tracing::enabled!(tracing::Level::INFO)
}

/// Whether somebody may be tracing. Quicker than to ask whether anybody is (row "instructions a transition" of `docs/book/src/performance.md`).
#[inline]
pub(crate) fn may_be_traced() -> bool {
    tracing::Level::INFO <= tracing::level_filters::LevelFilter::current()
}

/// Whether an execution has no time left when it begins: a person was asked by another process, and has not answered.
#[inline]
fn is_overdue<G: Graph>(services: &RunServices<G>, execution: Execution) -> bool {
    services.untyped.net.features().timeouts && services.untyped.time_left(execution) == Some(Duration::ZERO)
}

/// How long an execution may take.
fn whole_time<G: Graph>(performed: &impl Performed<G>) -> Option<Duration> {
    performed.shared().services.untyped.net.node(performed.execution().node).timeout
}

/// Runs an execution that is [watched](is_watched). Boxed, so that the common path does not carry this one's state.
fn watched<'run, G: Graph>(
    performed: &'run impl Performed<G>,
    step: Pin<&'run mut (impl Future<Output = Done<G>> + Send)>,
) -> Pin<Box<dyn Future<Output = Result<Done<G>, Interruption>> + Send + 'run>> {
    let (services, execution) = (&performed.shared().services, performed.execution());
    let net = services.untyped.net;
    let span = tracing::info_span!(
        "node",
        node = net.name(execution.node),
        visit = execution.visit,
        attempt = execution.attempt
    );
    let guarded = guard(performed, step).instrument(span);
    Box::pin(async move {
        let row = net.node(execution.node);
        if !row.guarded {
            return guarded.await;
        }
        let in_turn = async {
            // Its timeout begins when it has it.
            let turn = services.untyped.turn(execution).await;
            if turn.is_some() && performed.is_stopped() {
                // Whoever had it was stopped, too, and maybe in the middle.
                return Err(Interruption::Cancelled);
            }
            let done = if row.works { in_workspace(services, execution, guarded).await } else { guarded.await };
            if let Some(turn) = turn {
                services.untyped.keep_turn(execution, turn);
            }
            done
        };
        // What is done before and after can be stopped too.
        let (mut worked, mut stopped) = (pin!(in_turn), pin!(stopped(performed)));
        poll_fn(|context| match worked.as_mut().poll(context) {
            Poll::Pending => stopped.as_mut().poll(context).map(|()| Err(Interruption::Cancelled)),
            ready => ready,
        })
        .await
    })
}

/// Runs `step` until it is ready, panics, takes longer than its node may, or it or its run is stopped.
async fn guard<G: Graph>(
    performed: &impl Performed<G>,
    mut step: Pin<&mut (impl Future<Output = Done<G>> + Send)>,
) -> Result<Done<G>, Interruption> {
    match begin(&mut step).await {
        Poll::Ready(done) => done,
        Poll::Pending => go_on(performed, step).await,
    }
}

/// Polls `step` for the first time. Most nodes that do not wait are ready then, and cost no timer and no allocation.
fn begin<T>(
    step: &mut Pin<&mut (impl Future<Output = T> + Send)>,
) -> impl Future<Output = Poll<Result<T, Interruption>>> + Send {
    poll_fn(|context| Poll::Ready(poll_caught(step.as_mut(), context)))
}

/// Goes on with a `step` that has begun and was not ready.
fn go_on<'run, G: Graph>(
    performed: &'run impl Performed<G>,
    mut step: Pin<&'run mut (impl Future<Output = Done<G>> + Send)>,
) -> Pin<Box<impl Future<Output = Result<Done<G>, Interruption>> + Send + 'run>> {
    Box::pin(async move {
        let limit = whole_time(performed).map(|whole| Limit {
            whole,
            left: performed.shared().services.untyped.time_left(performed.execution()).unwrap_or(whole),
        });
        let mut interrupted = pin!(interruption(limit, stopped(performed)));
        let mut has_been_polled = true;
        poll_fn(|context| {
            if !std::mem::take(&mut has_been_polled)
                && let Poll::Ready(done) = poll_caught(step.as_mut(), context)
            {
                return Poll::Ready(done);
            }
            interrupted.as_mut().poll(context).map(Err)
        })
        .await
    })
}

/// Waits until an execution, or its run, is stopped.
async fn stopped<G: Graph>(performed: &impl Performed<G>) {
    let mut cancelled = performed.shared().cancel().map(|cancel| Box::pin(cancel.cancelled()));
    let mut stopped = performed.stops().map(|stops| stops.stopped(performed.execution()));
    poll_fn(|context| {
        if let Some(stopped) = &mut stopped
            && Pin::new(stopped).poll(context).is_ready()
        {
            return Poll::Ready(());
        }
        cancelled.as_mut().map_or(Poll::Pending, |cancelled| cancelled.as_mut().poll(context))
    })
    .await
}

/// How long an execution may take, and how much of that is left.
pub(crate) struct Limit {
    pub(crate) whole: Duration,
    pub(crate) left: Duration,
}

/// Resolves when an execution has taken as long as it may, or is `stopped`.
pub(crate) async fn interruption(limit: Option<Limit>, stopped: impl Future<Output = ()>) -> Interruption {
    let Some(Limit { whole, left }) = limit else {
        stopped.await;
        return Interruption::Cancelled;
    };
    match tokio::time::timeout(left, stopped).await {
        Ok(()) => Interruption::Cancelled,
        Err(_) => Interruption::TimedOut(whole),
    }
}

/// Runs a node in its workspace, which is made ready before; one that may only read it is compared before and after.
async fn in_workspace<G: Graph>(
    services: &RunServices<G>,
    execution: Execution,
    guarded: impl Future<Output = Result<Done<G>, Interruption>>,
) -> Result<Done<G>, Interruption> {
    let net = services.untyped.net;
    let name = net.row(execution.node).workspace.as_deref().unwrap_or_default();
    let workspaces = &services.untyped.settings.options().workspaces;
    let began_at = workspaces.ready(name).await.map_err(Interruption::Workspace)?;
    let mut done = if net.node(execution.node).read_only {
        read_only(&**workspaces, name, guarded).await?
    } else {
        guarded.await?
    };
    if let Some(id) = began_at {
        done.effects.began_at(Commit { workspace: name.to_owned(), id });
    }
    Ok(done)
}

/// Runs a node that may only read its workspace, and compares the workspace before and after.
async fn read_only<G: Graph>(
    workspaces: &dyn Workspaces,
    name: &str,
    guarded: impl Future<Output = Result<Done<G>, Interruption>>,
) -> Result<Done<G>, Interruption> {
    let before = workspaces.changes(name).await.map_err(Interruption::Workspace)?;
    let done = guarded.await?;
    let after = workspaces.changes(name).await.map_err(Interruption::Workspace)?;
    if before == after {
        return Ok(done);
    }
    let changes = after.into_iter().filter(|change| !before.contains(change)).collect();
    Err(Interruption::Workspace(WorkspaceError::Changed { changes }))
}
