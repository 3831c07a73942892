//! Decodes the recorded payloads of a run that is resumed, and makes its state of them.

use crate::context::history::History;
use crate::context::memory_store::MemoryStore;
use crate::context::services::UntypedServices;
use crate::driver::initial_state::{InitialState, Resumption};
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType};
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::interruption::caught_now;
use crate::journal::named_payloads::Texts;
use crate::journal::record_writer::RecordWriter;
use crate::journal::replay::{Asked, Replayed};
use crate::journal::stored_token::{Content, Inputs, StoredToken};
use crate::journal::{By, Encoded, ItemRecord, MessageRecord, NodeOutcome, RecordedPayload};
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use interlocking_core::context::NewItem;
use interlocking_core::failure::Failure;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::run_id::RunId;
use std::collections::VecDeque;
use std::sync::Arc;

/// Decodes the recorded payloads of a run.
pub(super) struct Reader<'run> {
    pub(super) graph_type: &'static dyn GraphType,
    pub(super) run: &'run RunId,
    pub(super) texts: Texts,
}

/// The part of a run's state that has the graph's types.
pub(super) struct Typed {
    memories: Box<[Box<dyn MemoryStore>]>,
    arrived: Vec<Option<Encoded>>,
    inputs: Vec<Option<Encoded>>,
    entry: AnyValue,
    in_flight: Vec<(Execution, ErasedToken)>,
    advisory: Vec<(Execution, ErasedToken)>,
    mailbox: VecDeque<(NodeIndex, ErasedToken)>,
    frontier: Frontier<'static, ErasedToken>,
}

/// The part of a [`Resumption`] that stays JSON text.
struct Untyped {
    reports: Vec<(Execution, Result<Encoded, Failure>)>,
    observed: Vec<NodeOutcome>,
    posted: Option<(By, Vec<MessageRecord>)>,
    pending_failure: Option<Failure>,
}

