//! Executes a run: prepares it, drives it to its end, and makes its report.
//!
//! What is needed only before the first node runs, only after the last, or only by runs that do more than go from node to
//! node, is boxed: a service may have many thousands of these waiting.

use crate::chain::{Chained, chain};
use crate::child::end_children;
use crate::driver::{Driver, End, Next};
use crate::outcome::{Outcome, Report};
use crate::prepare::{Begin, Prepared, Ready, prepare, unrecorded};
use crate::run::StartError;
use crate::settings::Settings;
use interlocking_core::frontier::{Frontier, Payload};
use interlocking_core::graph::Graph;
use interlocking_core::net::{Net, NodeIndex};
use std::sync::Arc;

/// Runs a graph from its beginning to its end.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
)]
pub(crate) fn start<G: Graph>(
    graph: Arc<G>,
    settings: Box<Settings>,
    entry: G::Entry,
) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
    async move {
        let ready = if settings.is_recorded() {
            match Box::pin(prepare(graph, settings, Begin::Fresh { entry })).await? {
                Prepared::Ready(ready) => ready,
                Prepared::Ended(report) => return Ok(*report),
            }
        } else {
            unrecorded(graph, settings, entry)?
        };
        Ok(conduct(ready).await)
    }
}

/// Runs a graph to its end, from its beginning or from where its records end.
pub(crate) fn execute<G: Graph>(
    graph: Arc<G>,
    settings: Box<Settings>,
    begin: Begin<G>,
) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
    let preparing = Box::pin(prepare(graph, settings, begin));
    async move {
        match preparing.await? {
            Prepared::Ended(report) => Ok(*report),
            Prepared::Ready(ready) => Ok(conduct(ready).await),
        }
    }
}

/// Runs to the end.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
)]
fn conduct<G: Graph>(mut ready: Box<Ready<G>>) -> impl Future<Output = Report<G::Output>> + Send {
    async move {
        if ready.driver.backstage().settings.is_timed() {
            return Box::pin(in_time(ready)).await;
        }
        let end = to_the_end(&mut ready).await;
        match ready.driver.wind_up_at_once(end) {
            Ok(outcome) => report(&ready.driver, outcome),
            Err(end) => Box::pin(wind_up(ready, end)).await,
        }
    }
}

/// The same under a limit of time. Children are stopped with the run that was started.
async fn in_time<G: Graph>(mut ready: Box<Ready<G>>) -> Report<G::Output> {
    let shared = ready.driver.shared();
    let settings = &shared.services.backstage.settings;
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

/// Runs nodes until there are no more: one after the other right here while each is alone.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
)]
fn to_the_end<G: Graph>(ready: &mut Ready<G>) -> impl Future<Output = Result<G::Output, End>> + Send {
    async move {
        if let Some(begun) = ready.begun.take() {
            Box::pin(ready.driver.begin(begun)).await?;
        }
        let driver = &mut ready.driver;
        let shared = driver.shared();
        loop {
            // Taken apart at once: as a variable, what comes next would stay in the future while a chain waits.
            let (execution, input) = match driver.advance()? {
                Next::Chain(execution, input) => (execution, input),
                Next::Ended(output) => return Ok(output),
                next => match Box::pin(driver.drive(next)).await? {
                    Next::Chain(execution, input) => (execution, input),
                    Next::Ended(output) => return Ok(output),
                    Next::Alone(..) | Next::Wait => continue,
                },
            };
            // It is alone, which is what makes it a chain.
            let Some(solo) = driver.frontier.solo(execution) else { continue };
            let chained = chain(&shared, solo, input).await;
            let Chained { execution, result, now, took } = chained;
            driver.absorb_unrecorded(execution, result, now, took)?;
        }
    }
}

/// Does what is left once no more nodes are started.
async fn wind_up<G: Graph>(mut ready: Box<Ready<G>>, end: Result<G::Output, End>) -> Report<G::Output> {
    let outcome = ready.driver.wind_up(end).await;
    leave(ready, outcome).await
}

/// Gives a run back, ends what it leaves behind, and makes its report.
async fn leave<G: Graph>(ready: Box<Ready<G>>, outcome: Outcome<G::Output>) -> Report<G::Output> {
    let Ready { driver, membership, .. } = *ready;
    let (shared, report) = (driver.shared(), report(&driver, outcome));
    drop(driver);
    let settings = &shared.services.backstage.settings;
    let run = &settings.run;
    if settings.depth() == 0 && settings.has_company() {
        // Children are stopped with their map node, and let go of their runs a moment later.
        settings.tree().alone(run).await;
    }
    let has_ended = matches!(report.outcome, Outcome::Finished(_) | Outcome::Failed(_) | Outcome::Cancelled);
    if let Some(journal) = &settings.journal
        && has_ended
        && G::net().features().maps
        && let Err(error) = end_children(&**journal, settings.tree(), run).await
    {
        // The run itself is at its end, which is recorded.
        tracing::warn!(%run, %error, "the end of a child run could not be recorded");
    }
    drop(membership);
    report
}

fn report<G: Graph>(driver: &Driver<G>, outcome: Outcome<G::Output>) -> Report<G::Output> {
    let backstage = driver.backstage();
    let (run, ledger) = (backstage.run().clone(), backstage.ledger());
    Report { run, outcome, ledger, visits: visits(G::net(), &driver.frontier), took: backstage.now() }
}

/// The nodes that were entered, each with how often.
pub(crate) fn visits<P: Payload>(net: &'static Net, frontier: &Frontier<'_, P>) -> Vec<(&'static str, u32)> {
    let mut entered = Vec::with_capacity(net.nodes().len());
    let visits = (0..net.nodes().len() as NodeIndex).map(|node| (net.name(node), frontier.visits(node)));
    entered.extend(visits.filter(|(_, visits)| *visits > 0));
    entered
}
