//! Absorbs the outcome of an execution of any kind: first into the journal, then into the frontier, then its other effects.

use crate::clock::Elapsed;
use crate::context::services::UntypedServices;
use crate::driver::{Driver, end::End};
use crate::erased::done::ErasedDone;
use crate::erased::shared::Updated;
use crate::erased::token::ErasedToken;
use crate::event::EventKind;
use crate::execution::completions::Completed;
use crate::execution::interruption::{Interruption, accepted_or_failure, caught_now, failure, panicked};
use crate::journal::rules::edge_is_spent;
use crate::journal::{AddedItems, By, Encoded, Entry, JournalError, MessageRecord, NodeOutcome, TokenRecord};
use crate::limits::allowance::Stopped;
use crate::run::settings::Injected;
use crate::tree::Halt;
use interlocking_core::context::{Addition, Effects, NewItem};
use interlocking_core::failure::{Failure, FailureKind, NodeError};
use interlocking_core::frontier::{Execution, Payload, Violation};
use interlocking_core::net::AlternativeIndex;
use interlocking_core::route::Step;
use interlocking_core::table::NodeKind;

/// The step and the effects of an execution whose outcome counts.
struct AcceptedOutcome {
    step: Step<ErasedToken>,
    effects: Effects,
    /// The failure, where the step is the table's route for it.
    failed: Option<Box<Failure>>,
}

impl Driver {
    /// Absorbs the outcome of an execution that took `took`; an error if the outcome ends the run.
    pub(crate) async fn absorb(&mut self, completed: Completed, took: Elapsed) -> Result<(), End> {
        let Completed { execution, result, now } = completed;
        let _turns = self.shared.untyped().turns_of(execution);
        let Some(mut accepted) = self.accept(execution, result, took)? else {
            return self.record_calls(execution).await;
        };
        accepted.step = self.within_budget(execution, accepted.step, took)?;
        // The memory may be half updated, so the table's route for failures is not taken.
        let updated = self.shared.update(execution, &accepted.effects);
        let updated = updated.map_err(|panic| self.failed(execution, panicked(self.net(), execution, panic), took))?;
        let added = accepted.effects.take_added().and_then(|added| self.accept_items(execution, added, now));
        let spawned = match accepted.effects.is_empty() {
            true => Vec::new(),
            false => self.shared.graph_type().take_spawned(&mut accepted.effects),
        };
        let outcome = if self.is_recorded_or_observed(execution) {
            let mut outcome = self.record(execution, &accepted, &spawned, updated.as_ref(), took);
            if let (Ok(outcome), Some((to, items))) = (&mut outcome, &added) {
                outcome.added = Some(Box::new(AddedItems::of(to, items)));
            }
            Some(self.write(execution, outcome, took).await?)
        } else {
            None
        };
        if let Some(updated) = updated {
            self.shared.keep_updated(updated);
        }
        if let Some((map, items)) = added {
            self.untyped().additions().add(map, items);
        }
        if let Some(label) = accepted.effects.label() {
            self.untyped().emit_label(execution, label, now);
        }
        let AcceptedOutcome { step, failed, .. } = accepted;
        match failed {
            None => self.shared.untyped().emit_finished(execution, &step, now, took),
            Some(failure) => self.emit_failed(execution, &failure, step.tokens().first(), took),
        }
        self.complete(execution, step)?;
        for token in spawned {
            self.spawn_in_background(token);
        }
        let Some(outcome) = outcome else { return Ok(()) };
        if !outcome.posted.is_empty() {
            let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
            self.post(&by, &outcome.posted).await.map_err(|error| self.journal_failed(error))?;
        }
        self.observe(outcome);
        Ok(())
    }

