//! Drives one run's frontier: starts what is due, absorbs outcomes, journals them, stops what is cancelled.

use crate::cancel::Cancel;
use crate::chain::{Chained, chain};
use crate::clock::Elapsed;
use crate::event::{EventKind, Onward};
use crate::flight::{Boarding, Flight, Landed, Landings};
use crate::journal::{Encoded, Entry, Journal, JournalError, MemoryRecord, NodeOutcome, Record, TokenRecord};
use crate::outcome::Outcome;
use crate::perform::{Here, Interruption, Stop, failure, is_watched, kind_of, perform};
use crate::services::RunServices;
use crate::stops::Stops;
use interlocking_core::context::Effects;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Due, Execution, Frontier, Input, Limit, Payload, Violation};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::route::Step;
use std::sync::Arc;
use std::task::Poll;

/// One run under way.
pub(crate) struct Driver<G: Graph> {
    shared: Arc<Shared<G>>,
    frontier: Frontier<'static, G::Token>,
    journal: Option<Arc<dyn Journal>>,
    /// How many records the journal has.
    sequence: u64,
    /// By place: the payload that arrived last; empty where there is no journal.
    arrived: Vec<Option<Encoded>>,
    /// Executions that run as tasks of their own, because others run beside them.
    flight: Flight<G>,
    /// Whether chains may go on by themselves: nothing is recorded, and no node's workspace is watched.
    relays: bool,
}

/// What every execution needs: one pointer to clone for each.
pub(crate) struct Shared<G: Graph> {
    pub(crate) graph: Arc<G>,
    pub(crate) services: RunServices<G>,
    pub(crate) cancel: Cancel,
    pub(crate) landings: Landings<G>,
    pub(crate) stops: Stops,
    pub(crate) boarding: Boarding<G>,
}

/// What an execution that counts asks for.
type Accepted<G> = (Step<<G as Graph>::Token>, Effects);

/// What ends a run early.
enum End {
    Failed(Box<Failure>),
    Cancelled,
}

impl<G: Graph> Driver<G> {
    pub(crate) fn new(
        graph: Arc<G>,
        services: RunServices<G>,
        token: G::Token,
        journal: Option<Arc<dyn Journal>>,
        cancel: Cancel,
    ) -> Self {
        let net = G::net();
        let arrived = if journal.is_some() { vec![None; net.places().len()] } else { Vec::new() };
        let relays = journal.is_none() && !services.backstage.has_read_only;
        let shared = Arc::new(Shared {
            graph,
            services,
            cancel,
            landings: Landings::new(),
            boarding: Boarding::new(),
            stops: Stops::default(),
        });
        Self {
            flight: Flight::new(shared.clone()),
            shared,
            relays,
            frontier: Frontier::new(net, token),
            journal,
            sequence: 0,
            arrived,
        }
    }

