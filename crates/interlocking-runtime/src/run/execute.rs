//! Executes a run: prepares it, drives it to its end, and makes its report.

use crate::driver::{Driver, end::End};
use crate::run::claims;
use crate::run::outcome::{Outcome, Report};
use crate::run::prepare::{Begin, Prepared, Ready, prepare};
use crate::run::release::release_workspaces;
use crate::run::report::report;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::tree::end_children::end_children;
use interlocking_core::graph::Graph;
use std::sync::Arc;

/// Goes on with a run that begun as a [`Lone`](crate::execution::lone::Lone) one, to its end.
pub(crate) async fn go_on<G: Graph>(driver: Driver<G>, begun: Result<(), End>) -> Report<G::Output> {
    let mut ready = Box::new(Ready { driver, resumption: None, membership: None });
    let end = match begun {
        Ok(()) => ready.driver.drive().await,
        Err(end) => Err(end),
    };
    wind_up(ready, end).await
}

/// Runs a graph to its end, from its beginning or from where its records end.
pub(crate) fn execute<G: Graph>(
    graph: Arc<G>,
    settings: Box<Settings>,
    begin: Begin<G::Entry>,
) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
    let preparing = Box::pin(prepare(graph, settings, begin));
    async move {
        match preparing.await? {
            Prepared::Ended(report) => Ok(*report),
            Prepared::Ready(ready) if ready.driver.untyped().settings.is_timed() => Ok(Box::pin(in_time(ready)).await),
            Prepared::Ready(ready) => Ok(Box::pin(at_leisure(ready)).await),
        }
    }
}

/// Runs to the end, without a limit of time.
async fn at_leisure<G: Graph>(mut ready: Box<Ready<G>>) -> Report<G::Output> {
    let end = to_the_end(&mut ready).await;
    wind_up(ready, end).await
}

/// The same under a limit of time. Children are stopped with the run that was started.
async fn in_time<G: Graph>(mut ready: Box<Ready<G>>) -> Report<G::Output> {
    let shared = ready.driver.shared();
    let settings = &shared.services.untyped.settings;
    let outcome = {
        let running = std::pin::pin!(async {
            let end = to_the_end(&mut ready).await;
            ready.driver.wind_up(end).await
        });
        match (settings.wall_time(), &settings.cancel) {
            (Some(limit), Some(cancel)) => settings.allowance().in_time(limit, running, cancel).await,
            _ => running.await,
        }
    };
    leave(ready, outcome).await
}

/// Starts once more what had begun, and runs nodes until the run comes to its exit.
async fn to_the_end<G: Graph>(ready: &mut Ready<G>) -> Result<G::Output, End> {
    if let Some(resumption) = ready.resumption.take() {
        ready.driver.resume(*resumption).await?;
    }
    ready.driver.drive().await
}

/// Stops what still runs, records the end, and makes the report.
async fn wind_up<G: Graph>(mut ready: Box<Ready<G>>, end: Result<G::Output, End>) -> Report<G::Output> {
    let outcome = ready.driver.wind_up(end).await;
    leave(ready, outcome).await
}

/// Makes the report, ends the child runs that are left, and gives the run's claim and workspaces back.
async fn leave<G: Graph>(ready: Box<Ready<G>>, outcome: Outcome<G::Output>) -> Report<G::Output> {
    let Ready { driver, membership, .. } = *ready;
    let (shared, report) = (driver.shared(), report(driver.untyped(), driver.frontier.entries(), outcome));
    drop(driver);
    let settings = &shared.services.untyped.settings;
    let run = &settings.run;
    if settings.depth() == 0 && settings.has_company() {
        // Children were stopped with their map node. Each drops its claim when its task ends.
        settings.tree().alone(run).await;
    }
    let has_ended = matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled);
    if let Some(journal) = &settings.journal
        && has_ended
        && G::net().features().maps
        && let Err(error) = end_children(&**journal, settings.tree(), run).await
    {
        // The run's own end is recorded, and stands.
        tracing::warn!(%run, %error, "the end of a child run could not be recorded");
    }
    release_workspaces(settings, &report.outcome).await;
    if let Some(journal) = &settings.journal {
        // Before the membership is dropped, so that nobody who sees that the run has left finds its claim still held.
        claims::let_go(&**journal, run).await;
    }
    drop(membership);
    report
}
