//! What a program says at the end of a run.

use crate::exit::Exit;
use interlocking_runtime::Report;
use serde::Serialize;
use serde_json::Value;

/// What a program says at the end of a run, in place of its outcome alone.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How the program ends.
    pub exit: Exit,
    /// The result, for the next program: printed as JSON on standard output. Nothing is where it is absent.
    pub result: Option<Value>,
    /// The same in lines for people: printed as messages, in place of the usual line that tells the outcome.
    pub summary: Option<String>,
}

impl Ending {
    /// What is said where the program says nothing else: the output, where there is one.
    ///
    /// # Errors
    ///
    /// Where the output cannot be serialized.
    pub fn of<O: Serialize>(report: &Report<O>) -> Result<Self, serde_json::Error> {
        let result = match &report.outcome {
            interlocking_runtime::Outcome::Finished(output) => Some(serde_json::to_value(output)?),
            _ => None,
        };
        Ok(Self { exit: Exit::of_outcome(report.outcome.name()), result, summary: None })
    }
}
