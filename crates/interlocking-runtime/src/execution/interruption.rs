//! The result of an execution: its step, or why it has none.

use crate::erased::done::ErasedDone;
use crate::erased::token::ErasedToken;
use crate::journal::{Encoded, rules};
use crate::workspaces::WorkspaceError;
use interlocking_core::context::{ContextError, Effects};
use interlocking_core::failure::{ChildFailure, Failure, FailureKind, NodeError};
use interlocking_core::frontier::Execution;
use interlocking_core::net::Net;
use interlocking_core::route::Step;
use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

/// Why a guarded future did not run to its end.
pub(crate) enum Interruption {
    Panicked(Box<dyn Any + Send>),
    TimedOut(Duration),
    Cancelled,
    Workspace(WorkspaceError),
    /// It was interrupted, and its workspace is not as it should be.
    WorkspaceAfter {
        error: WorkspaceError,
        interrupted: Box<Self>,
    },
    /// Its task ended without an outcome: the drop of a value in it panicked, or the task's runtime ended.
    TaskLost,
}

/// Polls `step`, and catches its panic.
#[inline]
pub(crate) fn poll_caught<T>(
    step: Pin<&mut (impl Future<Output = T> + ?Sized)>,
    context: &mut Context<'_>,
) -> Poll<Result<T, Interruption>> {
    match catch_unwind(AssertUnwindSafe(|| step.poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(Interruption::Panicked(panic))),
    }
}

/// Runs `future` to its end, and catches its panic; the error is the panic's message.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic_message(&*panic))),
    })
    .await
}

/// Calls `act`, and catches its panic; the error is the panic's message.
pub(crate) fn caught_now<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| panic_message(&*panic))
}

/// The result of `encode`; if it panics, an error.
pub(crate) fn encode_caught(
    encode: impl FnOnce() -> Result<Encoded, serde_json::Error>,
) -> Result<Encoded, serde_json::Error> {
    let encoded = caught_now(encode);
    encoded.unwrap_or_else(|panic| Err(serde::ser::Error::custom(format_args!("it panics: {panic}"))))
}

/// The step and the effects of an accepted outcome.
pub(crate) type Accepted = (Step<ErasedToken>, Effects);

/// The step and the effects of an execution; the error is its failure, or `None` where it was stopped with its run.
#[inline]
pub(crate) fn accepted_or_failure(
    net: &Net,
    execution: Execution,
    result: Result<ErasedDone, Interruption>,
) -> Result<Accepted, Option<Box<Failure>>> {
    match result {
        Ok(ErasedDone { route: Ok(step), effects }) => Ok((step, effects)),
        Ok(ErasedDone { route: Err(error), .. }) => {
            let causes = Failure::causes_of(&*error);
            Err(Some(failure(net, execution, kind_of(&error), error.to_string(), causes).into()))
        }
        Err(interruption) => Err(interruption.into_failure(net, execution).map(Box::new)),
    }
}

impl Interruption {
    /// The failure for this interruption; `None` where the run was cancelled.
    fn into_failure(self, net: &Net, execution: Execution) -> Option<Failure> {
        let (kind, message) = match self {
            Self::Cancelled => return None,
            Self::TaskLost => (FailureKind::Panic, "in the drop of a value that its handler held".to_owned()),
            Self::Panicked(panic) => (FailureKind::Panic, panic_message(&*panic)),
            Self::TimedOut(limit) => {
                let limit_ms = limit.as_millis().try_into().unwrap_or(u64::MAX);
                (FailureKind::Timeout { limit_ms }, format!("took longer than its timeout of {limit:?}"))
            }
            // This error names the workspace.
            Self::Workspace(error @ WorkspaceError::Mismatch(_)) => (FailureKind::Workspace, error.to_string()),
            Self::Workspace(error) => {
                let name = net.row(execution.node).workspace.clone().unwrap_or_default();
                (FailureKind::Workspace, format!("workspace `{name}`: {error}"))
            }
            Self::WorkspaceAfter { error, interrupted } => {
                let mut failure = Self::Workspace(error).into_failure(net, execution)?;
                failure.causes.extend(interrupted.into_failure(net, execution).map(|first| first.message));
                return Some(failure);
            }
        };
        Some(failure(net, execution, kind, message, Vec::new()))
    }
}

/// The failure of an execution.
pub(crate) fn failure(
    net: &Net,
    execution: Execution,
    kind: FailureKind,
    message: String,
    causes: Vec<String>,
) -> Failure {
    let mut failure = rules::failure(net, execution, kind, message);
    failure.causes = causes;
    failure
}

/// The failure of an execution for a panic in the part of its work that the driver does.
pub(crate) fn panicked(net: &Net, execution: Execution, panic: String) -> Failure {
    failure(net, execution, FailureKind::Panic, panic, Vec::new())
}

/// The kind of failure of a handler's error.
pub(crate) fn kind_of(error: &NodeError) -> FailureKind {
    if error.is::<interlocking_agents::AgentError>() || error.is::<crate::nodes::llm::OutputMismatch>() {
        FailureKind::Agent
    } else if error.is::<ContextError>() {
        FailureKind::Configuration
    } else if error.is::<WorkspaceError>() {
        FailureKind::Workspace
    } else if let Some(failure) = error.downcast_ref::<ChildFailure>() {
        FailureKind::Child(Box::new(failure.clone()))
    } else {
        FailureKind::Handler
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message").to_owned()
}
