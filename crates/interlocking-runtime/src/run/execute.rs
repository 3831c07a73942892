//! Executes a run: prepares it, drives it to its end, and returns its report.

use crate::clock::Elapsed;
use crate::driver::{Driver, end::End};
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType, graph_type};
use crate::erased::token::ErasedToken;
use crate::execution::completions::Completed;
use crate::run::claims;
use crate::run::outcome::{Outcome, Report};
use crate::run::prepare::{Begin, Prepared, Ready, prepare};
use crate::run::release::release_workspaces;
use crate::run::report::report;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::tree::end_children::end_remaining_children;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::Graph;
use std::pin::Pin;
use std::sync::Arc;

/// Continues a run that began as a [`ChainRun`](crate::execution::chain_run::ChainRun), to its end: from a completed execution,
/// or from one that is about to start.
pub(crate) async fn go_on(
    mut driver: Driver,
    from: Result<(Completed, Elapsed), (Execution, ErasedToken)>,
) -> Report<AnyValue> {
    let begun = match from {
        Ok((completed, took)) => driver.absorb(completed, took).await,
        Err((execution, input)) => {
            driver.start(execution, input);
            Ok(())
        }
    };
    let mut ready = Box::new(Ready { driver, resumption: None, membership: None });
    let end = match begun {
        Ok(()) => ready.driver.drive().await,
        Err(end) => Err(end),
    };
    shut_down(ready, end).await
}

/// Runs a graph to its end, from its beginning or from where its records end.
pub(crate) fn execute<G: Graph>(
    graph: Arc<G>,
    settings: Box<Settings>,
    begin: Begin,
) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
    let executing = execute_erased(graph_type::<G>(), graph, settings, begin);
    async { executing.await.map(Report::typed) }
}

/// A run without its graph's type, to its end.
type Executing = Pin<Box<dyn Future<Output = Result<Report<AnyValue>, StartError>> + Send>>;

/// Runs a graph that is known by its type at run time, so that this is compiled once, and not for each graph.
pub(crate) fn execute_erased(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    settings: Box<Settings>,
    begin: Begin,
) -> Executing {
    let preparing = Box::pin(prepare(graph_type, graph, settings, begin));
    Box::pin(async move {
        match preparing.await? {
            Prepared::Ended(report) => Ok(*report),
            Prepared::Ready(ready) if ready.driver.untyped().settings.is_timed() => {
                Ok(Box::pin(run_timed(ready)).await)
            }
            Prepared::Ready(ready) => Ok(Box::pin(run_untimed(ready)).await),
        }
    })
}

/// Runs to the end without a time limit.
async fn run_untimed(mut ready: Box<Ready>) -> Report<AnyValue> {
    let end = drive_to_end(&mut ready).await;
    shut_down(ready, end).await
}

/// Runs to the end under a time limit. At the limit, the run is stopped with its children.
async fn run_timed(mut ready: Box<Ready>) -> Report<AnyValue> {
    let shared = ready.driver.shared();
    let settings = &shared.untyped().settings;
    let outcome = {
        let running = std::pin::pin!(async {
            let end = drive_to_end(&mut ready).await;
            ready.driver.shut_down(end).await
        });
        match (settings.wall_time(), &settings.cancel) {
            (Some(limit), Some(cancel)) => settings.allowance().run_within(limit, running, cancel).await,
            _ => running.await,
        }
    };
    release(ready, outcome).await
}

/// Restarts interrupted executions, and runs nodes until the run reaches its exit or stops before.
async fn drive_to_end(ready: &mut Ready) -> Result<AnyValue, End> {
    if let Some(resumption) = ready.resumption.take() {
        ready.driver.resume(*resumption).await?;
    }
    ready.driver.drive().await
}

/// Stops what still runs, records the end, and returns the report.
async fn shut_down(mut ready: Box<Ready>, end: Result<AnyValue, End>) -> Report<AnyValue> {
    let outcome = ready.driver.shut_down(end).await;
    release(ready, outcome).await
}

/// Ends the remaining child runs, releases the run's workspaces and its claim, and returns the report.
async fn release(ready: Box<Ready>, outcome: Outcome<AnyValue>) -> Report<AnyValue> {
    let Ready { mut driver, membership, .. } = *ready;
    let (shared, report) = (driver.shared(), report(driver.untyped(), driver.frontier.entries(), outcome));
    // Kept until the workspaces are released, so that no other executor works there meanwhile.
    let executor = driver.recorded.take().map(|recorded| recorded.executor);
    drop(driver);
    let settings = &shared.untyped().settings;
    let run = &settings.run;
    if settings.depth() == 0 && settings.has_running_relatives() {
        // Waits for the children, which were stopped with their map node. Each drops its claim when its task ends.
        settings.tree().wait_until_alone(run).await;
    }
    let has_ended = matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled);
    if let Some(journal) = &settings.journal
        && has_ended
        && shared.net().features().maps
    {
        end_remaining_children(&**journal, settings.tree(), run).await;
    }
    release_workspaces(settings, &report.outcome).await;
    drop(executor);
    if let Some(journal) = &settings.journal {
        // Before the membership is dropped: a task that sees that the run has left the tree must find it free.
        claims::wait_until_released(&**journal, run).await;
    }
    drop(membership);
    if let Some(child_slot) = settings.child_slot() {
        child_slot.end();
    }
    report
}
