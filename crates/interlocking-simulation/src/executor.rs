//! One executor of a run: from the run's start, or from the end of its records, until it ends or is interrupted.

use crate::graph::Output;
use crate::history::History;
use crate::messages::post;
use crate::plan::{Cut, HANG_LIMIT, Plan};
use crate::world::{LogEvent, LogSink};
use interlocking_runtime::clock::TokioClock;
use interlocking_runtime::journal::{Letter, LetterBody};
use interlocking_runtime::{CancelToken, Journal, Outcome, Report, StartError};
use std::sync::Arc;

/// How one executor ended.
pub(crate) enum ExecutorEnd {
    Reported(Box<Report<Output>>),
    Interrupted,
    NotStarted(StartError),
}

/// Executes the run as planned; also returns the length of the log at the end of the executor. An error if the run
/// hangs.
pub(crate) async fn execute(
    history: &History,
    plan: &Plan,
    posted: &mut usize,
) -> Result<(ExecutorEnd, usize), String> {
    let (world, journal) = (&history.world, &history.journal);
    world.next_executor();
    world.log(LogEvent::Harness(format!("a new executor: {:?}", plan.cut)));
    journal.set_fault(plan.fault());
    journal.start_answering();
    let cancel = CancelToken::new();
    let came = tokio::select! {
        biased;
        result = drive(history, plan, &cancel) => match result {
            Ok(report) => Ok(ExecutorEnd::Reported(Box::new(report))),
            Err(error) => Ok(ExecutorEnd::NotStarted(error)),
        },
        () = crash(history, plan) => Ok(ExecutorEnd::Interrupted),
        () = stop(history, plan, &cancel) => Ok(ExecutorEnd::Interrupted),
        () = post(history, posted) => Ok(ExecutorEnd::Interrupted),
        () = tokio::time::sleep(HANG_LIMIT) => Err(format!("executor {} hangs", world.executor())),
    };
    journal.executor_leaves();
    let stopped = world.log_length();
    if let Ok(ExecutorEnd::Reported(report)) = &came
        && let Outcome::Waiting { questions } = &report.outcome
        && !questions.is_empty()
    {
        let answered = tokio::time::timeout(HANG_LIMIT, journal.answered.notified()).await;
        answered.map_err(|_| format!("it waits for people, and all have answered: {questions:?}"))?;
    }
    journal.stop_answering();
    came.map(|came| (came, stopped))
}

async fn drive(history: &History, plan: &Plan, cancel: &CancelToken) -> Result<Report<Output>, StartError> {
    let (world, journal) = (&history.world, &history.journal);
    let mut run = history
        .prepared()
        .with_clock(Arc::new(TokioClock::start()))
        .with_report_deadline(history.surroundings.deadline);
    if history.way.is_heard {
        run = run.with_events(Arc::new(LogSink(world.clone())));
    }
    // A run without events, journal and cancel token takes the fast path from node to node.
    if history.way.is_heard || history.way.is_recorded {
        run = run.with_cancel(cancel.clone());
    }
    if let Some(Cut::Patience(retries)) = plan.cut {
        run = run.with_backoff(history.backoff().with_retries(retries));
    }
    if plan.awaits {
        run = run.with_wait_for_people();
    }
    let is_new = journal.kept.records(&history.root).is_empty();
    match () {
        () if is_new => run.start(history.surroundings.entry).await,
        () if history.is_to_be_retried() => run.retry().await,
        () => run.resume().await,
    }
}

/// Completes when the process ends.
async fn crash(history: &History, plan: &Plan) {
    match plan.cut {
        Some(Cut::Ends | Cut::Dropped) => tokio::time::sleep(plan.at).await,
        Some(Cut::Journal(_)) => history.journal.ended.notified().await,
        _ => std::future::pending().await,
    }
}

/// Cancels or suspends the run when that is planned.
async fn stop(history: &History, plan: &Plan, cancel: &CancelToken) {
    if let Some(at) = plan.cancels {
        tokio::time::sleep(at).await;
        if at.as_millis() % 2 == 0 {
            let letter = Letter { key: None, body: LetterBody::Cancel };
            // A run that has no record yet takes no letters.
            drop(history.journal.kept.post(&history.root, letter).await);
        } else {
            cancel.cancel();
        }
    } else if plan.cut == Some(Cut::Suspended) {
        tokio::time::sleep(plan.at).await;
        cancel.suspend();
    }
    std::future::pending().await
}
