//! The payloads that a replayed run needs from its journal, and their texts once fetched.

use crate::journal::replay::{Asked, Replayed};
use crate::journal::stored_token::{Content, Inputs, StoredToken};
use crate::journal::{Digest, Encoded, NodeOutcome, RecordedPayload};
use interlocking_core::frontier::Frontier;
use std::collections::{HashMap, HashSet};

impl Replayed<'_> {
    /// The digests of the payloads to fetch, each once. A run that goes on needs all its live payloads. A run that has ended
    /// needs only its output, and messages that may still have to be sent.
    pub(crate) fn named(&self) -> Vec<Digest> {
        let mut digests = Digests::default();
        if self.ended.is_some() {
            match &self.output {
                Some(output) => digests.of(output),
                None => self.frontier.clone().take_exit().iter().for_each(|token| digests.of_token(token)),
            }
            self.messages().for_each(|message| digests.of(message));
            return digests.list;
        }
        let _: Result<Frontier<'_, StoredToken>, ()> = self.frontier.clone().try_map(|token| {
            digests.of_token(&token);
            Ok(token)
        });
        self.in_flight.values().for_each(|(_, inputs)| digests.of_inputs(inputs));
        self.arrived.iter().chain(&self.inputs).flatten().for_each(|token| digests.of_token(token));
        digests.of(&self.entry);
        let kept = self.memories.iter().flatten();
        let reports = self.reports.iter().filter_map(|(_, report)| report.as_ref().ok());
        let observed = self.observed.iter().flat_map(NodeOutcome::payloads);
        let waiting = self.mailbox.iter().map(|(_, message)| message);
        let background = self.background.iter().map(|(_, payload)| payload);
        kept.chain(reports)
            .chain(observed)
            .chain(waiting)
            .chain(background)
            .chain(self.messages())
            .for_each(|it| digests.of(it));
        self.once.iter().for_each(|(_, _, value)| digests.of(value));
        self.questions.iter().for_each(|Asked { question, schema, .. }| {
            digests.of(question);
            digests.of(schema);
        });
        self.answers.iter().for_each(|(_, answer)| digests.of(answer));
        self.added.iter().for_each(|(_, item)| digests.of(&item.entry));
        digests.list
    }

    /// Messages to other runs that may not have been sent.
    fn messages(&self) -> impl Iterator<Item = &RecordedPayload> {
        self.posted.iter().flat_map(|(_, list)| list).map(|message| &message.message)
    }
}

#[derive(Default)]
struct Digests {
    known: HashSet<Digest>,
    list: Vec<Digest>,
}

impl Digests {
    fn of(&mut self, payload: &RecordedPayload) {
        if let RecordedPayload::Stored(digest) = payload
            && self.known.insert(*digest)
        {
            self.list.push(*digest);
        }
    }

    fn of_token(&mut self, token: &StoredToken) {
        match &token.content {
            Content::Stored(payload) => self.of(payload),
            Content::Exhausted(exhausted) => self.of_inputs(&exhausted.2),
        }
    }

    fn of_inputs(&mut self, inputs: &Inputs) {
        match inputs {
            Inputs::One(token) => self.of_token(token),
            Inputs::Slots(tokens) => tokens.iter().for_each(|token| self.of_token(token)),
        }
    }
}

/// The texts of payloads, by digest.
#[derive(Default)]
pub(crate) struct Texts(pub(crate) HashMap<Digest, Encoded>);

impl Texts {
    /// The text of a payload. It is empty, and so does not parse, for a payload that was not fetched.
    pub(crate) fn of(&self, payload: &RecordedPayload) -> Encoded {
        match payload {
            RecordedPayload::Json(text) => text.clone(),
            RecordedPayload::Stored(digest) => self.0.get(digest).cloned().unwrap_or_else(|| "".into()),
        }
    }
}
