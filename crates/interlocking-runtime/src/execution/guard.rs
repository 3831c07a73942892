//! Guards a node execution against panics, timeouts and cancellation, waits for its turn and prepares its workspace. Nothing
//! here depends on a graph's types.

use crate::cancel::CancelToken;
use crate::context::services::UntypedServices;
use crate::execution::interruption::{Interruption, poll_caught};
use crate::execution::stops::Stops;
use crate::workspaces::{self, Moment, WorkspaceError, Workspaces};
use interlocking_core::context::Commit;
use interlocking_core::frontier::Execution;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tracing::Instrument;

/// An execution, and what is needed to guard it.
#[derive(Clone, Copy)]
pub(crate) struct Guarded<'run> {
    pub(crate) untyped: &'run UntypedServices,
    pub(crate) execution: Execution,
    /// What may stop this execution alone; `None` where it only stops with its run.
    pub(crate) stops: Option<&'run Stops>,
}

/// How a step is guarded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// The step [is watched](Guarded::is_watched), and has not begun.
    FromTheStart,
    /// The step has begun, and waits.
    Waiting,
}

/// A step of any graph.
pub(crate) trait Step: Future<Output = ()> + Send + Unpin {
    /// Drops what the step has begun, with the programs that it runs. The step is not polled again.
    fn stop(&mut self);
}

/// How long an execution may take, and how much of that time is left.
pub(crate) struct Limit {
    pub(crate) whole: Duration,
    pub(crate) left: Duration,
}

/// Whether tracing may be enabled. Cheaper than asking whether it is (row "instructions a transition" of
/// `docs/book/src/performance.md`).
#[inline]
pub(crate) fn may_be_traced() -> bool {
    tracing::Level::INFO <= tracing::level_filters::LevelFilter::current()
}

/// Whether an execution needs more than the guard: it waits for its turn, its workspace is prepared and compared, or tracing is
/// enabled.
#[inline]
pub(crate) fn is_watched(untyped: &UntypedServices, execution: Execution) -> bool {
    (untyped.net.features().guarded && untyped.net.node(execution.node).guarded)
        || tracing::enabled!(tracing::Level::INFO)
}

