//! The options that select the journal.

use crate::error::CommandError;
use crate::text::shell_word;
use clap::{Args, ValueEnum};
use interlocking_sqlite::{Durability, SqliteJournal, private};
use std::path::{Path, PathBuf};

/// The environment variable that names the journal's directory if `--journal` is not given.
pub(crate) const VARIABLE: &str = "INTERLOCKING_JOURNAL";

/// The journal's directory if neither is given: relative to the directory in which the program is started.
const DEFAULT: &str = ".interlocking";

/// Which journal the commands work on.
#[derive(Clone, Debug, Args)]
pub(crate) struct JournalArguments {
    /// The journal's directory [default: $INTERLOCKING_JOURNAL, or `.interlocking`]
    #[arg(long, help_heading = "Journal", value_name = "DIR")]
    journal: Option<PathBuf>,
}

/// What a record that was acknowledged survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DurabilityArgument {
    /// The loss of power.
    Full,
    /// The end of the process, but not of the system.
    Relaxed,
}

impl JournalArguments {
    /// The journal's directory, and whether it is the default one.
    pub(crate) fn directory(&self) -> (PathBuf, bool) {
        let said = self.journal.clone().or_else(|| {
            let variable = std::env::var_os(VARIABLE).filter(|value| !value.is_empty());
            variable.map(PathBuf::from)
        });
        match said {
            Some(directory) => (directory, false),
            None => (PathBuf::from(DEFAULT), true),
        }
    }

    /// Opens the journal to record a run in it. Creates the journal if it does not exist.
    pub(crate) fn open_or_make(
        &self,
        durability: DurabilityArgument,
    ) -> Result<(SqliteJournal, PathBuf), CommandError> {
        let (directory, is_default) = self.directory();
        if is_default {
            let is_new = !directory.exists();
            let made = private::make_restricted_directory(&directory).and_then(|()| match is_new {
                // Keeps the conversations with agents from being committed by accident.
                true => private::write_file(&directory.join(".gitignore"), "*\n"),
                false => Ok(()),
            });
            made.map_err(|error| {
                let error = CommandError::from(error).at(directory.display().to_string());
                error.remedy("give a directory that can be written with --journal DIR").with_exit(crate::Exit::Journal)
            })?;
        }
        let durability = match durability {
            DurabilityArgument::Full => Durability::Full,
            DurabilityArgument::Relaxed => Durability::Relaxed,
        };
        let journal = SqliteJournal::options().durability(durability).open(&directory);
        Ok((journal.map_err(CommandError::of_journal)?, directory))
    }

    /// Opens the journal to read it.
    pub(crate) fn open(&self) -> Result<SqliteJournal, CommandError> {
        let (directory, _) = self.directory();
        require_exists(&directory)?;
        SqliteJournal::open(&directory).map_err(CommandError::of_journal)
    }

    /// What to append to a shell command so that the command finds the same journal.
    pub(crate) fn words(&self) -> String {
        match &self.journal {
            Some(directory) => format!(" --journal {}", shell_word(&directory.to_string_lossy())),
            None => String::new(),
        }
    }

    /// Fails if the journal does not exist.
    pub(crate) fn require_exists(&self) -> Result<(), CommandError> {
        require_exists(&self.directory().0)
    }
}

fn require_exists(directory: &Path) -> Result<(), CommandError> {
    // A damaged journal exists: opening it reports the damage.
    if directory.is_dir() {
        return Ok(());
    }
    let error = CommandError::new("there is no journal").at(directory.display().to_string());
    Err(error.remedy(format!("start a run, or name the directory of a journal with --journal DIR or ${VARIABLE}")))
}
