//! What a program prints at the end of a run.

use crate::exit::Exit;
use interlocking_core::graph::{Stored, Value};
use interlocking_runtime::{Outcome, Report};
use serde::Serialize;

/// What a program prints at the end of a run, and its exit code.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The program's exit code.
    pub exit: Exit,
    /// The result for the next program: JSON text, printed on standard output. `None` prints no result.
    pub result: Option<String>,
    /// Lines for people, in place of the usual lines about the outcome. An empty string prints nothing: the program has printed
    /// all of it itself.
    pub summary: Option<String>,
}

impl Ending {
    /// The default ending: the run's output as the result, if the run finished.
    ///
    /// # Errors
    ///
    /// If the output cannot be serialized.
    pub fn of<O: Value>(report: &Report<O>) -> Result<Self, serde_json::Error> {
        let exit = Exit::of_outcome(report.outcome.name());
        match &report.outcome {
            Outcome::Finished(output) => Self::with_result(exit, &Stored(output)),
            _ => Ok(Self { exit, result: None, summary: None }),
        }
    }

    /// An ending with a result and an exit code.
    ///
    /// # Errors
    ///
    /// If the result cannot be serialized.
    pub fn with_result(exit: Exit, result: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(Self { exit, result: Some(serde_json::to_string_pretty(result)?), summary: None })
    }
}
