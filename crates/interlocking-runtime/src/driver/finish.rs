//! How a run ends: its outcome, and its last records.

use crate::driver::Driver;
use crate::driver::end::{End, at_exit};
use crate::erased::graph_type::AnyValue;
use crate::event::EventKind;
use crate::execution::interruption::encode_caught;
use crate::journal::{Entry, JournalError, RecordedPayload};
use crate::run::outcome::Outcome;
use crate::tree::Halt;
use interlocking_core::failure::{Failure, FailureKind};

impl Driver {
    /// Records the end, unless a journal of the tree has failed: then the run can be resumed. The run can also be resumed if
    /// its end cannot be recorded, because no other process would find that end.
    pub(crate) async fn finish(&mut self, end: Result<AnyValue, End>) -> Outcome<AnyValue> {
        let end = self.check_journal().and(end);
        let (mut outcome, mut failure, ended) = self.outcome(end);
        let output = self.reported_output(&outcome).unwrap_or_else(|error| {
            failure = Some(at_exit(FailureKind::Journal, error.to_string(), Vec::new()));
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
        self.untyped().emit_ended(outcome.name());
        outcome
    }

    /// The outcome of an end, its failure if it has one, and whether the end is final; abandons the executions that are left.
    fn outcome(&mut self, end: Result<AnyValue, End>) -> (Outcome<AnyValue>, Option<Failure>, bool) {
        let outcome = match end {
            Ok(output) => Outcome::Finished(output),
            Err(End::Failed(failure)) => Outcome::Failed(*failure),
            Err(End::Cancelled) => Outcome::Cancelled,
            Err(End::Halted(halt)) => self.halted(halt),
            Err(End::ChildStopped) => Outcome::Suspended,
        };
        let (failure, ended) = match &outcome {
            Outcome::Failed(failure) => (Some(failure.clone()), true),
            Outcome::Finished(_) | Outcome::Cancelled => (None, true),
            _ => (None, false),
        };
        // Executions that start again when the run is resumed are suspended, not cancelled.
        let left = if ended { EventKind::NodeCancelled } else { EventKind::NodeSuspended };
        // An event node that handles a message is beside the frontier.
        let handling = self.recorded.as_mut().and_then(|recorded| recorded.handling.take());
        for stopped in self.frontier.abandon().into_iter().chain(handling) {
            let node = self.shared.untyped().node(stopped);
            // The failed execution has ended by itself, and its failure was emitted.
            if failure.as_ref().is_none_or(|failure| failure.node != node.node) {
                self.shared.untyped().emit_rare(left(node));
            }
        }
        (outcome, failure, ended)
    }

    /// The encoded output for the journal, where it differs from the payload that reached the exit.
    fn reported_output(&self, outcome: &Outcome<AnyValue>) -> Result<Option<RecordedPayload>, JournalError> {
        match outcome {
            Outcome::Finished(output) if self.recorded.is_some() && self.net().features().reports => {
                let json = encode_caught(|| self.shared.graph_type().encode_output(output));
                let unstorable = |error: serde_json::Error| JournalError::Encoding {
                    what: "the output".to_owned(),
                    reason: error.to_string(),
                };
                json.map(|json| Some(json.into())).map_err(unstorable)
            }
            _ => Ok(None),
        }
    }

    /// Records the usage that was not recorded yet, and then how the run ended, if it did.
    async fn write_end(&mut self, ended: Option<Entry>) -> Result<(), JournalError> {
        let Some(record_writer) = self.record_writer() else { return Ok(()) };
        let untyped = self.shared.untyped();
        for execution in untyped.unrecorded() {
            let calls = untyped.calls_of(execution);
            record_writer.write(Entry::Spent { by: untyped.by(execution), calls }).await?;
        }
        match ended {
            Some(entry) => record_writer.write(entry).await,
            None => Ok(()),
        }
    }

    /// The outcome of a run that can be resumed.
    fn halted(&self, halt: Halt) -> Outcome<AnyValue> {
        match halt {
            Halt::Suspended => Outcome::Suspended,
            Halt::Waiting(questions) => Outcome::Waiting { questions },
            Halt::Journal(error) => Outcome::JournalFailed(error),
            // The run may have used more by now, because the calls in progress ended first.
            Halt::Stopped(stopped) => self.shared.untyped().settings.stopped().unwrap_or(stopped).into(),
        }
    }
}
