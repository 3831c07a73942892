//! Questions that wait for people, and whether an answer fits.

use crate::journal::By;
use interlocking_agents::Schema;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The run that asks: the root run or one of its descendants.
    pub run: RunId,
    /// The execution that asks.
    pub by: By,
    /// The question.
    pub question: Value,
    /// The JSON schema of an answer.
    pub schema: Value,
}

/// Checks an answer against its question's schema. The error says why it does not fit.
pub(crate) fn fits(schema: &str, answer: &str) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let schema = serde_json::from_str(schema).map_err(|error| said(&error))?;
    let answer = serde_json::from_str(answer).map_err(|error| said(&error))?;
    let violations = Schema::new(schema).map_err(|error| said(&error))?.violations(&answer);
    if violations.is_empty() {
        Ok(())
    } else {
        Err(violations.iter().map(|violation| format!("{violation}; ")).collect())
    }
}
