//! Drives one run: starts each execution that is due as a task, waits until one completes, and absorbs its outcome.

pub(crate) mod end;
pub(crate) mod initial_state;
pub(crate) mod background_returns;
pub(crate) mod absorb;
pub(crate) mod finish;
pub(crate) mod background;
mod background_tasks;
pub(crate) mod mailbox;
pub(crate) mod start;
pub(crate) mod wait;

use crate::cancel::CancelToken;
use crate::context::services::UntypedServices;
use crate::driver::background::Background;
use crate::driver::end::End;
use crate::driver::initial_state::Resumption;
use crate::erased::graph_type::AnyValue;
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::{completions::Completed, tasks::RunningTasks};
use crate::journal::record_writer::RecordWriter;
use crate::journal::rules::keeps_waiting;
use crate::journal::{By, Encoded, JournalError, LetterBody, NodeOutcome, Posted};
use crate::run::claims::Executor;
use crate::run::outcome::Outcome;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::net::{Features, Net, NodeIndex};
use interlocking_core::table::NodeKind;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Executes one run.
pub(crate) struct Driver {
    pub(crate) shared: Arc<dyn ErasedShared>,
    pub(crate) frontier: Frontier<'static, ErasedToken>,
    /// `None` where the run has no journal.
    pub(crate) recorded: Option<Box<Recorded>>,
    /// The executions that run.
    pub(crate) tasks: RunningTasks,
    /// Whether any node is observed.
    pub(crate) observes: bool,
    /// Advisory nodes and observers; `None` until there is one to run.
    pub(crate) background: Option<Box<Background>>,
    /// Whether the driver has announced that only people can continue the run.
    pub(crate) announced_waiting: bool,
    /// Whether the run has ended, was suspended, or has stopped otherwise.
    pub(crate) has_ended: bool,
    /// Whether something outside the driver may halt the run or park its executions while nodes run: the run has a journal,
    /// child runs or observers.
    pub(crate) accepts_signals: bool,
}

/// The part of a driver that only a run with a journal has.
pub(crate) struct Recorded {
    /// Writes the run's records.
    pub(crate) record_writer: Arc<RecordWriter>,
    /// Holds the journal's claim on the run, for this driver and for background work that continues after the run's end.
    pub(crate) executor: Executor,
    /// By place: the payload that arrived last.
    pub(crate) arrived: Vec<Option<Encoded>>,
    /// The messages that wait for a safe point: each with its event node and the token that the node gets.
    pub(crate) mailbox: VecDeque<(NodeIndex, ErasedToken)>,
    /// The execution of an event node that handles a message now.
    pub(crate) handling: Option<Execution>,
    /// Outcomes that are absorbed later: those of map and human nodes while a message waits or is handled, and any that arrive
    /// [while the driver awaits something else](Driver::wait_for).
    pub(crate) held: VecDeque<Completed>,
    /// The number of the last letter that was received.
    pub(crate) letters: u64,
    /// Waits for the next letter.
    pub(crate) next_letter: Option<NextLetter>,
}

type NextLetter = Pin<Box<dyn Future<Output = Result<Posted, JournalError>> + Send>>;

impl Driver {
    pub(crate) fn new(
        shared: Arc<dyn ErasedShared>,
        frontier: Frontier<'static, ErasedToken>,
        recorded: Option<Box<Recorded>>,
    ) -> Self {
        let Features { maps, observes, .. } = shared.net().features();
        Self {
            shared,
            frontier,
            tasks: RunningTasks::default(),
            observes,
            accepts_signals: recorded.is_some() || maps || observes,
            recorded,
            background: None,
            announced_waiting: false,
            has_ended: false,
        }
    }

    /// Waits for the reports, stops what still runs, and records the end.
    pub(crate) async fn shut_down(&mut self, end: Result<AnyValue, End>) -> Outcome<AnyValue> {
        let end = match end {
            Ok(output) => self.make_output(output).await,
            Err(end) => Err(end),
        };
        // The whole tree halts with this run, before any child is stopped: a stopped child would pass its turn to another one.
        if let Err(End::Halted(halt)) = &end {
            self.untyped().settings.tree().halt(halt.clone());
        }
        self.tasks.shutdown().await;
        if let Some(background) = &mut self.background {
            background.shutdown().await;
        }
        self.untyped().end_turns();
        if self.net().features().maps
            && let Some(tree) = self.untyped().settings.known_tree()
        {
            // Children are stopped with their map node, and record their costs a moment later.
            tree.wait_for_child_tasks(self.untyped().run()).await;
        }
        self.has_ended = true;
        self.finish(end).await
    }

