//! The error of a command: what is wrong, what to do about it, and the causes.

use crate::exit::Exit;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt;

/// Why a command failed or was refused.
#[derive(Debug)]
pub(crate) struct CommandError {
    what: String,
    remedy: Option<String>,
    causes: Vec<String>,
    exit: Exit,
}

impl CommandError {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: None, causes: Vec::new(), exit: Exit::Refused }
    }

    #[must_use]
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    #[must_use]
    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// The JSON object that `--json` prints: `{"error": {"what", "remedy", "causes", "exit"}}`.
    pub(crate) fn to_json(&self) -> Value {
        let Self { what, remedy, causes, exit } = self;
        json!({ "error": { "what": what, "remedy": remedy, "causes": causes, "exit": exit.code() } })
    }
}

impl<E: Error> From<E> for CommandError {
    fn from(error: E) -> Self {
        let mut converted = Self::new(error.to_string());
        let causes = std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
        converted.causes = causes.filter(|cause| *cause != converted.what).collect();
        converted
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        for cause in &self.causes {
            write!(f, "\n  caused by: {cause}")?;
        }
        match &self.remedy {
            Some(remedy) => write!(f, "\n  to do: {remedy}"),
            None => Ok(()),
        }
    }
}
