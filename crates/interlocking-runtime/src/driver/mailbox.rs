//! Letters and messages: what is sent to a run from outside, and how event nodes handle messages.
//!
//! A message is recorded when it is received. From then on no node starts. Once only nodes run that wait for a person or for
//! children, the event node runs alone (rule 13). Messages are handled one at a time, in the order in which they arrived
//! (V3-151), and are dropped once the run has reached its exit. A message for a transient node is lost if nothing in the run
//! waits for it when it is received.

use crate::clock::Elapsed;
use crate::driver::{Driver, end::End};
use crate::erased::done::ErasedDone;
use crate::erased::read::Unreadable;
use crate::erased::token::ErasedToken;
use crate::event::EventKind;
use crate::execution::completions::Completed;
use crate::execution::interruption::{caught_now, panicked};
use crate::journal::question::fits;
use crate::journal::rules::{beyond_bounds, keeps_waiting};
use crate::journal::{
    By, Encoded, Entry, Journal, JournalError, Letter, LetterBody, MessageRecord, Posted, RecordedPayload,
};
use interlocking_core::context::Effects;
use interlocking_core::frontier::{Execution, Limit};
use interlocking_core::net::NodeIndex;
use interlocking_core::route::Step;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;

/// Sends the messages of an execution of `run`. Each message has a key of its own, so that none is sent twice.
pub(crate) async fn post(
    journal: &dyn Journal,
    run: &RunId,
    by: &By,
    messages: &[MessageRecord],
) -> Result<(), JournalError> {
    for (nth, MessageRecord { to, node, message }) in messages.iter().enumerate() {
        let RecordedPayload::Json(message) = message else { continue };
        let body = LetterBody::Message { node: node.clone(), message: message.clone() };
        let letter = Letter { key: Some(Letter::message_key(nth, by, run)), body };
        match journal.post(to, letter).await {
            Ok(_) | Err(JournalError::AlreadyPosted { .. } | JournalError::NoRun { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl Driver {
    /// Handles a letter.
    pub(crate) async fn take_letter(&mut self, Posted { number, letter }: Posted) -> Result<(), End> {
        let untyped = self.shared.untyped();
        // The run stops waiting here: the tree must not end as waiting before the letter is handled.
        if let Some(child_slot) = untyped.settings.child_slot() {
            child_slot.set_waiting(false);
        }
        untyped.settings.tree().received_letter(untyped.run(), number);
        if let Some(recorded) = &mut self.recorded {
            recorded.letters = recorded.letters.max(number);
        }
        let taken = match letter.body {
            LetterBody::Cancel => return Err(End::Cancelled),
            LetterBody::Answer { to, answer } => self.take_answer(number, to, answer).await,
            LetterBody::Message { node, message } => self.take_message(number, &node, message).await,
        };
        self.note_mail();
        taken.map_err(|error| self.journal_failed(error))
    }

    async fn take_answer(&mut self, letter: u64, by: By, answer: Encoded) -> Result<(), JournalError> {
        let untyped = self.shared.untyped();
        // An answer to a question that was not asked is dropped.
        let Some((_, schema)) = untyped.history().question(&by) else { return Ok(()) };
        if untyped.history().answer(&by).is_some() {
            return Ok(());
        }
        if let Err(reason) = fits(&schema, &answer) {
            tracing::warn!(run = %untyped.run(), question = %by, reason, "dropping an answer that does not fit the question's schema");
            return Ok(());
        }
        if let Some(record_writer) = self.record_writer() {
            record_writer.write(Entry::Answered { by: by.clone(), letter, answer: answer.clone().into() }).await?;
        }
        if let Some(node) = self.net().node_named(&by.node) {
            // Unparked here, because its task is notified only below: from now on the run does not wait for this person.
            untyped.idle().leave(Execution { node, visit: by.visit, attempt: by.attempt });
        }
        untyped.history().answered(by, answer);
        untyped.notify_answered();
        Ok(())
    }

    async fn take_message(&mut self, letter: u64, name: &str, message: Encoded) -> Result<(), JournalError> {
        let net = self.net();
        let untyped = self.shared.untyped();
        // Dropped: the run has reached its exit, and only waits for reports.
        if self.frontier.has_ended() {
            return Ok(());
        }
        let Some(node) = net.node_named(name).filter(|node| net.row(*node).kind == NodeKind::Event) else {
            tracing::warn!(run = %untyped.run(), node = name, "dropping a message: the graph has no such event node");
            return Ok(());
        };
        let place = net.node(node).first_place;
        let token = match self.shared.graph_type().read_token(place, &message) {
            Ok(token) => token,
            Err(Unreadable { path, reason }) => {
                tracing::warn!(run = %untyped.run(), node = name, at = path, error = reason, "dropping a message that does not parse");
                return Ok(());
            }
        };
        // Decided by the state of the run at this moment; when the run is resumed, the record decides.
        let missed = net.row(node).transient && !self.frontier.awaits(node);
        if let Some(record_writer) = self.record_writer() {
            let entry = Entry::Received { node: name.to_owned(), letter, message: message.into(), missed };
            record_writer.write(entry).await?;
        }
        untyped.emit_rare(EventKind::Message { node: net.name(node).into(), missed });
        if let Some(recorded) = self.recorded.as_mut().filter(|_| !missed) {
            recorded.mailbox.push_back((node, token));
        }
        Ok(())
    }

    /// Updates what handlers see of the letters and of the waiting messages.
    pub(crate) fn note_mail(&self) {
        if let Some(recorded) = &self.recorded {
            self.shared.untyped().mail().note(recorded.letters, recorded.mailbox.len());
        }
    }

    /// Sends the messages of an execution.
    pub(crate) async fn post(&mut self, by: &By, messages: &[MessageRecord]) -> Result<(), JournalError> {
        let Some(record_writer) = self.record_writer() else { return Ok(()) };
        let journal = record_writer.journal.clone();
        post(&*journal, self.shared.untyped().run(), by, messages).await
    }

    /// Starts to handle the next message, if the run is at a safe point.
    pub(crate) async fn handle_messages(&mut self) -> Result<(), End> {
        while self.has_mail()
            && self.handling().is_none()
            && !self.frontier.executions().any(|execution| keeps_waiting(self.net(), execution.node))
        {
            if self.frontier.has_ended() {
                // After the exit a message cannot change anything (rule 13).
                self.recorded.iter_mut().for_each(|recorded| recorded.mailbox.clear());
                self.note_mail();
            } else if let Some((node, message)) = self.recorded.as_mut().and_then(|it| it.mailbox.pop_front()) {
                self.note_mail();
                self.handle(node, message).await?;
            }
        }
        Ok(())
    }

    /// Starts the event node. If the node has handled as many messages as it may, the message takes the exhausted route
    /// instead.
    async fn handle(&mut self, node: NodeIndex, message: ErasedToken) -> Result<(), End> {
        let (execution, exhausted) = self.frontier.enter_beside(node);
        self.recorded.iter_mut().for_each(|recorded| recorded.handling = Some(execution));
        let Some(limit) = exhausted else {
            self.start(execution, message);
            return Ok(());
        };
        let now = self.shared.untyped().now();
        self.shared.untyped().emit_started(execution, now);
        let result = Ok(self.exhausted_event(execution, limit, message)?);
        self.absorb(Completed { execution, result, now }, Elapsed::default()).await
    }

    /// The exhausted route of a message beyond the event node's bounds.
    fn exhausted_event(&self, execution: Execution, limit: Limit, message: ErasedToken) -> Result<ErasedDone, End> {
        let untyped = self.untyped();
        let node = untyped.node(execution);
        untyped.emit_rare(EventKind::NodeExhausted(node));
        let step = caught_now(|| self.shared.graph_type().exhausted(execution.node, limit, message));
        let failed = |failure| self.failed(execution, failure, Elapsed::default());
        match step.map_err(|panic| failed(panicked(self.net(), execution, panic)))? {
            Some(step @ Step::One(..)) => Ok(ErasedDone { route: Ok(step), effects: Effects::default() }),
            _ => Err(failed(beyond_bounds(self.net(), execution, limit))),
        }
    }
}
