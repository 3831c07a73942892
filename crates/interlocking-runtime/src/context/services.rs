//! What handlers reach through their context, and what the executor keeps for it.

use crate::clock::Elapsed;
use crate::context::additions::Additions;
use crate::context::history::History;
use crate::context::mail::Mail;
use crate::context::memory_store::MemoryStore;
use crate::erased::read::{Unreadable, read_token};
use crate::event::{Event, EventKind, NodeRef, Targets};
use crate::journal::question::OpenQuestion;
use crate::journal::record_writer::RecordWriter;
use crate::journal::{By, Encoded, JournalError, Origin};
use crate::mutex::Mutex;
use crate::run::settings::Settings;
use crate::tree::idle::IdleExecutions;
use crate::tree::run_turns::KeptRunTurns;
use crate::tree::turns::KeptTurns;
use crate::workspaces::isolation;
use interlocking_agents::{AgentEvent, LedgerEntry, Schema, SessionId, Usage};
use interlocking_core::context::{ContextError, Cx, Label, Services, Workspace};
use interlocking_core::failure::NodeError;
use interlocking_core::frontier::{Execution, Payload};
use interlocking_core::graph::{Graph, Node};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeKind, NodeRow};
use once_cell::race::OnceBox;
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// A run's services, for handlers of graph `G`.
pub(crate) struct RunServices<G: Graph> {
    pub(crate) graph: Arc<G>,
    pub(crate) untyped: UntypedServices,
    /// `None` where the run has no journal.
    pub(crate) kept: Option<Box<Kept<G>>>,
    pub(crate) memories: Box<[Box<dyn MemoryStore>]>,
}

/// What handlers may ask for again: values of a run with a journal.
pub(crate) struct Kept<G: Graph> {
    pub(crate) entry: G::Entry,
    /// The last input of each place, as its node took it.
    pub(crate) inputs: Mutex<Vec<Option<Encoded>>>,
}

/// The part of a run's services that depends on no graph type: what node kinds of this crate use.
pub(crate) struct UntypedServices {
    pub(crate) net: &'static Net,
    pub(crate) settings: Settings,
    /// When the run began; for a child run, when the root run began.
    pub(crate) started: Elapsed,
    /// Writes the run's records; `None` where the run has no journal.
    pub(crate) record_writer: Option<Arc<RecordWriter>>,
    pub(super) notes: OnceBox<Notes>,
}

/// Notes on a run that talks to agents or people, has effects, or was resumed. Created when the first of these happens.
#[derive(Default)]
pub(super) struct Notes {
    history: History,
    idle: Arc<IdleExecutions>,
    /// Notified of every answer that is received.
    answered: Notify,
    calls: Mutex<Vec<UnrecordedCall>>,
    schemas: Mutex<HashMap<NodeIndex, Arc<Schema>>>,
    /// The turns of exclusive executions.
    pub(super) turns: KeptTurns,
    /// The turns of the run.
    pub(super) run_turns: KeptRunTurns,
    /// The state of the letters and messages to the run.
    mail: Mail,
    /// Items that event nodes have added to maps.
    additions: Arc<Additions>,
}

/// An agent call that neither the journal nor an observer has been told of.
struct UnrecordedCall {
    by: Execution,
    entry: LedgerEntry,
}

impl<G: Graph> Services<G> for RunServices<G> {
    fn run_id(&self) -> &RunId {
        self.untyped.run()
    }

    fn entry(&self) -> Result<&G::Entry, ContextError> {
        Ok(&self.kept.as_ref().ok_or(ContextError::NoEntry)?.entry)
    }

    fn last_input(&self, node: NodeIndex) -> Result<G::Token, ContextError> {
        let Self { untyped, kept, .. } = self;
        let payloads = untyped.last_payloads(node, kept.as_ref().map(|kept| &kept.inputs))?;
        let mut tokens = Vec::with_capacity(payloads.len());
        for (place, payload) in payloads {
            tokens.push(read_token::<G>(place, &payload).map_err(|why| untyped.unreadable_input(place, &why))?);
        }
        let token = if untyped.net.node(node).is_join { G::join(node, tokens) } else { tokens.pop() };
        token.ok_or_else(|| untyped.never_entered(node))
    }

    fn memory(&self, group: u16) -> Option<&(dyn Any + Send + Sync)> {
        self.memories.get(usize::from(group)).map(|store| store.cell())
    }

    fn workspace(&self, node: NodeIndex) -> Result<Workspace, ContextError> {
        self.untyped.workspace(self.untyped.net.row(node))
    }

