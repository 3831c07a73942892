//! The options that select the journal.

use crate::error::CommandError;
use crate::text::shell_word;
use clap::{Args, ValueEnum};
use interlocking_sqlite::{Durability, SqliteJournal, private};
use std::fs;
use std::io;
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
            refuse_tracked(&directory)?;
            let made = private::make_restricted_directory(&directory).and_then(|()| ignore_all(&directory));
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
        self.require_exists()?;
        SqliteJournal::open(self.directory().0).map_err(CommandError::of_journal)
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
        let (directory, is_default) = self.directory();
        if is_default {
            refuse_tracked(&directory)?;
        }
        // A damaged journal exists: opening it reports the damage. One of which only the log is left is damaged.
        if ["journal.db", "journal.db-wal"].iter().any(|name| directory.join(name).exists()) {
            return Ok(());
        }
        let error = CommandError::new("there is no journal").at(directory.display().to_string());
        Err(error.remedy(format!("start a run, or name the directory of a journal with --journal DIR or ${VARIABLE}")))
    }
}

/// Keeps the conversations with agents from being committed by accident: writes the directory's `.gitignore`, unless it
/// says something.
fn ignore_all(directory: &Path) -> io::Result<()> {
    let path = directory.join(".gitignore");
    match fs::symlink_metadata(&path) {
        // A process was killed before it had written the file.
        Ok(found) if found.is_file() && found.len() == 0 => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found.map(|_| ()),
    }
    private::write_file(&path, "*\n")
}

/// Refuses a default directory in which git tracks files: everything that is read there would be believed, and whoever
/// commits to the repository could write it.
#[cfg_attr(not(feature = "repository"), expect(unused_variables, reason = "nothing but the database is believed"))]
fn refuse_tracked(directory: &Path) -> Result<(), CommandError> {
    #[cfg(feature = "repository")]
    {
        let other = format!("name another directory with --journal DIR or ${VARIABLE}");
        let place = directory.display().to_string();
        match interlocking_worktree::Repository::tracks(directory) {
            Ok(false) => {}
            Ok(true) => {
                let what = "git tracks files in the default directory of the journal, so that whoever commits to the \
                            repository could write there";
                let forget = format!("let git forget them: git rm -r --cached {place}");
                let remedy = format!("{other}, or, if these files are yours, {forget}");
                return Err(CommandError::new(what).at(place).remedy(remedy));
            }
            Err(error) => {
                let remedy = format!("{other}: {place}, if what is there is yours");
                return Err(CommandError::from(error).at(place).remedy(remedy));
            }
        }
    }
    Ok(())
}
