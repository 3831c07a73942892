//! Takes outcomes in: journal first, then the frontier, then what else they asked for.

use crate::clock::Elapsed;
use crate::context::services::RunServices;
use crate::driver::{Accepted, Driver, end::End};
use crate::event::EventKind;
use crate::execution::interruption::{Stop, failure, kind_of};
use crate::journal::{By, Encoded, Entry, JournalError, MessageRecord, NodeOutcome, Payload as Stored, TokenRecord};
use crate::limits::allowance::Stopped;
use crate::run::outcome::Outcome;
use crate::tree::Halt;
use interlocking_core::context::Effects;
use interlocking_core::failure::{Failure, FailureKind, NodeError};
use interlocking_core::frontier::{Execution, Payload, Violation};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::route::Step;
use interlocking_core::table::NodeKind;

impl<G: Graph> Driver<G> {
    /// Takes an outcome in: journal first, then the frontier.
    pub(crate) async fn absorb(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        let Some(accepted) = self.judge(execution, result, took)? else {
            return self.book(execution).await;
        };
        let (step, spawned, outcome) = self.write(execution, accepted, took).await?;
        self.shared.services.emit_finished(execution, &step, now, took);
        self.complete(execution, step)?;
        self.follow(spawned, outcome).await
    }

    /// Records an accepted outcome; gives its step, its tokens for advisory nodes, and what was recorded.
    pub(crate) async fn write(
        &mut self,
        execution: Execution,
        (step, mut effects): Accepted<G>,
        took: Elapsed,
    ) -> Result<(Step<G::Token>, Vec<G::Token>, NodeOutcome), End> {
        let updated = self.apply(execution, &effects);
        let spawned = effects.take_spawned::<G::Token>();
        let outcome = self.record(execution, &step, &spawned, &effects, updated, took);
        let written = match (outcome, self.record_writer()) {
            (Ok(outcome), Some(record_writer)) => {
                let written = record_writer.write(Entry::Outcome(outcome.clone())).await;
                written.map(|()| outcome)
            }
            (outcome, _) => outcome,
        };
        match written {
            Ok(outcome) => Ok((step, spawned, outcome)),
            Err(error) if !error.is_refusal() => Err(self.journal_failed(error)),
            Err(error) => {
                let (services, kind) = (&self.shared.services, FailureKind::Journal);
                let failure = failure(services, execution, kind, error.to_string(), Vec::new());
                Err(self.failed(execution, failure, took))
            }
        }
    }

    /// Does what an outcome that is taken in has asked for beside its tokens.
    pub(crate) async fn follow(&mut self, spawned: Vec<G::Token>, outcome: NodeOutcome) -> Result<(), End> {
        for token in spawned {
            self.spawn_in_background(token);
        }
        if !outcome.posted.is_empty() {
            let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
            self.post(&by, &outcome.posted).await.map_err(|error| self.journal_failed(error))?;
        }
        self.observe(outcome);
        Ok(())
    }

    /// Records the agent calls of an execution that has no outcome.
    async fn book(&mut self, execution: Execution) -> Result<(), End> {
        let untyped = &self.shared.services.untyped;
        let calls = untyped.calls_of(execution);
        let Some(record_writer) = self.record_writer().filter(|_| !calls.is_empty()) else { return Ok(()) };
        let written = record_writer.write(Entry::Spent { by: untyped.by(execution), calls }).await;
        written.map_err(|error| self.journal_failed(error))
    }

    /// The same as [`absorb`](Self::absorb) where there is no journal: then nothing waits, and no future holds the outcome.
    #[inline]
    pub(crate) fn absorb_unrecorded(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        let Some((step, effects)) = self.judge(execution, result, took)? else {
            // Nobody is shown them.
            drop(self.untyped().calls_of(execution));
            return Ok(());
        };
        self.accept(execution, step, effects, now, took)
    }

