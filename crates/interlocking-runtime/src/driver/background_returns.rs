//! How a driver handles the results of background executions, and makes the run's output from their reports.

use crate::driver::Driver;
use crate::driver::absorb::journal_error;
use crate::driver::background::{Observer, Returned};
use crate::driver::end::End;
use crate::driver::mailbox::post;
use crate::driver::wait::{Over, Waited};
use crate::erased::done::ErasedDone;
use crate::erased::graph_type::AnyValue;
use crate::erased::shared::{ErasedShared, Updated};
use crate::erased::token::ErasedToken;
use crate::event::EventKind;
use crate::execution::interruption::{accepted_or_failure, caught, failure, kind_of, panicked};
use crate::execution::task::spawn_boxed;
use crate::journal::rules::beyond_bounds;
use crate::journal::{Encoded, Entry, JournalError, MessageRecord, NodeOutcome};
use interlocking_core::context::{Commit, Label};
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Execution, Payload};
use interlocking_core::table::NodeKind;
use std::future::poll_fn;
use std::sync::Arc;

/// The result of an advisory execution.
struct AdvisoryEnd {
    execution: Execution,
    report: Result<Encoded, Failure>,
    /// The memory group that the execution updated.
    updated: Option<Updated>,
    /// Its other effects; empty where it failed.
    did: OtherEffects,
}

/// The effects of an advisory execution beside its report.
#[derive(Default)]
struct OtherEffects {
    posted: Vec<MessageRecord>,
    label: Option<Label>,
    commits: Vec<Commit>,
}

impl Driver {
    /// Starts the advisory node in whose place a token lies.
    pub(crate) fn spawn_in_background(&mut self, token: ErasedToken) {
        let node = self.net().place(token.place()).node;
        let (execution, exhausted) = self.frontier.enter_beside(node);
        let shared = self.shared.clone();
        match exhausted {
            None => self.background().start(&shared, execution, token),
            Some(limit) => {
                let untyped = shared.untyped();
                untyped.emit_rare(EventKind::NodeExhausted(untyped.node(execution)));
                let failure = beyond_bounds(shared.net(), execution, limit);
                self.background().reports.add(execution, Err(failure));
            }
        }
    }

    /// Handles the result of a background execution.
    pub(crate) async fn handle_returned(&mut self, returned: Returned) -> Result<(), End> {
        let execution = returned.execution;
        let shared = self.shared.clone();
        let _turns = shared.untyped().turns_of(execution);
        if let Ok(ErasedDone { route: Err(error), .. }) = &returned.result
            && self.recorded.is_some()
            && let Some(error) = journal_error(error)
        {
            return Err(self.journal_failed(error.clone()));
        }
        self.check_journal()?;
        if let Some(at) = self.background().observers.iter().position(|observer| observer.node == execution.node) {
            match accepted_or_failure(shared.net(), execution, returned.result) {
                Ok((_, effects)) => {
                    let background = self.background();
                    match shared.update(execution, &effects) {
                        Ok(updated) => {
                            // Not recorded: an observer sees the outcomes again when the run is resumed.
                            updated.into_iter().for_each(|updated| shared.keep_updated(updated));
                            background.observers[at].busy = false;
                            background.show_next(&shared, at);
                        }
                        Err(panic) => {
                            background.observer_failed(at, execution, panicked(shared.net(), execution, panic));
                        }
                    }
                }
                Err(Some(failure)) => self.background().observer_failed(at, execution, *failure),
                Err(None) => return Err(self.stopped()),
            }
            self.untyped().forget_visit(execution);
            return Ok(());
        }
        self.background().advisory.retain(|other| *other != execution);
        let Some(mut ended) = ended(&shared, returned) else { return Err(self.stopped()) };
        record(&shared, &mut ended, false).await.map_err(|error| self.journal_failed(error))?;
        let (by, OtherEffects { posted, label, commits }) = (shared.untyped().by(execution), ended.did);
        self.post(&by, &posted).await.map_err(|error| self.journal_failed(error))?;
        if let Ok(report) = &ended.report
            && self.background().is_observed(&by.node)
        {
            self.observe(NodeOutcome::of_report(by, report.clone().into(), posted, label, commits));
        }
        self.background().reports.add(execution, ended.report);
        self.untyped().forget_visit(execution);
        Ok(())
    }

    /// Makes the run's output from the exit's: waits for the reports, up to the deadline, and gives them to the graph.
    pub(crate) async fn make_output(&mut self, output: AnyValue) -> Result<AnyValue, End> {
        let net = self.net();
        if !net.features().reports {
            return Ok(output);
        }
        self.untyped().mail().close();
        let deadline = self.untyped().settings.options().report_deadline;
        let mut over: Over<'_> = Box::pin(tokio::time::sleep(deadline));
        while self.is_background_busy() {
            self.drop_completed();
            if self.wait_for_any(Some(&mut over)).await? == Waited::Over {
                self.abandon_background(deadline);
                break;
            }
        }
        self.drop_completed();
        let background = self.background();
        let mut reports = std::mem::take(&mut background.reports);
        let shown: Vec<_> = background.observers.iter().map(|observer| (observer.node, observer.shown)).collect();
        reports.add_observers(net, self.shared.memories(), &shown);
        let shared = self.shared.clone();
        let finished = caught(shared.finish(output, reports));
        match self.wait_for(finished).await? {
            Ok(Ok(output)) => Ok(output),
            Ok(Err(error)) => Err(End::at_exit(kind_of(&error), error.to_string(), Failure::causes_of(&*error))),
            Err(panic) => Err(End::at_exit(FailureKind::Panic, panic, Vec::new())),
        }
    }

