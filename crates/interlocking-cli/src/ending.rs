//! What a program says at the end of a run.

use crate::exit::Exit;
use interlocking_core::graph::{Stored, Value};
use interlocking_runtime::{Outcome, Report};
use serde::Serialize;

/// What a program says at the end of a run, in place of its outcome alone.
#[derive(Clone, Debug)]
pub struct Ending {
    /// How the program ends.
    pub exit: Exit,
    /// The result, for the next program: JSON text, printed on standard output. Nothing is where it is absent.
    pub result: Option<String>,
    /// The same in lines for people, in place of the usual ones that tell the outcome. Nothing is printed where it is empty:
    /// the program has said all by itself.
    pub summary: Option<String>,
}

impl Ending {
    /// What is said where the program says nothing else: the output, where there is one.
    ///
    /// # Errors
    ///
    /// Where the output cannot be serialized.
    pub fn of<O: Value>(report: &Report<O>) -> Result<Self, serde_json::Error> {
        let exit = Exit::of_outcome(report.outcome.name());
        match &report.outcome {
            Outcome::Finished(output) => Self::with_result(exit, &Stored(output)),
            _ => Ok(Self { exit, result: None, summary: None }),
        }
    }

    /// A result, and how the program ends with it.
    ///
    /// # Errors
    ///
    /// Where the result cannot be serialized.
    pub fn with_result(exit: Exit, result: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self { exit, result: Some(serde_json::to_string_pretty(result)?), summary: None })
    }
}