impl Reader<'_> {
    fn unreadable(&self, place: impl Into<String>, reason: impl Into<String>) -> StartError {
        StartError::Payload { run: self.run.clone(), place: place.into(), reason: reason.into() }
    }

    /// Decodes a stored token.
    fn token(&self, stored: &StoredToken) -> Result<ErasedToken, StartError> {
        match &stored.content {
            Content::Stored(payload) => self.payload(stored.place, payload),
            Content::Exhausted(exhausted) => {
                let (node, limit, inputs) = &**exhausted;
                let input = self.input(*node, inputs)?;
                let step = caught_now(|| self.graph_type.exhausted(*node, *limit, input))
                    .map_err(|panic| self.unreadable(self.graph_type.net().name(*node), panic))?;
                let token = step.and_then(|step| if let Step::One(_, token) = step { Some(token) } else { None });
                token.ok_or_else(|| self.unreadable(self.graph_type.net().name(*node), "it has no exhausted route"))
            }
        }
    }

    fn payload(&self, place: PlaceIndex, payload: &RecordedPayload) -> Result<ErasedToken, StartError> {
        self.graph_type.read_token(place, &self.texts.of(payload)).map_err(|why| {
            let name = &self.graph_type.net().place(place).name;
            self.unreadable(format!("node `{name}`"), why.to_string())
        })
    }

    /// Decodes the input of a node.
    fn input(&self, node: u16, inputs: &Inputs) -> Result<ErasedToken, StartError> {
        match inputs {
            Inputs::One(stored) => self.token(stored),
            Inputs::Slots(tokens) => {
                let mut slots = Vec::with_capacity(tokens.len());
                for stored in tokens {
                    slots.push(self.token(stored)?);
                }
                let lost = || self.unreadable(self.graph_type.net().name(node), "its slots are not those of the join");
                self.graph_type.join(node, slots).ok_or_else(lost)
            }
        }
    }

    /// The output of a run that has finished.
    pub(super) fn output(&self, replayed: &mut Replayed) -> Result<AnyValue, StartError> {
        if let Some(output) = &replayed.output {
            return self
                .graph_type
                .read_output(&self.texts.of(output))
                .map_err(|reason| self.unreadable("the output", reason));
        }
        let exit = replayed.frontier.take_exit();
        let token = exit.map(|stored| self.token(&stored)).transpose()?;
        token
            .and_then(|token| self.graph_type.leave(token))
            .ok_or_else(|| self.unreadable("exit", "nothing came there"))
    }

    /// A stored token as JSON.
    fn encoded(&self, stored: &StoredToken) -> Result<Encoded, StartError> {
        match &stored.content {
            Content::Stored(payload) => Ok(self.texts.of(payload)),
            Content::Exhausted(_) => {
                let token = self.token(stored)?;
                let unreadable = |error: serde_json::Error| {
                    self.unreadable(&self.graph_type.net().place(stored.place).name, error.to_string())
                };
                token.encode().map_err(unreadable)
            }
        }
    }

    fn places(&self, tokens: &[Option<StoredToken>]) -> Result<Vec<Option<Encoded>>, StartError> {
        let mut places = Vec::with_capacity(tokens.len());
        for stored in tokens {
            places.push(match stored {
                Some(stored) => Some(self.encoded(stored)?),
                None => None,
            });
        }
        Ok(places)
    }

    fn memories(&self, replayed: &Replayed<'static>) -> Result<Box<[Box<dyn MemoryStore>]>, StartError> {
        let memories = self.graph_type.memories();
        for (index, (store, recorded)) in memories.iter().zip(&replayed.memories).enumerate() {
            let Some(payload) = recorded else { continue };
            let group = &self.graph_type.net().memory_groups()[index];
            store
                .restore(&self.texts.of(payload))
                .map_err(|reason| self.unreadable(format!("memory `{group}`"), reason))?;
        }
        Ok(memories)
    }

    /// Decodes all payloads that have the graph's types. This is the last check that can refuse the resume before it changes
    /// anything.
    pub(super) fn typed(&self, replayed: &Replayed<'static>) -> Result<Typed, StartError> {
        let net = self.graph_type.net();
        let memories = self.memories(replayed)?;
        let (arrived, inputs) = (self.places(&replayed.arrived)?, self.places(&replayed.inputs)?);
        let entry = self.texts.of(&replayed.entry);
        let entry = self.graph_type.read_entry(&entry).map_err(|reason| self.unreadable("the entry value", reason))?;
        let own_place = |node: u16, payload: &RecordedPayload| self.payload(net.node(node).first_place, payload);
        let (mut in_flight, mut advisory, mut mailbox) = (Vec::new(), Vec::new(), VecDeque::new());
        for (execution, inputs) in replayed.in_flight.values() {
            in_flight.push((*execution, self.input(execution.node, inputs)?));
        }
        for (execution, payload) in &replayed.background {
            advisory.push((*execution, own_place(execution.node, payload)?));
        }
        for (node, payload) in &replayed.mailbox {
            mailbox.push_back((*node, own_place(*node, payload)?));
        }
        let frontier = replayed.frontier.clone().try_map(|stored| self.token(&stored))?;
        Ok(Typed { memories, arrived, inputs, entry, in_flight, advisory, mailbox, frontier })
    }

    pub(super) fn state(
        &self,
        graph: AnyGraph,
        settings: Settings,
        record_writer: &Arc<RecordWriter>,
        mut replayed: Replayed<'static>,
        typed: Typed,
    ) -> (InitialState, Arc<dyn ErasedShared>) {
        let net = self.graph_type.net();
        let Typed { memories, arrived, inputs, entry, in_flight, advisory, mailbox, frontier } = typed;
        let untyped = UntypedServices::new(net, settings, Some(record_writer.clone()));
        let Untyped { reports, observed, posted, pending_failure } = self.untyped(net, &mut replayed, &untyped);
        let (letters, retried_after) = (replayed.letters, replayed.retried_after);
        let resumption = Resumption { in_flight, advisory, reports, observed, posted, pending_failure, retried_after };
        let state = InitialState { frontier, arrived, mailbox, letters, resumption: Some(Box::new(resumption)) };
        (state, self.graph_type.shared(graph, untyped, Some((entry, inputs)), memories))
    }

    /// The last messages to other runs. They may not have been sent yet.
    pub(super) fn posted(&self, replayed: &mut Replayed<'static>) -> Option<(By, Vec<MessageRecord>)> {
        let mut posted = replayed.posted.take();
        for message in posted.iter_mut().flat_map(|(_, list)| list) {
            message.message = self.texts.of(&message.message).into();
        }
        posted
    }

    /// Reads the state that stays JSON text, and passes history and added items to the run's services.
    fn untyped(&self, net: &'static Net, replayed: &mut Replayed<'static>, services: &UntypedServices) -> Untyped {
        let reports = replayed.reports.drain(..);
        let reports = reports.map(|(execution, report)| (execution, report.map(|payload| self.texts.of(&payload))));
        let reports = reports.collect();
        let mut observed = std::mem::take(&mut replayed.observed);
        for payload in observed.iter_mut().flat_map(NodeOutcome::payloads_mut) {
            *payload = self.texts.of(payload).into();
        }
        let (posted, pending_failure) = (self.posted(replayed), replayed.pending_failure.take());
        self.remember(net, replayed, services.history());
        for (map, ItemRecord { entry, key, anew, anew_after }) in replayed.added.drain(..) {
            let entry = self.texts.of(&entry).to_string();
            services.additions().add(map, vec![NewItem { entry, key, anew, anew_after }]);
        }
        Untyped { reports, observed, posted, pending_failure }
    }

    /// Adds to the history what executions had done, and counts one more restart for each interrupted execution.
    fn remember(&self, net: &'static Net, replayed: &mut Replayed<'static>, history: &History) {
        for (by, restarts) in &replayed.restarts {
            (0..*restarts).for_each(|_| history.restarted(by.clone()));
        }
        for execution in replayed.interrupted(net) {
            history.restarted(By::of(net, execution));
        }
        for (by, conversation, agent, session) in replayed.sessions.drain(..) {
            history.began_session(by, conversation, agent, session);
        }
        for (by, name, value) in replayed.once.drain(..) {
            history.record_once(by, &name, self.texts.of(&value));
        }
        for Asked { by, question, schema, asked_at_ms } in replayed.questions.drain(..) {
            history.asked(by, self.texts.of(&question), self.texts.of(&schema), asked_at_ms);
        }
        for (by, answer) in replayed.answers.drain(..) {
            history.answered(by, self.texts.of(&answer));
        }
        for (by, _, ended) in replayed.decisions.drain(..) {
            history.decided(by, ended);
        }
    }
}