    /// Lets an outcome count, where there is no journal.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        execution: Execution,
        step: Step<G::Token>,
        effects: Effects,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        if !effects.is_empty() || self.observes {
            return self.accept_effects(execution, step, effects, now, took);
        }
        self.shared.services.emit_finished(execution, &step, now, took);
        self.complete(execution, step)
    }

    /// The same of an outcome that asked for more than its tokens, or that somebody observes.
    #[inline(never)]
    fn accept_effects(
        &mut self,
        execution: Execution,
        step: Step<G::Token>,
        mut effects: Effects,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        let updated = self.apply(execution, &effects);
        let spawned = effects.take_spawned::<G::Token>();
        let node = G::net().name(execution.node);
        let is_observed = self.observes && self.background().is_observed(node);
        let seen = is_observed.then(|| self.record(execution, &step, &spawned, &effects, updated, took));
        self.shared.services.emit_finished(execution, &step, now, took);
        self.complete(execution, step)?;
        for token in spawned {
            self.spawn_in_background(token);
        }
        match seen {
            None => {}
            Some(Ok(outcome)) => self.observe(outcome),
            Some(Err(error)) => return Err(self.journal_failed(error)),
        }
        Ok(())
    }

    /// The step that an execution takes; `None` if its outcome no longer counts.
    #[inline]
    pub(crate) fn judge(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        took: Elapsed,
    ) -> Result<Option<Accepted<G>>, End> {
        if !self.frontier.is_current(execution) {
            self.tasks.forget(execution);
            return Ok(None);
        }
        if let Ok(Done { route: Err(error), .. }) = &result
            && let Some(stopped) = error.downcast_ref::<Stopped>()
        {
            // The rest of the run comes as far as it can without: it was paid for.
            let untyped = &self.shared.services.untyped;
            untyped.settings.tree().hold_back(stopped.clone());
            untyped.idle().hold_back(execution);
            return Ok(None);
        }
        self.verdict(execution, result, took).map(Some)
    }

    /// The step that an execution takes; an error if it ends the run.
    #[inline]
    pub(crate) fn verdict(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        took: Elapsed,
    ) -> Result<Accepted<G>, End> {
        self.journal_is_well()?;
        let failed = match result {
            Ok(Done { route: Ok(step), effects }) => return Ok((step, effects)),
            Ok(Done { route: Err(error), .. }) if error.is::<Stopped>() => {
                let stopped = error.downcast_ref::<Stopped>().cloned();
                return Err(End::Halted(stopped.map_or(Halt::Suspended, Halt::Stopped)));
            }
            Ok(Done { route: Err(error), .. }) => {
                if self.recorded.is_some()
                    && let Some(error) = journal_error(&error)
                {
                    return Err(self.journal_failed(error.clone()));
                }
                let causes = Failure::causes_of(&*error);
                failure(&self.shared.services, execution, kind_of(&error), error.to_string(), causes)
            }
            Err(Stop::Failed(failure)) => *failure,
            Err(Stop::Cancelled) => return Err(self.stopped()),
        };
        Err(self.failed(execution, failed, took))
    }

    /// Says that an execution failed, which ends the run.
    pub(crate) fn failed(&self, execution: Execution, failure: Failure, took: Elapsed) -> End {
        let node = self.shared.services.untyped.node(execution);
        self.shared.services.untyped.emit(|| {
            let message = failure.message.clone();
            EventKind::NodeFailed { node, message, took_ms: took.as_millis() }
        });
        End::failed(failure)
    }

    /// Lets the memory updates of an accepted outcome take effect; gives the group if there were any.
    pub(crate) fn apply(&self, execution: Execution, effects: &Effects) -> Option<usize> {
        if effects.is_empty() {
            return None;
        }
        let group = self.shared.services.untyped.net.node(execution.node).memory.map(usize::from);
        group.filter(|&group| self.shared.services.memories[group].apply(effects))
    }

    #[inline]
    pub(crate) fn complete(&mut self, execution: Execution, step: Step<G::Token>) -> Result<(), End> {
        match self.frontier.complete(execution, step) {
            Ok(completed) => {
                self.stop_all(completed.cancelled);
                Ok(())
            }
            Err(Violation::Stale) => Ok(()),
            Err(violation) => Err(self.unsound(Some(execution), violation)),
        }
    }

    /// Stops executions whose tokens were cleared.
    pub(crate) fn stop_all(&self, cancelled: Vec<Execution>) {
        for cancelled in cancelled {
            self.tasks.stop(cancelled);
            let untyped = &self.shared.services.untyped;
            // Its task ends in its own time; nobody is to be sent for an answer until then.
            if untyped.net.row(cancelled.node).kind == NodeKind::Human {
                untyped.settings.tree().asks_no_more(untyped.run(), &untyped.by(cancelled));
            }
            let node = untyped.node(cancelled);
            untyped.emit(|| EventKind::NodeCancelled(node));
        }
    }

    /// A step's tokens as the journal has them; also remembers the payloads, for `input_of`.
    pub(crate) fn encode_tokens(&mut self, step: &Step<G::Token>) -> Result<Vec<TokenRecord>, JournalError> {
        let mut tokens = Vec::with_capacity(step.tokens().len());
        for token in step.tokens() {
            let (place, payload) = encode::<G>(&self.shared.services, token)?;
            if let Some(recorded) = &mut self.recorded {
                recorded.arrived[usize::from(token.place())] = Some(payload.clone());
            }
            tokens.push(TokenRecord { place: place.to_owned(), payload: payload.into() });
        }
        Ok(tokens)
    }

    /// The outcome as its journal entry.
    fn record(
        &mut self,
        execution: Execution,
        step: &Step<G::Token>,
        spawned: &[G::Token],
        effects: &Effects,
        updated: Option<usize>,
        took: Elapsed,
    ) -> Result<NodeOutcome, JournalError> {
        let net = G::net();
        let tokens = self.encode_tokens(step)?;
        let services = &self.shared.services;
        let spawned = spawned.iter().map(|token| {
            let (place, payload) = encode::<G>(services, token)?;
            Ok(TokenRecord { place: place.to_owned(), payload: payload.into() })
        });
        let spawned = spawned.collect::<Result<_, JournalError>>()?;
        let memory = updated.map(|group| services.remembered(group));
        let posted = effects.posted().iter().map(MessageRecord::of);
        Ok(NodeOutcome {
            node: net.name(execution.node).to_owned(),
            visit: execution.visit,
            attempt: execution.attempt,
            alternative: step.alternative(),
            tokens,
            spawned,
            posted: posted.collect(),
            label: effects.label().cloned(),
            memory: memory.transpose()?,
            calls: services.untyped.calls_of(execution),
            commits: effects.commits().to_vec(),
            took_ms: took.as_millis(),
        })
    }

    /// Records the end, unless a journal of the tree has failed: then the run can be taken up again. So it can if its end cannot
    /// be recorded, for nobody would find that again.
    pub(crate) async fn finish(&mut self, end: Result<G::Output, End>) -> Outcome<G::Output> {
        let end = self.journal_is_well().and(end);
        let (mut outcome, mut failure, ended) = self.outcome(end);
        let output = self.reported_output(&outcome).unwrap_or_else(|error| {
            failure = Some(at_exit(&error));
            None
        });
        if let (Outcome::Finished(_), Some(failure)) = (&outcome, &failure) {
            outcome = Outcome::Failed(failure.clone());
        }
        let cancelled = matches!(outcome, Outcome::Cancelled);
        if let Err(error) = self.write_end(ended.then_some(Entry::Ended { failure, cancelled, output })).await {
            let end = self.journal_failed(error);
            outcome = self.outcome(Err(end)).0;
        }
        self.untyped().emit_ended(&outcome);
        outcome
    }

    /// What an end comes to, why it failed if it did, and whether it is for good; abandons what is left.
    fn outcome(&mut self, end: Result<G::Output, End>) -> (Outcome<G::Output>, Option<Failure>, bool) {
        let outcome = match end {
            Ok(output) => Outcome::Finished(output),
            Err(End::Failed(failure)) => Outcome::Failed(*failure),
            Err(End::Cancelled) => Outcome::Cancelled,
            Err(End::Halted(halt)) => self.halted(halt),
            Err(End::LeftBehind) => Outcome::Suspended,
        };
        let (failure, ended) = match &outcome {
            Outcome::Failed(failure) => (Some(failure.clone()), true),
            Outcome::Finished(_) | Outcome::Cancelled => (None, true),
            _ => (None, false),
        };
        // What the run goes on with when it is taken up again has not ended.
        let left = if ended { EventKind::NodeCancelled } else { EventKind::NodeSuspended };
        for stopped in self.frontier.abandon() {
            let node = self.shared.services.untyped.node(stopped);
            // What failed has ended by itself, and said so.
            if failure.as_ref().is_none_or(|failure| failure.node != node.node) {
                self.shared.services.untyped.emit(|| left(node));
            }
        }
        (outcome, failure, ended)
    }

    /// The output as the journal has it, where it is not what came to the exit.
    fn reported_output(&self, outcome: &Outcome<G::Output>) -> Result<Option<Stored>, JournalError> {
        match outcome {
            Outcome::Finished(output) if self.recorded.is_some() && G::net().features().reports => {
                let json = serde_json::to_string(output);
                let unstorable = |error: serde_json::Error| JournalError::Encoding {
                    what: "the output".to_owned(),
                    reason: error.to_string(),
                };
                json.map(|json| Some(Encoded::from(json).into())).map_err(unstorable)
            }
            _ => Ok(None),
        }
    }

    /// Writes what has been spent and not recorded, and then how the run ended, if it did.
    async fn write_end(&mut self, ended: Option<Entry>) -> Result<(), JournalError> {
        let Some(record_writer) = self.record_writer() else { return Ok(()) };
        let untyped = &self.shared.services.untyped;
        for execution in untyped.unrecorded() {
            let calls = untyped.calls_of(execution);
            record_writer.write(Entry::Spent { by: untyped.by(execution), calls }).await?;
        }
        match ended {
            Some(entry) => record_writer.write(entry).await,
            None => Ok(()),
        }
    }

    /// What a run that can be taken up again ends as; the whole tree stops with it.
    fn halted(&self, halt: Halt) -> Outcome<G::Output> {
        self.shared.services.untyped.settings.tree().halt(halt.clone());
        match halt {
            Halt::Suspended => Outcome::Suspended,
            Halt::Waiting(questions) => Outcome::Waiting { questions },
            Halt::Journal(error) => Outcome::JournalFailed(error),
            // By now it may have used more: what was under way came to its end first.
            Halt::Stopped(stopped) => self.shared.services.untyped.settings.stopped().unwrap_or(stopped).into(),
        }
    }

    /// What an error of the journal ends the run as: it stops with its whole tree, to be taken up again, unless the journal only
    /// refuses what cannot be stored.
    pub(crate) fn journal_failed(&self, error: JournalError) -> End {
        if error.is_refusal() {
            return End::failed(at_exit(&error));
        }
        self.untyped().settings.tree().had(&error);
        End::Halted(Halt::Journal(error))
    }

    /// An error if a journal of the tree has failed: nothing counts any more, whatever was made of that.
    pub(crate) fn journal_is_well(&self) -> Result<(), End> {
        let error = self.recorded.as_ref().and_then(|_| self.untyped().settings.tree().journal_error());
        error.map_or(Ok(()), |error| Err(End::Halted(Halt::Journal(error))))
    }

    pub(crate) fn unsound(&self, execution: Option<Execution>, violation: Violation) -> End {
        let message = violation.to_string();
        let kind = FailureKind::Unsound(violation);
        match execution {
            Some(execution) => End::failed(failure(&self.shared.services, execution, kind, message, Vec::new())),
            None => {
                let node = interlocking_core::table::EXIT.to_owned();
                End::failed(Failure { node, visit: 0, attempt: 0, kind, message, causes: Vec::new() })
            }
        }
    }
}

/// The journal's error that a handler's error is, if the journal has failed.
pub(crate) fn journal_error(error: &NodeError) -> Option<&JournalError> {
    error.downcast_ref::<JournalError>().filter(|error| !error.is_refusal())
}

fn at_exit(error: &JournalError) -> Failure {
    Failure {
        node: interlocking_core::table::EXIT.to_owned(),
        visit: 0,
        attempt: 0,
        kind: FailureKind::Journal,
        message: error.to_string(),
        causes: Vec::new(),
    }
}

/// The name of a token's place, and its payload.
fn encode<G: Graph>(services: &RunServices<G>, token: &G::Token) -> Result<(&'static str, Encoded), JournalError> {
    let place = services.place_name(token);
    let payload = RunServices::<G>::encode(token).map_err(|error| JournalError::Encoding {
        what: format!("the payload for `{place}`"),
        reason: error.to_string(),
    })?;
    Ok((place, payload))
}
