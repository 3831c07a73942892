//! Letters, which other programs send to a run: a person's answer, a message, a request to cancel it.

use crate::journal::Encoded;
use crate::journal::record::By;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};

/// A letter to a run. The journal keeps it beside the run's records until the run receives it, which is recorded. Programs make
/// letters: no fields are added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// A journal accepts one letter per key for each run, and any number of letters without a key.
    /// Keys of the form `message … of run …` are the runtime's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The content.
    pub body: LetterBody,
}

impl Letter {
    /// The key of the message that an execution of `run` sends as its `nth`. So none is sent twice while the journal has the run.
    pub(crate) fn message_key(nth: usize, by: &By, run: &RunId) -> String {
        format!("message {nth} of {by} of run {run}")
    }

    /// The run that has sent this message from one of its nodes, according to its key; `None` if it was sent from elsewhere.
    pub fn sender(&self) -> Option<&str> {
        self.key.as_deref()?.strip_prefix("message ")?.rsplit_once(" of run ").map(|(_, run)| run)
    }
}

/// The content of a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "letter", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LetterBody {
    /// A person's answer to a question of the run.
    Answer {
        /// The execution that asked.
        to: By,
        /// The answer.
        answer: Encoded,
    },
    /// A message for an event node.
    Message {
        /// The node.
        node: String,
        /// The message.
        message: Encoded,
    },
    /// A request to cancel the run.
    Cancel,
}

/// A letter with its number. Journals make these: no fields are added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// The letter's number, which is higher than that of every earlier letter to the same run.
    pub number: u64,
    /// The letter.
    pub letter: Letter,
}