    /// Drops the outcomes of tasks that were stopped with the run's end. Each wakes the driver until it is taken.
    fn drop_completed(&mut self) {
        while let Some(completed) = self.tasks.next() {
            drop(self.shared.untyped().turns_of(completed.execution));
        }
    }

    /// Stops waiting for background executions that are not done: each gets a report that says so, and its later result is
    /// recorded as an addendum.
    fn abandon_background(&mut self, deadline: std::time::Duration) {
        let shared = self.shared.clone();
        let limit_ms = deadline.as_millis().try_into().unwrap_or(u64::MAX);
        let late = |execution| {
            let message = format!("was not done {deadline:?} after the run came to its exit");
            failure(shared.net(), execution, FailureKind::Timeout { limit_ms }, message, Vec::new())
        };
        let hold = self.recorded.as_ref().map(|recorded| recorded.executor.start_late_work());
        let background = self.background();
        for execution in std::mem::take(&mut background.advisory) {
            background.reports.add(execution, Err(late(execution)));
        }
        for at in 0..background.observers.len() {
            if background.observers[at].busy {
                let Observer { node, shown, .. } = background.observers[at];
                let execution = Execution { node, visit: shown, attempt: 1 };
                background.observer_failed(at, execution, late(execution));
            }
        }
        let mut tasks = std::mem::take(&mut background.tasks);
        spawn_boxed(Box::pin(async move {
            while let Some(returned) = poll_fn(|context| tasks.poll_next(context)).await {
                let _turns = shared.untyped().turns_of(returned.execution);
                if shared.net().row(returned.execution.node).kind == NodeKind::Observer {
                    continue;
                }
                let execution = returned.execution;
                let recorded = match ended(&shared, returned) {
                    Some(ended) => record_late(&shared, ended).await,
                    None => record_spent(&shared, execution).await,
                };
                if let Err(error) = recorded {
                    tracing::warn!(%error, "an addendum to a run could not be recorded");
                }
            }
            // Dropped last, with everything that they hold: until then this process keeps its claim on the run.
            drop((tasks, shared, hold));
        }));
    }
}

/// The result of an advisory execution; `None` if it was stopped with its run.
fn ended(shared: &Arc<dyn ErasedShared>, returned: Returned) -> Option<AdvisoryEnd> {
    let Returned { execution, result } = returned;
    let (mut updated, mut did) = (None, OtherEffects::default());
    let report = match accepted_or_failure(shared.net(), execution, result) {
        Err(None) => return None,
        Err(Some(failure)) => Err(*failure),
        Ok((_, effects)) => match shared.update(execution, &effects) {
            Ok(update) => {
                updated = update;
                let posted = effects.posted().iter().map(MessageRecord::of).collect();
                did = OtherEffects { posted, label: effects.label().cloned(), commits: effects.commits().to_vec() };
                Ok(effects.report().unwrap_or("null").into())
            }
            Err(panic) => Err(panicked(shared.net(), execution, panic)),
        },
    };
    Some(AdvisoryEnd { execution, report, updated, did })
}

/// Records the result of an advisory execution that ended after its run, and sends its messages.
async fn record_late(shared: &Arc<dyn ErasedShared>, mut ended: AdvisoryEnd) -> Result<(), JournalError> {
    record(shared, &mut ended, true).await?;
    let untyped = shared.untyped();
    match &untyped.record_writer {
        Some(record_writer) => {
            let by = untyped.by(ended.execution);
            post(&*record_writer.journal, untyped.run(), &by, &ended.did.posted).await
        }
        None => Ok(()),
    }
}

/// Records the usage of an advisory execution that continued after its run's end and was stopped with that run's parent.
async fn record_spent(shared: &Arc<dyn ErasedShared>, execution: Execution) -> Result<(), JournalError> {
    let untyped = shared.untyped();
    let calls = untyped.calls_of(execution);
    match &untyped.record_writer {
        Some(record_writer) if !calls.is_empty() => {
            record_writer.write(Entry::Spent { by: untyped.by(execution), calls }).await
        }
        _ => Ok(()),
    }
}

/// Records the result of an advisory execution, and emits its events.
async fn record(shared: &Arc<dyn ErasedShared>, ended: &mut AdvisoryEnd, late: bool) -> Result<(), JournalError> {
    let untyped = shared.untyped();
    let (report, failure) = match &ended.report {
        Ok(report) => (Some(report.clone().into()), None),
        Err(failure) => (None, Some(failure.clone())),
    };
    let message = failure.as_ref().map(|failure| failure.message.clone());
    let calls = untyped.calls_of(ended.execution);
    if let Some(record_writer) = &untyped.record_writer {
        let by = untyped.by(ended.execution);
        let memory = ended.updated.as_ref().map(|updated| shared.remembered(updated)).transpose()?;
        let OtherEffects { posted, label, commits } = &ended.did;
        let (posted, label, commits) = (posted.clone(), label.clone(), commits.clone());
        record_writer.write(Entry::Report { by, report, failure, memory, calls, posted, label, commits }).await?;
    }
    if let Some(updated) = ended.updated.take() {
        shared.keep_updated(updated);
    }
    if let Some(label) = &ended.did.label {
        untyped.emit_label(ended.execution, label, untyped.now());
    }
    let node = untyped.node(ended.execution);
    untyped.emit_rare(EventKind::Reported { node, failure: message, late });
    Ok(())
}
