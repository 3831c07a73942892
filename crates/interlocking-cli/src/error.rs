//! The error of a command: what is wrong, where, what to do about it, and the causes.

use crate::console::{Console, Style};
use crate::exit::Exit;
use clap::builder::StyledStr;
use interlocking_core::failure::Failure;
use interlocking_runtime::StartError;
use interlocking_runtime::journal::JournalError;
use interlocking_runtime::journal::answer::AnswerError;
use interlocking_runtime::journal::fork::ForkError;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt;

/// Why a command failed or was refused.
///
/// Any error becomes a `CommandError` by `?`, with its causes and the exit code of a refusal, [`Exit::Usage`].
/// [`of_journal`](Self::of_journal) gives the error of a journal its own exit code.
#[derive(Debug)]
pub struct CommandError(Box<Details>);

#[derive(Debug)]
struct Details {
    what: String,
    place: Option<String>,
    remedy: Option<String>,
    causes: Vec<String>,
    exit: Exit,
}

impl CommandError {
    /// An error that says what was refused and why, with [`Exit::Usage`].
    pub fn new(what: impl Into<String>) -> Self {
        let (place, remedy, causes) = Default::default();
        Self(Box::new(Details { what: what.into(), place, remedy, causes, exit: Exit::Usage }))
    }

    /// An interrupt ended the command, before it changed anything.
    pub(crate) fn interrupted() -> Self {
        Self::new("interrupted").with_exit(Exit::Stopped)
    }

    /// Sets the program's exit code.
    #[must_use]
    pub fn with_exit(mut self, exit: Exit) -> Self {
        self.0.exit = exit;
        self
    }

    /// Adds where the error is: a file and line, an option, a directory.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.0.place = Some(place.into());
        self
    }

    /// Adds what the operator can do about the error.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.0.remedy = Some(remedy.into());
        self
    }

    /// The program's exit code.
    pub fn exit(&self) -> Exit {
        self.0.exit
    }

    /// The JSON object that `--json` prints: `{"error": {"what", "where", "remedy", "causes", "exit"}}`.
    pub fn to_json(&self) -> Value {
        let Details { what, place, remedy, causes, exit } = &*self.0;
        json!({ "error": { "what": what, "where": place, "remedy": remedy, "causes": causes, "exit": exit.code() } })
    }

    /// Prints the error as a message: as JSON if the operator wants JSON, and as lines otherwise.
    pub(crate) fn tell(&self, console: &Console, json: bool) {
        match json {
            true => console.line(Style::Plain, &self.to_json().to_string()),
            false => console.line(Style::Bad, &format!("error: {self}")),
        }
    }

    pub(crate) fn of_clap(error: &clap::Error) -> Self {
        let shown: StyledStr = error.render();
        let shown = shown.to_string();
        Self::new(shown.trim_end().trim_start_matches("error: "))
    }

    pub(crate) fn of_start(error: StartError) -> Self {
        match error {
            StartError::Entry(error) => Self::of_journal(error),
            StartError::Replay { .. } | StartError::Payload { .. } => Self::from(error).with_exit(Exit::Journal),
            error => Self::from(error),
        }
    }

    /// The error of a journal, with its causes: [`Exit::Journal`] if the journal cannot be used, [`Exit::Usage`] if it has refused
    /// what was asked, such as a run that does not exist.
    pub fn of_journal(error: JournalError) -> Self {
        let exit = match &error {
            JournalError::NoRun { .. } | JournalError::OutOfOrder { .. } | JournalError::Encoding { .. } => Exit::Usage,
            _ => Exit::Journal,
        };
        Self::from(error).with_exit(exit)
    }

    pub(crate) fn of_answer(error: AnswerError) -> Self {
        match error {
            AnswerError::Journal(error) => Self::of_journal(error),
            error => Self::from(error),
        }
    }

    pub(crate) fn of_fork(error: ForkError) -> Self {
        match error {
            ForkError::Journal(error) => Self::of_journal(error),
            error => Self::from(error),
        }
    }
}

impl<E: Error> From<E> for CommandError {
    fn from(error: E) -> Self {
        let mut converted = Self::new(error.to_string());
        let causes = std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
        // An error that only wraps another has the same message.
        converted.0.causes = causes.filter(|cause| *cause != converted.0.what).collect();
        converted
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { what, place, remedy, causes, .. } = &*self.0;
        f.write_str(what)?;
        if let Some(place) = place {
            write!(f, "\n  at: {place}")?;
        }
        for cause in causes {
            write!(f, "\n  caused by: {cause}")?;
        }
        match remedy {
            Some(remedy) => write!(f, "\n  to do: {remedy}"),
            None => Ok(()),
        }
    }
}

/// A run's failure as lines, with its chain of causes.
pub(crate) fn failure_lines(failure: &Failure) -> String {
    if failure.node != interlocking_core::table::EXIT {
        return failure.to_string();
    }
    // The run itself failed, not a node.
    let causes = failure.causes.iter().map(|cause| format!("\n  caused by: {cause}"));
    std::iter::once(failure.message.clone()).chain(causes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes() {
        let number = "x".parse::<u8>().unwrap_err();
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the port is none")
            }
        }
        impl Error for Outer {
            fn source(&self) -> Option<&(dyn Error + 'static)> {
                Some(&self.0)
            }
        }
        let error = CommandError::from(Outer(number)).at("ports.toml:3").remedy("write a number");
        expect_test::expect![[r#"
            the port is none
              at: ports.toml:3
              caused by: invalid digit found in string
              to do: write a number"#]]
        .assert_eq(&error.to_string());
        expect_test::expect![[r#"{"error":{"causes":["invalid digit found in string"],"exit":2,"remedy":"write a number","what":"the port is none","where":"ports.toml:3"}}"#]]
        .assert_eq(&error.to_json().to_string());
    }
}
