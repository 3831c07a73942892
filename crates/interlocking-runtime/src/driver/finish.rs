//! How a run ends: what its end comes to, and its last records.

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
    /// Records the end, unless a journal of the tree has failed: then the run can be resumed. So it can if its end cannot
    /// be recorded, for nobody would find that again.
    pub(crate) async fn finish(&mut self, end: Result<AnyValue, End>) -> Outcome<AnyValue> {
        let end = self.journal_is_well().and(end);
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

    /// What an end comes to, why it failed if it did, and whether it is for good; abandons what is left.
    fn outcome(&mut self, end: Result<AnyValue, End>) -> (Outcome<AnyValue>, Option<Failure>, bool) {
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
        // What the run goes on with when it is resumed has not ended.
        let left = if ended { EventKind::NodeCancelled } else { EventKind::NodeSuspended };
        for stopped in self.frontier.abandon() {
            let node = self.shared.untyped().node(stopped);
            // What failed has ended by itself, and said so.
            if failure.as_ref().is_none_or(|failure| failure.node != node.node) {
                self.shared.untyped().tell(left(node));
            }
        }
        (outcome, failure, ended)
    }

    /// The output as the journal has it, where it is not what came to the exit.
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

    /// Writes what has been spent and not recorded, and then how the run ended, if it did.
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

    /// What a run that can be resumed ends as.
    fn halted(&self, halt: Halt) -> Outcome<AnyValue> {
        match halt {
            Halt::Suspended => Outcome::Suspended,
            Halt::Waiting(questions) => Outcome::Waiting { questions },
            Halt::Journal(error) => Outcome::JournalFailed(error),
            // By now it may have used more: what was under way came to its end first.
            Halt::Stopped(stopped) => self.shared.untyped().settings.stopped().unwrap_or(stopped).into(),
        }
    }
}
