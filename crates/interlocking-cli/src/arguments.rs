//! The options of every command, and those of `run` and `resume`.

use crate::budgets::BudgetArguments;
use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::journal::{DurabilityArgument, JournalArguments};
use clap::Args;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::By;
use interlocking_sqlite::SqliteJournal;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What every command takes: `--journal` and `--json`.
#[derive(Clone, Debug, Args)]
pub struct CommonArguments {
    #[command(flatten)]
    pub(crate) journal: JournalArguments,

    /// Print the result as one JSON value, and errors too
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl CommonArguments {
    /// Opens the journal that the operator names, to read it.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the journal does not exist or cannot be read.
    pub fn open_journal(&self) -> Result<SqliteJournal, CommandError> {
        self.journal.open()
    }

    /// Opens the journal that the operator names, to record runs in it. Creates the journal if it does not exist.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the journal cannot be created, read or written.
    pub fn open_or_make_journal(&self) -> Result<SqliteJournal, CommandError> {
        Ok(self.journal.open_or_make(DurabilityArgument::Full)?.0)
    }

    /// Whether the operator wants JSON (`--json`).
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// What to append to a command of this program that is suggested to the operator, so that the command finds the same journal:
    /// ` --journal DIR`, quoted for a shell, or nothing if the option was not given.
    pub fn journal_words(&self) -> String {
        self.journal.words()
    }

    /// Prints a result: `value` as JSON if the operator wants JSON, and `text` otherwise.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the result cannot be written.
    pub fn print(
        &self,
        console: &Console,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        let text = if self.json { serde_json::to_string_pretty(value)? + "\n" } else { text() };
        console.print(&text)
    }
}

/// How a run is executed: what `run` and `resume` take, budgets, durability and `--events` among it.
#[derive(Clone, Debug, Args)]
pub struct ExecuteArguments {
    #[command(flatten)]
    pub(crate) common: CommonArguments,

    /// What each recorded step survives
    #[arg(long, value_enum, value_name = "WHAT", default_value = "full", help_heading = "Journal")]
    pub(crate) durability: DurabilityArgument,

    #[command(flatten)]
    pub(crate) budgets: BudgetArguments,

    /// Stay when the run waits for a person, and go on with the answer
    #[arg(long)]
    pub(crate) stay: bool,

    /// Go on where the isolation that the graph demands cannot be kept, with as much as there is
    #[arg(long)]
    pub(crate) accept_weaker_isolation: bool,

    /// Say nothing while the run goes on
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Write every event of the run to this file, one JSON object a line; a resumed run's are added to those in it
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
}

/// What `run` takes, beside the program's own.
#[derive(Clone, Debug, Args)]
pub(crate) struct RunArguments {
    /// The run's name, part of branch and directory names: lower-case letters, digits, inner hyphens [default: from
    /// the time]
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<RunId>,

    #[command(flatten)]
    pub(crate) execute: ExecuteArguments,
}

/// What `resume` takes, beside the program's own.
#[derive(Clone, Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The run's name
    #[arg(value_name = "RUN")]
    pub(crate) resumed: RunId,

    /// Resume a run that has failed, at the node that did, once what made it fail is put right
    #[arg(long)]
    pub(crate) retry: bool,

    #[command(flatten)]
    pub(crate) execute: ExecuteArguments,
}

/// A run's name made of the time and the process id, which tells apart runs that start in the same second.
pub(crate) fn default_run_id() -> Result<RunId, CommandError> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok(format!("run-{seconds}-{}", std::process::id()).parse()?)
}

/// Selects executions: `node`, `node.visit` or `node.visit.attempt`. A part that is absent matches any value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) node: String,
    pub(crate) visit: Option<u32>,
    pub(crate) attempt: Option<u32>,
}

impl Named {
    pub(crate) fn names(&self, by: &By) -> bool {
        self.node == by.node
            && self.visit.is_none_or(|visit| visit == by.visit)
            && self.attempt.is_none_or(|attempt| attempt == by.attempt)
    }
}

impl std::str::FromStr for Named {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("{text:?} names no execution: write NODE, NODE.VISIT or NODE.VISIT.ATTEMPT");
        let mut parts = text.split('.');
        let node = parts.next().filter(|node| !node.is_empty()).ok_or_else(refused)?.to_owned();
        let number = |part: &str| part.parse().ok().filter(|number| *number > 0).ok_or_else(refused);
        let visit = parts.next().map(number).transpose()?;
        let attempt = parts.next().map(number).transpose()?;
        if parts.next().is_some() { Err(refused()) } else { Ok(Self { node, visit, attempt }) }
    }
}

/// Whether errors are printed as JSON. Searches the unparsed arguments, as parsing them may be what fails.
pub(crate) fn wants_json(words: &[std::ffi::OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The last paragraphs of the program's help.
pub(crate) fn after_help() -> String {
    format!("{}\n\nThe result goes to standard output, all else to standard error. NO_COLOR is honoured.", Exit::help())
}