    pub(crate) fn net(&self) -> &'static Net {
        self.untyped().net
    }

    pub(crate) fn shared(&self) -> Arc<dyn ErasedShared> {
        self.shared.clone()
    }

    pub(crate) fn untyped(&self) -> &UntypedServices {
        self.shared.untyped()
    }

    /// The writer of the run's records; `None` where there is no journal.
    #[inline]
    pub(crate) fn record_writer(&self) -> Option<&Arc<RecordWriter>> {
        self.recorded.as_ref().map(|recorded| &recorded.record_writer)
    }

    /// Whether a message waits or is being handled.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.recorded.as_ref().is_some_and(|recorded| !recorded.mailbox.is_empty() || recorded.handling.is_some())
    }

    /// The execution of an event node that handles a message now.
    #[inline]
    pub(crate) fn handling(&self) -> Option<Execution> {
        self.recorded.as_ref()?.handling
    }

    /// The advisory nodes and observers; created when first needed.
    pub(crate) fn background(&mut self) -> &mut Background {
        let net = self.net();
        self.background.get_or_insert_with(|| Box::new(Background::new(net)))
    }

    /// Whether an advisory node or an observer runs.
    pub(crate) fn is_background_busy(&self) -> bool {
        self.background.as_ref().is_some_and(|background| background.is_busy())
    }

    /// Forgets what was noted of a visit, unless another attempt of it follows.
    #[cold]
    pub(crate) fn leave_visit(&self, execution: Execution) {
        if self.frontier.live(execution.node).is_none_or(|next| next.visit != execution.visit) {
            self.untyped().forget_visit(execution);
        }
    }

    /// Shows an outcome to the observers of its node.
    pub(crate) fn observe(&mut self, outcome: NodeOutcome) {
        if self.observes {
            let shared = self.shared.clone();
            self.background().observe(&shared, outcome);
        }
    }

    /// Starts again the executions that had begun according to the records, and receives the letters that have arrived since.
    pub(crate) async fn resume(&mut self, resumption: Resumption) -> Result<(), End> {
        self.note_mail();
        if let Some((by, messages)) = &resumption.posted {
            self.post(by, messages).await.map_err(|error| self.journal_failed(error))?;
        }
        if let Some(failure) = resumption.pending_failure {
            return Err(End::failed(failure));
        }
        // If it was cancelled while its workspaces were restored, not all of them are there to work in.
        if self.shared.cancel().is_some_and(CancelToken::is_cancelled) {
            return Err(self.stopped());
        }
        for (execution, report) in resumption.reports {
            self.background().reports.add(execution, report);
        }
        for outcome in resumption.observed {
            self.observe(outcome);
        }
        let untyped = self.untyped();
        let begins = |by: &By| resumption.in_flight.iter().any(|(execution, _)| untyped.by(*execution) == *by);
        // The records may have been migrated since: a section is not awaited if the execution that leads to it does not start
        // again.
        let turns = &untyped.settings.tree().turns;
        turns.forget_sections(|section| section.path(untyped.run()).is_some_and(|by| !begins(by)));
        let started = self.shared.untyped().now();
        let is_timed = |(execution, _): &(Execution, ErasedToken)| {
            let net = self.net();
            net.row(execution.node).kind == NodeKind::Human && net.node(execution.node).timeout.is_some()
        };
        let (timed, in_flight): (Vec<_>, Vec<_>) = resumption.in_flight.into_iter().partition(is_timed);
        for (execution, token) in in_flight {
            self.shared.untyped().emit_started(execution, started);
            self.tasks.start(&self.shared, execution, &mut Some(token), started);
        }
        for (execution, token) in resumption.advisory {
            let shared = self.shared.clone();
            self.background().start(&shared, execution, token);
        }
        // Letters are taken first: otherwise the run would announce that it waits for an answer that has already arrived.
        if let Some(Recorded { record_writer, letters, .. }) = self.recorded.as_deref() {
            let (record_writer, letters) = (record_writer.clone(), *letters);
            let letters = record_writer.journal.letters(self.shared.untyped().run(), letters).await;
            for posted in letters.map_err(|error| self.journal_failed(error))? {
                let is_void = posted.number <= resumption.retried_after && posted.letter.body == LetterBody::Cancel;
                match &mut self.recorded {
                    Some(recorded) if is_void => {
                        recorded.letters = posted.number;
                        let untyped = self.shared.untyped();
                        untyped.settings.tree().received_letter(untyped.run(), posted.number);
                    }
                    _ => self.take_letter(posted).await?,
                }
            }
            self.note_mail();
        }
        // Started after the letters are taken: an answer that has arrived counts, however late it is.
        for (execution, token) in timed {
            self.start(execution, token);
        }
        Ok(())
    }

    /// Runs nodes until the run reaches its exit.
    pub(crate) async fn drive(&mut self) -> Result<AnyValue, End> {
        loop {
            if self.has_mail() {
                Box::pin(self.handle_messages()).await?;
            }
            if !self.has_mail() && self.frontier.has_due() {
                self.start_due()?;
            }
            // While something runs, the run has not reached its exit, and it is not stuck.
            if self.frontier.running() == 0 && self.handling().is_none() {
                if let Some(output) = self.at_end()? {
                    return Ok(output);
                }
                if self.has_mail() {
                    continue;
                }
            }
            match self.next_completed() {
                Some(completed) => {
                    let took = completed.now.since(self.tasks.started(completed.execution.node));
                    self.absorb(completed, took).await?;
                }
                None => self.wait().await?,
            }
        }
    }

    /// The output of a run in which nothing runs; `None` if a message still waits, and an error if no token can move.
    fn at_end(&mut self) -> Result<Option<AnyValue>, End> {
        if let Some(output) = self.frontier.take_exit().and_then(|token| self.shared.graph_type().leave(token)) {
            return Ok(Some(output));
        }
        match self.frontier.stuck() {
            Some(violation) if !self.has_mail() => Err(self.unsound(None, violation)),
            _ => Ok(None),
        }
    }

    /// The next completed execution whose outcome may be absorbed now. While a message waits or is handled, outcomes of map and
    /// human nodes are held back.
    fn next_completed(&mut self) -> Option<Completed> {
        let (net, has_mail) = (self.net(), self.has_mail());
        let Some(recorded) = &mut self.recorded else { return self.tasks.next() };
        if !has_mail && let Some(held) = recorded.held.pop_front() {
            return Some(held);
        }
        while let Some(completed) = self.tasks.next() {
            if !has_mail || keeps_waiting(net, completed.execution.node) {
                return Some(completed);
            }
            recorded.held.push_back(completed);
        }
        None
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if !self.has_ended
            && self.untyped().settings.depth() == 0
            && let Some(tree) = self.untyped().settings.known_tree()
        {
            tree.abandon(self.untyped().settings.journal.as_ref());
        }
    }
}