impl<'run> Guarded<'run> {
    fn cancel(self) -> Option<&'run CancelToken> {
        self.untyped.settings.cancel.as_ref()
    }

    /// Whether the execution or its run is stopped.
    #[inline]
    pub(crate) fn is_stopped(self) -> bool {
        self.cancel().is_some_and(CancelToken::is_cancelled)
            || self.stops.is_some_and(|stops| stops.is_stopped(self.execution))
    }

    /// The interruption of an execution that has no time left when it begins: another process asked a person, who has not
    /// answered.
    #[inline]
    pub(crate) fn overdue(self) -> Option<Interruption> {
        let is_overdue =
            self.untyped.net.features().timeouts && self.untyped.time_left(self.execution) == Some(Duration::ZERO);
        is_overdue.then(|| Interruption::TimedOut(self.whole_time().unwrap_or_default()))
    }

    /// Whether the execution needs more than the guard.
    #[inline]
    pub(crate) fn is_watched(self) -> bool {
        is_watched(self.untyped, self.execution)
    }

    /// How long the execution may take.
    fn whole_time(self) -> Option<Duration> {
        self.untyped.net.node(self.execution.node).timeout
    }

    /// Runs a step to its end or to its interruption. Returns the commit at which the step began to work, if it works in a
    /// workspace.
    pub(crate) async fn run(self, step: &mut dyn Step, watch: Watch) -> Result<Option<Commit>, Interruption> {
        match watch {
            // Boxed, so that a step that waits does not carry this state.
            Watch::FromTheStart => Box::pin(self.watched(step)).await,
            Watch::Waiting => self.go_on(step).await.map(|()| None),
        }
    }

    /// Runs a step that [is watched](is_watched).
    async fn watched(self, step: &mut dyn Step) -> Result<Option<Commit>, Interruption> {
        let Self { untyped, execution, .. } = self;
        let net = untyped.net;
        let span = tracing::info_span!(
            "node",
            node = net.name(execution.node),
            visit = execution.visit,
            attempt = execution.attempt
        );
        let row = net.node(execution.node);
        if !row.guarded {
            return self.begin(step).instrument(span).await.map(|()| None);
        }
        let in_turn = async {
            // The timeout begins once the execution has its turn.
            let turn = untyped.turn(execution).await;
            if turn.is_some() && self.is_stopped() {
                // The execution that had the turn before was stopped, too, perhaps in the middle of its work.
                return Err(Interruption::Cancelled);
            }
            let began_at = match row.works {
                true => self.in_workspace(step, span).await,
                false => self.begin(step).instrument(span).await.map(|()| None),
            };
            if let Some(turn) = turn {
                untyped.keep_turn(execution, turn);
            }
            began_at
        };
        // What happens before and after the step can be stopped too.
        let (mut worked, mut stopped) = (pin!(in_turn), pin!(self.stopped()));
        poll_fn(|context| match worked.as_mut().poll(context) {
            Poll::Pending => stopped.as_mut().poll(context).map(|()| Err(Interruption::Cancelled)),
            ready => ready,
        })
        .await
    }

    /// Runs a step that has not begun until it is ready, panics or exceeds its node's timeout, or until it or its run is
    /// stopped.
    async fn begin(self, mut step: &mut dyn Step) -> Result<(), Interruption> {
        match poll_fn(|context| Poll::Ready(poll_caught(Pin::new(&mut step), context))).await {
            Poll::Ready(done) => done,
            Poll::Pending => self.go_on(step).await,
        }
    }

    /// Continues a step that has begun and was not ready.
    async fn go_on(self, mut step: &mut dyn Step) -> Result<(), Interruption> {
        let left = |whole| self.untyped.time_left(self.execution).unwrap_or(whole);
        let limit = self.whole_time().map(|whole| Limit { whole, left: left(whole) });
        let mut interrupted = pin!(interruption(limit, self.stopped()));
        let mut has_been_polled = true;
        poll_fn(|context| {
            if !std::mem::take(&mut has_been_polled)
                && let Poll::Ready(done) = poll_caught(Pin::new(&mut step), context)
            {
                return Poll::Ready(done);
            }
            interrupted.as_mut().poll(context).map(Err)
        })
        .await
    }

    /// Waits until the execution, or its run, is stopped.
    async fn stopped(self) {
        let mut cancelled = self.cancel().map(|cancel| Box::pin(cancel.cancelled()));
        let mut stopped = self.stops.map(|stops| stops.stopped(self.execution));
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

    /// Runs a node in its workspace, which is prepared before and examined after.
    async fn in_workspace(self, step: &mut dyn Step, span: tracing::Span) -> Result<Option<Commit>, Interruption> {
        let net = self.untyped.net;
        let name = net.row(self.execution.node).workspace.as_deref().unwrap_or_default();
        let workspaces = &*self.untyped.settings.options().workspaces;
        let began_at = workspaces.ready(name).await.map_err(Interruption::Workspace)?;
        let before = match net.node(self.execution.node).read_only {
            true => Some(workspaces.changes(name).await.map_err(Interruption::Workspace)?),
            false => None,
        };
        let ended = self.begin(&mut *step).instrument(span).await;
        // Nothing continues from where a node was stopped.
        if !matches!(ended, Err(Interruption::Cancelled)) {
            // Its agent's program ends before its workspace is examined.
            step.stop();
            if let Err(error) = self.examine(before, workspaces, name, ended.is_err()).await {
                return Err(match ended {
                    Ok(()) => Interruption::Workspace(error),
                    Err(interrupted) => Interruption::WorkspaceAfter { error, interrupted: Box::new(interrupted) },
                });
            }
        }
        ended.map(|()| began_at.map(|id| Commit { workspace: name.to_owned(), id }))
    }

    /// Examines a workspace in which the execution has ended. A turn of an agent that was not interrupted has verified it.
    async fn examine(
        self,
        before: Option<Vec<String>>,
        workspaces: &dyn Workspaces,
        name: &str,
        is_interrupted: bool,
    ) -> Result<(), WorkspaceError> {
        let Self { untyped, execution, .. } = self;
        if is_interrupted && untyped.history().has_conversed(&untyped.by(execution)) {
            workspaces::verify(workspaces, Some(name), Moment::After, None).await?;
        }
        match before {
            Some(before) => unchanged_since(&before, workspaces, name).await,
            None => Ok(()),
        }
    }
}

/// Resolves when the time that is left has passed, or when `stopped` resolves.
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

/// Compares a workspace that a node may only read with what it was before.
async fn unchanged_since(before: &[String], workspaces: &dyn Workspaces, name: &str) -> Result<(), WorkspaceError> {
    let after = workspaces.changes(name).await?;
    if before == after {
        return Ok(());
    }
    let removed = before.iter().filter(|change| !after.contains(change));
    let removed = removed.map(|change| format!("removed: {change}"));
    let changes = after.iter().filter(|change| !before.contains(change)).cloned().chain(removed).collect();
    Err(WorkspaceError::Changed { changes })
}