    fn note(&self, execution: Execution, text: String) {
        let node = self.untyped.node(execution);
        self.untyped.emit(|| EventKind::Note { node, text });
    }

    fn extension(&self) -> &(dyn Any + Send + Sync) {
        self
    }
}

impl<G: Graph> RunServices<G> {
    /// The services behind a handler's context.
    pub(crate) fn of<'run, N: Node<Graph = G>>(cx: &Cx<'run, N>) -> Result<&'run Self, ContextError> {
        cx.extension().downcast_ref().ok_or_else(|| ContextError::NoSupport { what: "it is another one".into() })
    }

    /// Keeps the payloads that a node takes as its last input.
    pub(crate) fn keep_input(&self, node: NodeIndex, arrived: &[Option<Encoded>]) {
        if let Some(kept) = &self.kept {
            let places = self.untyped.net.node(node).places();
            kept.inputs.lock()[places.clone()].clone_from_slice(&arrived[places]);
        }
    }
}

impl UntypedServices {
    pub(crate) fn new(net: &'static Net, settings: Settings, record_writer: Option<Arc<RecordWriter>>) -> Self {
        let started = settings.began().unwrap_or_else(|| settings.clock().now());
        Self { net, settings, started, record_writer, notes: OnceBox::new() }
    }

    /// What a node took as its last input, by place: at least one payload.
    fn last_payloads(
        &self,
        node: NodeIndex,
        kept: Option<&Mutex<Vec<Option<Encoded>>>>,
    ) -> Result<Vec<(PlaceIndex, Encoded)>, ContextError> {
        let kept = kept.ok_or_else(|| ContextError::NoJournal { node: self.net.name(node).to_owned() })?;
        let row = self.net.node(node);
        let kept = kept.lock();
        let mut payloads = Vec::new();
        for (payload, place) in kept[row.places()].iter().zip(row.first_place..) {
            match payload {
                Some(payload) => payloads.push((place, payload.clone())),
                // A join with a quorum fires without some of its inputs.
                None if row.quorum.is_some() => (),
                None => return Err(self.never_entered(node)),
            }
        }
        if payloads.is_empty() { Err(self.never_entered(node)) } else { Ok(payloads) }
    }

    #[cold]
    fn never_entered(&self, node: NodeIndex) -> ContextError {
        ContextError::NeverEntered { node: self.net.name(node).to_owned() }
    }

    #[cold]
    fn unreadable_input(&self, place: PlaceIndex, why: &Unreadable) -> ContextError {
        let what = format!("the stored input of `{}`", self.net.place(place).name);
        ContextError::Unreadable { what, reason: why.to_string() }
    }

    /// The workspace of a node.
    pub(crate) fn workspace(&self, row: &NodeRow) -> Result<Workspace, ContextError> {
        let name = row.workspace.clone().unwrap_or_default();
        match self.settings.options().workspaces.locate(&name) {
            Ok(path) => Ok(Workspace { name, path, read_only: row.read_only }),
            Err(error) => Err(ContextError::NoWorkspace { name, reason: error.to_string() }),
        }
    }

    /// The run's name.
    pub(crate) fn run(&self) -> &RunId {
        &self.settings.run
    }

    pub(super) fn notes(&self) -> &Notes {
        self.notes.get_or_init(Box::default)
    }

    /// What single executions did, before this process and in it.
    pub(crate) fn history(&self) -> &History {
        &self.notes().history
    }

    /// Whether anything was noted of the run.
    #[inline]
    pub(crate) fn has_notes(&self) -> bool {
        self.notes.get().is_some()
    }

    /// Forgets what was noted of a visit that is over.
    pub(crate) fn forget_visit(&self, execution: Execution) {
        if let Some(notes) = self.notes.get() {
            let node = self.net.name(execution.node);
            notes.history.forget(node, execution.visit);
            notes.additions.forget(node, execution.visit);
        }
    }

    /// The items that event nodes have added to maps.
    pub(crate) fn additions(&self) -> &Arc<Additions> {
        &self.notes().additions
    }

    /// The executions that only wait.
    pub(crate) fn idle(&self) -> &Arc<IdleExecutions> {
        &self.notes().idle
    }

    /// How many executions only wait.
    pub(crate) fn parked(&self) -> usize {
        self.notes.get().map_or(0, |notes| notes.idle.count())
    }

    /// Notifies the executions that wait for an answer that one was received.
    pub(crate) fn notify_answered(&self) {
        self.notes().answered.notify_waiters();
    }