    /// The step and the effects of an execution; `None` if its outcome does not count, an error if it ends the run.
    #[inline]
    fn accept(
        &mut self,
        execution: Execution,
        result: Result<ErasedDone, Interruption>,
        took: Elapsed,
    ) -> Result<Option<AcceptedOutcome>, End> {
        let handles_message = self.handling() == Some(execution);
        if !handles_message && !self.frontier.is_current(execution) {
            self.tasks.forget(execution);
            return Ok(None);
        }
        self.check_journal()?;
        if let Ok(ErasedDone { route: Err(error), .. }) = &result {
            if let Some(stopped) = error.downcast_ref::<Stopped>() {
                if handles_message {
                    return Err(End::Halted(Halt::Stopped(stopped.clone())));
                }
                // The rest of the run continues as far as it can without this execution, because it was paid for.
                let untyped = self.shared.untyped();
                untyped.settings.tree().hold_back(stopped.clone());
                untyped.idle().hold_back(execution);
                // The execution does not continue in this process, and others that wait for a turn may.
                untyped.end_turns_of_executions();
                return Ok(None);
            }
            if self.recorded.is_some()
                && let Some(error) = journal_error(error)
            {
                return Err(self.journal_failed(error.clone()));
            }
        }
        let result = match &result {
            Ok(ErasedDone { route: Ok(_), .. }) => self.injected(execution).unwrap_or(result),
            _ => result,
        };
        match accepted_or_failure(self.net(), execution, result) {
            Ok((step, effects)) => Ok(Some(AcceptedOutcome { step, effects, failed: None })),
            Err(Some(failure)) => self.route_failure(execution, failure, took).map(Some),
            Err(None) => Err(self.stopped()),
        }
    }

    /// The step, or the exhausted route of its edge if that edge is spent; an error if there is no such route, which ends the
    /// run.
    #[inline]
    fn within_budget(
        &self,
        execution: Execution,
        step: Step<ErasedToken>,
        took: Elapsed,
    ) -> Result<Step<ErasedToken>, End> {
        match step {
            Step::One(edge, token) if self.frontier.is_spent(edge) => self.exhaust_edge(execution, edge, token, took),
            step => Ok(step),
        }
    }

    #[cold]
    fn exhaust_edge(
        &self,
        execution: Execution,
        edge: AlternativeIndex,
        token: ErasedToken,
        took: Elapsed,
    ) -> Result<Step<ErasedToken>, End> {
        let untyped = self.shared.untyped();
        let node = untyped.node(execution);
        let target = self.net().place(token.place()).name.as_str();
        untyped.emit_rare(EventKind::EdgeExhausted { node, edge: target.into() });
        caught_now(|| self.shared.graph_type().exhausted_edge(edge, token))
            .map_err(|panic| self.failed(execution, panicked(self.net(), execution, panic), took))?
            .ok_or_else(|| self.failed(execution, edge_is_spent(self.net(), execution, edge), took))
    }

    /// The failure that a test injects in place of an execution's outcome, if it injects one.
    #[inline]
    fn injected(&self, execution: Execution) -> Option<Result<ErasedDone, Interruption>> {
        let untyped = self.shared.untyped();
        let inject = untyped.settings.injection()?;
        let node = untyped.net.node(execution.node);
        if node.timed_out.is_none() && node.failed.is_none() {
            return None;
        }
        match inject(untyped.run(), &untyped.by(execution))? {
            Injected::Failure => Some(Ok(ErasedDone::failed("a test chose that it fails"))),
            Injected::Timeout => Some(Err(Interruption::TimedOut(node.timeout?))),
        }
    }

    /// The step along the table's route for the failure of an execution; an error if the table has none, and the run fails.
    ///
    /// Like the outcome, the other effects that the execution asked for do not count.
    #[cold]
    fn route_failure(
        &self,
        execution: Execution,
        failure: Box<Failure>,
        took: Elapsed,
    ) -> Result<AcceptedOutcome, End> {
        let route = self.net().node(execution.node).route_of(&failure.kind);
        let step = caught_now(|| route.and_then(|route| self.shared.graph_type().failed(route, (*failure).clone())));
        match step.map_err(|panic| self.failed(execution, panicked(self.net(), execution, panic), took))? {
            Some(step) => Ok(AcceptedOutcome { step, effects: Effects::default(), failed: Some(failure) }),
            None => Err(self.failed(execution, *failure, took)),
        }
    }