    /// Runs to the end.
    pub(crate) async fn run(mut self, entry: Option<Encoded>) -> (Outcome<G::Output>, Vec<(&'static str, u32)>) {
        let end = match self.begin(entry).await {
            Ok(()) => self.drive().await,
            Err(end) => Err(end),
        };
        self.flight.shutdown().await;
        let outcome = match end {
            Ok(output) => Outcome::Finished(output),
            Err(End::Failed(failure)) => Outcome::Failed(*failure),
            Err(End::Cancelled) => Outcome::Cancelled,
        };
        let outcome = self.finish(outcome).await;
        let net = G::net();
        let visits = (0..net.nodes().len() as u16).map(|node| (net.name(node), self.frontier.visits(node)));
        (outcome, visits.filter(|(_, visits)| *visits > 0).collect())
    }

    pub(crate) fn shared(&self) -> Arc<Shared<G>> {
        self.shared.clone()
    }

    async fn begin(&mut self, entry: Option<Encoded>) -> Result<(), End> {
        let net = G::net();
        if let Some(input) = entry {
            self.arrived[usize::from(net.entry())] = Some(input.clone());
            let table = Box::new(net.table().clone());
            self.append(Entry::Started { table, input }).await.map_err(|error| {
                let node = net.name(net.place(net.entry()).node).to_owned();
                End::failed(Failure {
                    node,
                    visit: 0,
                    attempt: 0,
                    kind: FailureKind::Journal,
                    message: error.to_string(),
                    causes: Vec::new(),
                })
            })?;
        }
        Ok(())
    }

    async fn drive(&mut self) -> Result<G::Output, End> {
        loop {
            self.start_due().await?;
            // While something runs, the run neither has come to its exit nor is stuck.
            if self.frontier.running() == 0 {
                if let Some(output) = self.frontier.take_exit().and_then(G::leave) {
                    return Ok(output);
                }
                if let Some(violation) = self.frontier.stuck() {
                    return Err(self.unsound(None, violation));
                }
            }
            if self.journal.is_none() {
                if !self.absorb_landed()? {
                    self.wait().await?;
                }
                continue;
            }
            match self.flight.next() {
                None => self.wait().await?,
                Some(Landed { execution, result, now }) => {
                    let took = now.since(self.flight.started(execution.node));
                    let result = self.settled(execution, result);
                    self.absorb(execution, result, now, took).await?;
                }
            }
        }
    }

    /// Takes in what has landed already, where there is no journal, until something is due or nothing runs; false if
    /// nothing has landed.
    fn absorb_landed(&mut self) -> Result<bool, End> {
        let mut any = false;
        while let Some(Landed { execution, result, now }) = self.flight.next() {
            any = true;
            let took = now.since(self.flight.started(execution.node));
            match result {
                // Looked at here already: it would be moved as a part of something larger each time.
                Some(Ok(Done { route: Ok(step), effects })) if self.frontier.is_current(execution) => {
                    self.accept(execution, step, &effects, now, took)?;
                }
                result => {
                    let result = self.settled(execution, result);
                    self.absorb_unrecorded(execution, result, now, took)?;
                }
            }
            if self.frontier.has_due() || self.frontier.running() == 0 {
                break;
            }
        }
        Ok(any)
    }

    /// Waits until something lands; an error if the run is cancelled first.
    async fn wait(&mut self) -> Result<(), End> {
        let mut cancelled = std::pin::pin!(self.shared.cancel.requested());
        let flight = &mut self.flight;
        std::future::poll_fn(|context| {
            if flight.poll_landed(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
            cancelled.as_mut().poll(context).map(|()| Err(End::Cancelled))
        })
        .await
    }

    /// What came of a task.
    fn settled(&self, execution: Execution, result: Option<Result<Done<G>, Interruption>>) -> Result<Done<G>, Stop> {
        match result {
            Some(Ok(done)) => Ok(done),
            Some(Err(interruption)) => Err(interruption.into_stop(&self.shared.services, execution)),
            None => Err(self.lost(execution)),
        }
    }

    /// Why a task ended without an outcome. One that was stopped may too, but the frontier discarded that before.
    #[cold]
    fn lost(&self, execution: Execution) -> Stop {
        let message = "in the drop of a value that its handler held".to_owned();
        Stop::Failed(Box::new(failure(&self.shared.services, execution, FailureKind::Panic, message, Vec::new())))
    }

    /// Starts everything that is due. An execution that is alone runs right here, and so do its successors while they
    /// are alone: a chain of nodes costs no task.
    async fn start_due(&mut self) -> Result<(), End> {
        // Branches of one fork start at one moment.
        let mut started = None;
        self.flight.gather(self.frontier.due());
        loop {
            let beside_others = self.frontier.running() + self.frontier.due() > 1;
            if beside_others && let Some((execution, waiting)) = self.frontier.next_plain() {
                if self.journal.is_some() {
                    self.shared.services.keep_input(execution.node, &self.arrived);
                }
                let started = *started.get_or_insert_with(|| self.shared.services.backstage.now());
                self.shared.services.backstage.emit_started(execution, started);
                self.flight.start(execution, waiting, started);
                continue;
            }
            let Some(due) = self.frontier.next_due() else { break };
            let (execution, input) = (due.execution, self.take_input(due)?);
            let Some(input) = input else { continue };
            if self.frontier.running() == 1 && !self.frontier.has_due() {
                self.run_here(execution, input).await?;
                started = None;
                self.flight.gather(self.frontier.due());
            } else {
                let started = *started.get_or_insert_with(|| self.shared.services.backstage.now());
                self.shared.services.backstage.emit_started(execution, started);
                self.flight.start(execution, &mut Some(input), started);
            }
        }
        self.flight.launch();
        Ok(())
    }

    /// The token that a handler takes; `None` if the entry took the exhausted route instead.
    #[inline]
    fn take_input(&mut self, due: Due<G::Token>) -> Result<Option<G::Token>, End> {
        let Due { execution, input, exhausted } = due;
        let token = match input {
            Input::One(token) => Some(token),
            Input::Slots(slots) => G::join(execution.node, slots),
        };
        let Some(token) = token else {
            let from = G::net().name(execution.node).to_owned();
            return Err(self.unsound(Some(execution), Violation::NotInTable { from }));
        };
        if let Some(limit) = exhausted {
            self.exhaust(execution, limit, token)?;
            return Ok(None);
        }
        if self.journal.is_some() {
            self.shared.services.keep_input(execution.node, &self.arrived);
        }
        Ok(Some(token))
    }

    fn exhaust(&mut self, execution: Execution, limit: Limit, token: G::Token) -> Result<(), End> {
        let node = self.shared.services.backstage.node(execution);
        self.shared.services.backstage.emit(|| EventKind::NodeExhausted(node));
        let Some(step) = G::exhausted(execution.node, limit, token) else {
            let message = format!("may not be entered again: its table says `{limit}`");
            let kind = FailureKind::Exhausted(limit);
            return Err(End::failed(failure(&self.shared.services, execution, kind, message, Vec::new())));
        };
        // Not recorded: a replay takes the same route from the same input. Remembered, for `input_of`.
        if self.journal.is_some()
            && let Err(error) = self.encode_tokens(&step)
        {
            let kind = FailureKind::Journal;
            return Err(End::failed(failure(&self.shared.services, execution, kind, error.to_string(), Vec::new())));
        }
        self.complete(execution, step)
    }

    /// Runs an execution, and its successors while each leads plainly to the next.
    async fn run_here(&mut self, execution: Execution, input: G::Token) -> Result<(), End> {
        let shared = self.shared.clone();
        let Shared { graph, services, cancel, .. } = &*shared;
        let started = services.backstage.now();
        let chains = self.relays && !is_watched(services, execution);
        let Some(solo) = self.frontier.solo(execution).filter(|_| chains) else {
            services.backstage.emit_started(execution, started);
            let result = perform(Here { shared: &shared, execution, input: Some(input) }, |_, result| result).await;
            let result = result.map_err(|interruption| interruption.into_stop(services, execution));
            let now = services.backstage.now();
            return self.absorb(execution, result, now, now.since(started)).await;
        };
        let Chained { execution, result, now, took } = chain(&**graph, services, cancel, solo, input, started).await;
        self.absorb_unrecorded(execution, result, now, took)
    }

    /// Takes an outcome in: journal first, then the frontier.
    async fn absorb(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        if self.journal.is_none() {
            return self.absorb_unrecorded(execution, result, now, took);
        }
        let Some((step, effects)) = self.judge(execution, result, took)? else { return Ok(()) };
        let updated = self.apply(execution, &effects);
        let recorded = match self.record(execution, &step, &effects, updated, took) {
            Ok(outcome) => self.append(Entry::Outcome(outcome)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = recorded {
            let (services, kind) = (&self.shared.services, FailureKind::Journal);
            return Err(self.failed(
                execution,
                failure(services, execution, kind, error.to_string(), Vec::new()),
                took,
            ));
        }
        self.emit_finished(execution, &step, now, took);
        self.complete(execution, step)
    }

    /// The same where there is no journal: then nothing waits, and no future holds the outcome.
    #[inline]
    fn absorb_unrecorded(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        let Some((step, effects)) = self.judge(execution, result, took)? else { return Ok(()) };
        self.accept(execution, step, &effects, now, took)
    }

    /// Lets an outcome count, where there is no journal.
    #[inline]
    fn accept(
        &mut self,
        execution: Execution,
        step: Step<G::Token>,
        effects: &Effects,
        now: Elapsed,
        took: Elapsed,
    ) -> Result<(), End> {
        self.apply(execution, effects);
        self.emit_finished(execution, &step, now, took);
        self.complete(execution, step)
    }

    /// The step that an execution takes; `None` if its outcome no longer counts.
    #[inline]
    fn judge(
        &mut self,
        execution: Execution,
        result: Result<Done<G>, Stop>,
        took: Elapsed,
    ) -> Result<Option<Accepted<G>>, End> {
        if !self.frontier.is_current(execution) {
            self.flight.forget(execution);
            return Ok(None);
        }
        let failed = match result {
            Ok(Done { route: Ok(step), effects }) => return Ok(Some((step, effects))),
            Ok(Done { route: Err(error), .. }) => {
                let causes = Failure::causes_of(&*error);
                failure(&self.shared.services, execution, kind_of(&error), error.to_string(), causes)
            }
            Err(Stop::Failed(failure)) => *failure,
            Err(Stop::Cancelled) => return Err(End::Cancelled),
        };
        Err(self.failed(execution, failed, took))
    }

    /// Says that an execution failed, which ends the run.
    fn failed(&self, execution: Execution, failure: Failure, took: Elapsed) -> End {
        let node = self.shared.services.backstage.node(execution);
        self.shared.services.backstage.emit(|| EventKind::NodeFailed { node, message: failure.message.clone(), took });
        End::failed(failure)
    }

    /// Lets the memory updates of an accepted outcome take effect; gives the group if there were any.
    fn apply(&self, execution: Execution, effects: &Effects) -> Option<usize> {
        if effects.is_empty() {
            return None;
        }
        let group = self.shared.services.backstage.net.node(execution.node).memory.map(usize::from);
        group.filter(|&group| self.shared.services.memories[group].apply(effects))
    }

    #[inline]
    fn complete(&mut self, execution: Execution, step: Step<G::Token>) -> Result<(), End> {
        match self.frontier.complete(execution, step) {
            Ok(completed) => {
                for cancelled in completed.cancelled {
                    self.flight.stop(cancelled);
                    let node = self.shared.services.backstage.node(cancelled);
                    self.shared.services.backstage.emit(|| EventKind::NodeCancelled(node));
                }
                Ok(())
            }
            Err(Violation::Stale) => Ok(()),
            Err(violation) => Err(self.unsound(Some(execution), violation)),
        }
    }

    /// A step's tokens as the journal has them; also remembers the payloads, for `input_of`.
    fn encode_tokens(&mut self, step: &Step<G::Token>) -> Result<Vec<TokenRecord>, JournalError> {
        let mut tokens = Vec::with_capacity(step.tokens().len());
        for token in step.tokens() {
            let place = self.shared.services.place_name(token);
            let payload = RunServices::<G>::encode(token).map_err(|error| JournalError::Encoding {
                what: format!("the payload for `{place}`"),
                reason: error.to_string(),
            })?;
            self.arrived[usize::from(token.place())] = Some(payload.clone());
            tokens.push(TokenRecord { place: place.to_owned(), payload });
        }
        Ok(tokens)
    }

    /// The outcome as its journal entry.
    fn record(
        &mut self,
        execution: Execution,
        step: &Step<G::Token>,
        effects: &Effects,
        updated: Option<usize>,
        took: Elapsed,
    ) -> Result<NodeOutcome, JournalError> {
        let net = G::net();
        let tokens = self.encode_tokens(step)?;
        let memory = updated.map(|group| {
            let name = net.memory_groups()[group].clone();
            match self.shared.services.memories[group].encode() {
                Ok(value) => Ok(MemoryRecord { group: name, value }),
                Err(error) => {
                    Err(JournalError::Encoding { what: format!("memory `{name}`"), reason: error.to_string() })
                }
            }
        });
        Ok(NodeOutcome {
            node: net.name(execution.node).to_owned(),
            visit: execution.visit,
            attempt: execution.attempt,
            alternative: step.alternative(),
            tokens,
            memory: memory.transpose()?,
            calls: self.shared.services.backstage.calls_of(execution),
            commits: effects.commits().to_vec(),
            took_ms: took.as_millis(),
        })
    }

    async fn append(&mut self, entry: Entry) -> Result<(), JournalError> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let record = Record { run: self.shared.services.backstage.run.clone(), sequence: self.sequence, entry };
        journal.append(record).await?;
        self.sequence += 1;
        Ok(())
    }

    /// Records the end. An end that cannot be recorded is a failure, for nobody would find it again.
    async fn finish(&mut self, outcome: Outcome<G::Output>) -> Outcome<G::Output> {
        let (failure, cancelled) = match &outcome {
            Outcome::Failed(failure) => (Some(failure.clone()), false),
            Outcome::Finished(_) => (None, false),
            Outcome::Cancelled => (None, true),
        };
        for stopped in self.frontier.abandon() {
            let node = self.shared.services.backstage.node(stopped);
            // What failed has ended by itself, and said so.
            if failure.as_ref().is_none_or(|failure| failure.node != node.node) {
                self.shared.services.backstage.emit(|| EventKind::NodeCancelled(node));
            }
        }
        let recorded = self.append(Entry::Ended { failure, cancelled }).await;
        let outcome = match (recorded, outcome) {
            (Err(error), Outcome::Finished(_) | Outcome::Cancelled) => Outcome::Failed(Failure {
                node: interlocking_core::table::EXIT.to_owned(),
                visit: 0,
                attempt: 0,
                kind: FailureKind::Journal,
                message: error.to_string(),
                causes: Vec::new(),
            }),
            (_, outcome) => outcome,
        };
        let usage = self.shared.services.backstage.ledger().total();
        self.shared.services.backstage.emit(|| EventKind::RunEnded { outcome: outcome.name(), usage });
        outcome
    }

    fn unsound(&self, execution: Option<Execution>, violation: Violation) -> End {
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

    #[inline]
    fn emit_finished(&self, execution: Execution, step: &Step<G::Token>, now: Elapsed, took: Elapsed) {
        self.shared.services.backstage.emit_at(now, || {
            let to = match step {
                Step::One(_, token) => Onward::One(self.shared.services.place_name(token)),
                Step::All(_, tokens) => {
                    Onward::All(tokens.iter().map(|t| self.shared.services.place_name(t)).collect())
                }
            };
            EventKind::NodeFinished { node: self.shared.services.backstage.node(execution), to, took }
        });
    }
}

impl End {
    fn failed(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }
}