    /// The services behind a handler's context.
    pub(crate) fn of<'run, N: Node>(cx: &Cx<'run, N>) -> Result<&'run Self, ContextError> {
        Ok(&RunServices::of(cx)?.untyped)
    }

    /// How records name an execution.
    pub(crate) fn by(&self, execution: Execution) -> By {
        By::of(self.net, execution)
    }

    /// Waits for a person's answer.
    pub(crate) async fn answer(&self, execution: Execution, by: &By) -> Encoded {
        let Notes { history, idle, answered, .. } = self.notes();
        let _asking = history.question(by).map(|(question, schema)| {
            let [question, schema] = [question, schema].map(|json| serde_json::from_str(&json).unwrap_or_default());
            self.settings.tree().open_question(OpenQuestion {
                run: self.run().clone(),
                by: by.clone(),
                question,
                schema,
            })
        });
        loop {
            // Created before the answer is looked for, so that no answer is missed between the two.
            let notified = answered.notified();
            if let Some(answer) = history.answer(by) {
                return answer;
            }
            let _parked = idle.park(execution);
            notified.await;
        }
    }

    /// The state of the letters and messages to the run.
    pub(crate) fn mail(&self) -> &Mail {
        &self.notes().mail
    }

    /// Whether a message waits to be handled. If a letter to the run has not been taken up yet, waits until it is.
    pub(crate) async fn has_mail(&self) -> Result<bool, JournalError> {
        match &self.settings.journal {
            Some(journal) => self.mail().is_any(&**journal, self.run()).await,
            None => Ok(false),
        }
    }

    /// How much time is left to an execution that begins now; `None` where its time is not limited.
    pub(crate) fn time_left(&self, execution: Execution) -> Option<Duration> {
        let whole = self.net.node(execution.node).timeout?;
        if self.net.row(execution.node).kind != NodeKind::Human {
            return Some(whole);
        }
        let Some(asked_at_ms) = self.history().open_since_ms(&self.by(execution)) else { return Some(whole) };
        let waited = self.settings.clock().unix_ms().saturating_sub(asked_at_ms);
        Some(whole.saturating_sub(Duration::from_millis(waited)))
    }

    /// Whether a person has answered the execution's question.
    pub(crate) fn is_answered(&self, execution: Execution) -> bool {
        self.history().answer(&self.by(execution)).is_some()
    }

    /// Whether an execution of a map is about to take items that were added.
    pub(crate) fn has_untaken(&self, execution: Execution) -> bool {
        self.additions().has_untaken(&self.by(execution))
    }

    /// The time since the root run began.
    #[inline]
    pub(crate) fn now(&self) -> Elapsed {
        self.settings.clock().now().since(self.started)
    }

    /// Begins the run now.
    pub(crate) fn begin(&mut self) {
        self.started = self.settings.clock().now();
        self.emit_begun(None);
    }

    /// Emits that the run has begun, and its origin, if it is a child.
    pub(crate) fn emit_begun(&self, origin: Option<Origin>) {
        self.emit(|| {
            let graph = Cow::Borrowed(self.net.table().graph.as_str());
            EventKind::RunStarted { graph, origin: origin.map(Box::new) }
        });
        if self.net.features().isolation {
            self.emit_unkept_isolation();
        }
    }

    /// Emits which isolation demands are not kept. There are such demands only where the run's settings accept weaker
    /// isolation.
    #[cold]
    fn emit_unkept_isolation(&self) {
        let options = self.settings.options();
        for unkept in isolation::unkept(self.net, &*options.workspaces, &options.roles) {
            tracing::warn!(run = %self.run(), "going on with less isolation than demanded: {unkept}");
            self.emit(|| EventKind::IsolationUnkept(Box::new(unkept)));
        }
    }

    /// Emits that the run has ended.
    pub(crate) fn emit_ended(&self, outcome: &'static str) {
        self.emit(|| {
            let usage = self.settings.known_tree().map(|tree| tree.used(self.run())).unwrap_or_default();
            EventKind::RunEnded { outcome: outcome.into(), usage }
        });
    }

    /// How events name an execution.
    #[inline]
    pub(crate) fn node(&self, execution: Execution) -> NodeRef {
        let Execution { node, visit, attempt, .. } = execution;
        NodeRef { node: Cow::Borrowed(self.net.name(node)), visit, attempt }
    }

    /// Emits an event if there is a sink; the event is made only then.
    pub(crate) fn emit(&self, kind: impl FnOnce() -> EventKind) {
        if self.settings.sink.is_some() {
            self.emit_at(self.now(), kind);
        }
    }

    /// Emits a rare event, which is made whether there is a sink or not.
    pub(crate) fn emit_rare(&self, kind: EventKind) {
        self.emit(|| kind);
    }

    /// The same as [`emit`](Self::emit), for an event whose time is known.
    #[inline]
    pub(crate) fn emit_at(&self, at: Elapsed, kind: impl FnOnce() -> EventKind) {
        if let Some(sink) = &self.settings.sink {
            sink.emit(Event { run: self.run().clone(), at_ms: at.as_millis(), kind: kind() });
        }
    }

    /// Emits the label of an outcome.
    pub(crate) fn emit_label(&self, execution: Execution, label: &Label, at: Elapsed) {
        self.emit_at(at, || EventKind::Labelled { node: self.node(execution), label: Box::new(label.clone()) });
    }

    /// Emits that an execution has started.
    #[inline]
    pub(crate) fn emit_started(&self, execution: Execution, started: Elapsed) {
        self.emit_at(started, || EventKind::NodeStarted(self.node(execution)));
    }

    /// Emits that an execution has finished.
    #[inline]
    pub(crate) fn emit_finished<P: Payload>(&self, execution: Execution, step: &Step<P>, now: Elapsed, took: Elapsed) {
        self.emit_at(now, || {
            let to = match step {
                Step::One(_, token) => Targets::One(self.place_name(token).into()),
                Step::Stay => Targets::All(Box::default()),
                Step::All(_, tokens) => {
                    let mut names = Vec::with_capacity(tokens.len());
                    for token in tokens {
                        names.push(self.place_name(token).into());
                    }
                    Targets::All(names.into())
                }
            };
            EventKind::NodeFinished { node: self.node(execution), to, took_ms: took.as_millis() }
        });
    }

    /// The name of the place that the token lies in.
    pub(crate) fn place_name<P: Payload>(&self, token: &P) -> &'static str {
        &self.net.place(token.place()).name
    }

    /// Emits what an agent did.
    pub(crate) fn agent_event(&self, node: &'static str, execution: Execution, agent: AgentEvent) {
        let node = NodeRef { node: Cow::Borrowed(node), visit: execution.visit, attempt: execution.attempt };
        self.emit(|| EventKind::Agent { node, agent: Box::new(agent) });
    }

    /// Books the usage of an agent call.
    pub(crate) fn book_call(&self, by: Execution, agent: &str, role: &str, session: Option<SessionId>, usage: Usage) {
        let entry = LedgerEntry { agent: agent.to_owned(), role: Some(role.to_owned()), session, usage };
        if self.record_writer.is_some() || self.is_observed(by.node) {
            self.notes().calls.lock().push(UnrecordedCall { by, entry: entry.clone() });
        }
        self.settings.tree().book_call(self.run(), entry);
    }

    /// Whether an observer is shown the outcomes of a node.
    fn is_observed(&self, node: NodeIndex) -> bool {
        let name = self.net.name(node);
        self.net.table().nodes.iter().any(|row| row.observes.iter().any(|observed| observed == name))
    }

    /// Takes the agent calls of one execution of which neither the journal nor an observer has been told; the caller tells
    /// them.
    pub(crate) fn calls_of(&self, execution: Execution) -> Vec<LedgerEntry> {
        let Some(notes) = self.notes.get() else { return Vec::new() };
        let mut calls = notes.calls.lock();
        calls.extract_if(.., |call| call.by == execution).map(|call| call.entry).collect()
    }

    /// The executions that made agent calls which the journal does not have.
    pub(crate) fn unrecorded(&self) -> Vec<Execution> {
        let mut executions: Vec<Execution> = Vec::new();
        let Some(notes) = self.notes.get() else { return executions };
        for call in &*notes.calls.lock() {
            if !executions.contains(&call.by) {
                executions.push(call.by);
            }
        }
        executions
    }

    /// The schema of a node's output, made once for each run.
    pub(crate) fn schema(
        &self,
        node: NodeIndex,
        make: fn() -> Result<Arc<Schema>, NodeError>,
    ) -> Result<Arc<Schema>, NodeError> {
        let schemas = &self.notes().schemas;
        if let Some(schema) = schemas.lock().get(&node) {
            return Ok(schema.clone());
        }
        let schema = make()?;
        schemas.lock().insert(node, schema.clone());
        Ok(schema)
    }
}