    /// Records the agent calls of an execution whose outcome does not count.
    async fn record_calls(&mut self, execution: Execution) -> Result<(), End> {
        let untyped = self.shared.untyped();
        let calls = untyped.calls_of(execution);
        let Some(record_writer) = self.record_writer().filter(|_| !calls.is_empty()) else { return Ok(()) };
        let written = record_writer.write(Entry::Spent { by: untyped.by(execution), calls }).await;
        written.map_err(|error| self.journal_failed(error))
    }

    /// Whether the outcome of an execution goes to the journal or to an observer.
    #[inline]
    fn is_recorded_or_observed(&mut self, execution: Execution) -> bool {
        let node = self.net().name(execution.node);
        self.recorded.is_some() || self.observes && self.background().is_observed(node)
    }

    /// The map execution that takes the items that an event node adds, and these items; it takes them once they are recorded.
    /// `None` where no map execution takes them; the run then stays unchanged.
    #[cold]
    fn accept_items(&self, execution: Execution, added: Addition, now: Elapsed) -> Option<(By, Vec<NewItem>)> {
        let (untyped, Addition { map, items }) = (self.untyped(), added);
        let to = self.frontier.live(map).map(|map| untyped.by(map)).filter(|map| untyped.additions().hold(map));
        untyped.emit_at(now, || EventKind::ItemsAdded {
            node: untyped.node(execution),
            map: self.net().name(map).into(),
            items: u32::try_from(items.len()).unwrap_or(u32::MAX),
            refused: to.is_none(),
        });
        if to.is_none() {
            tracing::info!(run = %untyped.run(), map = self.net().name(map), "items are refused: the map takes no more");
        }
        Some((to?, items))
    }

    /// Writes an outcome to the journal, if there is one; returns the outcome.
    async fn write(
        &mut self,
        execution: Execution,
        outcome: Result<NodeOutcome, JournalError>,
        took: Elapsed,
    ) -> Result<NodeOutcome, End> {
        let written = match (outcome, self.record_writer()) {
            (Ok(outcome), Some(record_writer)) => {
                record_writer.write(Entry::Outcome(outcome.clone())).await.map(|()| outcome)
            }
            (outcome, _) => outcome,
        };
        written.map_err(|error| {
            if !error.is_refusal() {
                return self.journal_failed(error);
            }
            let kind = FailureKind::Journal;
            let failure = failure(self.net(), execution, kind, error.to_string(), Vec::new());
            self.failed(execution, failure, took)
        })
    }

    /// Emits the failure of an execution, which ends the run.
    pub(crate) fn failed(&self, execution: Execution, failure: Failure, took: Elapsed) -> End {
        self.emit_failed(execution, &failure, None, took);
        End::failed(failure)
    }

    /// Emits the failure of an execution, with the place of the token that continues instead, if there is one.
    fn emit_failed(&self, execution: Execution, failure: &Failure, token: Option<&ErasedToken>, took: Elapsed) {
        let untyped = self.untyped();
        let (node, message) = (untyped.node(execution), failure.message.clone());
        let to = token.map(|token| Box::new(untyped.place_name(token).into()));
        untyped.emit_rare(EventKind::NodeFailed { node, message, to, took_ms: took.as_millis() });
    }

