//! What others send to a run: a person's answer, a message, the wish that it ends.

use crate::journal::Encoded;
use crate::journal::record::By;
use serde::{Deserialize, Serialize};

/// What others send to a run. It lies in the journal beside the run's records until the run takes it up, which is a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// A run takes one letter of each key and no more; without a key, as many as come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it says.
    pub body: LetterBody,
}

/// What a letter says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "letter", rename_all = "snake_case")]
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
    /// The run shall end now.
    Cancel,
}

/// A letter that has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posted {
    /// Its number: higher than that of every letter to the same run that came before it.
    pub number: u64,
    /// The letter.
    pub letter: Letter,
}