    /// Moves the tokens of a step, and stops the executions whose tokens it cleared.
    #[inline]
    pub(crate) fn complete(&mut self, execution: Execution, step: Step<ErasedToken>) -> Result<(), End> {
        let completed = if self.handling() == Some(execution) {
            self.recorded.iter_mut().for_each(|recorded| recorded.handling = None);
            self.frontier.redirect(execution.node, step).map(Option::unwrap_or_default)
        } else {
            self.frontier.complete(execution, step)
        };
        match completed {
            Ok(completed) => {
                self.stop_all(completed.cancelled);
                if self.untyped().has_notes() {
                    self.leave_visit(execution);
                }
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
            let untyped = self.shared.untyped();
            // Its task ends later. From here on, no person is to be asked for the answer.
            if untyped.net.row(cancelled.node).kind == NodeKind::Human {
                untyped.settings.tree().close_question(untyped.run(), &untyped.by(cancelled));
            }
            let node = untyped.node(cancelled);
            untyped.emit_rare(EventKind::NodeCancelled(node));
            untyped.forget_visit(cancelled);
        }
    }

    /// Encodes a step's tokens for the journal; also stores the payloads for `input_of`.
    pub(crate) fn encode_tokens(&mut self, step: &Step<ErasedToken>) -> Result<Vec<TokenRecord>, JournalError> {
        let mut tokens = Vec::with_capacity(step.tokens().len());
        for token in step.tokens() {
            let (place, payload) = encode(self.untyped(), token)?;
            if token.is_value() && &*payload == "null" && self.net().place(token.place()).optional {
                return Err(JournalError::Encoding {
                    what: format!("the payload for `{place}`"),
                    reason: "it is stored as `null`, and in an optional slot that is nothing: take another type".into(),
                });
            }
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
        accepted: &AcceptedOutcome,
        spawned: &[ErasedToken],
        updated: Option<&Updated>,
        took: Elapsed,
    ) -> Result<NodeOutcome, JournalError> {
        let (net, AcceptedOutcome { step, effects, failed }) = (self.net(), accepted);
        let tokens = self.encode_tokens(step)?;
        let untyped = self.shared.untyped();
        let mut spawned_records = Vec::with_capacity(spawned.len());
        for token in spawned {
            let (place, payload) = encode(untyped, token)?;
            spawned_records.push(TokenRecord { place: place.to_owned(), payload: payload.into() });
        }
        let memory = updated.map(|updated| self.shared.remembered(updated));
        let posted = effects.posted().iter().map(MessageRecord::of);
        Ok(NodeOutcome {
            node: net.name(execution.node).to_owned(),
            visit: execution.visit,
            attempt: execution.attempt,
            alternative: step.alternative(),
            tokens,
            spawned: spawned_records,
            posted: posted.collect(),
            label: effects.label().cloned(),
            memory: memory.transpose()?,
            calls: untyped.calls_of(execution),
            commits: effects.commits().to_vec(),
            took_ms: took.as_millis(),
            failed: failed.clone(),
            added: None,
            turns: untyped.turns_after(execution),
        })
    }

    /// How the run ends after an error of the journal: it halts with its whole tree and can be resumed, unless the journal only
    /// refused something that cannot be stored.
    pub(crate) fn journal_failed(&self, error: JournalError) -> End {
        if error.is_refusal() {
            return End::at_exit(FailureKind::Journal, error.to_string(), Vec::new());
        }
        self.untyped().settings.tree().journal_failed(&error);
        End::Halted(Halt::Journal(error))
    }

    /// An error if a journal of the tree has failed: then no outcome counts any more.
    pub(crate) fn check_journal(&self) -> Result<(), End> {
        let error = self.recorded.as_ref().and_then(|_| self.untyped().settings.tree().journal_error());
        error.map_or(Ok(()), |error| Err(End::Halted(Halt::Journal(error))))
    }

    pub(crate) fn unsound(&self, execution: Option<Execution>, violation: Violation) -> End {
        let message = violation.to_string();
        let kind = FailureKind::Unsound(violation);
        match execution {
            Some(execution) => End::failed(failure(self.net(), execution, kind, message, Vec::new())),
            None => End::at_exit(kind, message, Vec::new()),
        }
    }
}

/// The journal's error that a handler's error contains, if the journal has failed.
pub(crate) fn journal_error(error: &NodeError) -> Option<&JournalError> {
    error.downcast_ref::<JournalError>().filter(|error| !error.is_refusal())
}

/// The name of a token's place, and its payload.
fn encode(untyped: &UntypedServices, token: &ErasedToken) -> Result<(&'static str, Encoded), JournalError> {
    let place = untyped.place_name(token);
    let payload = token.encode().map_err(|error| JournalError::Encoding {
        what: format!("the payload for `{place}`"),
        reason: error.to_string(),
    })?;
    Ok((place, payload))
}
