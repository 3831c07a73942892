//! What is stored of each run beside the journal: a value in a file, and a directory. The journal records what a run has done;
//! these hold what is true on one machine only.

use crate::error::CommandError;
use crate::exit::Exit;
use interlocking_core::run_id::RunId;
use interlocking_sqlite::private;
use interlocking_worktree::delete_directory;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The paths of a run's value and directory.
#[derive(Clone, Debug)]
pub(crate) struct RunFile {
    /// The program's own directory beside the journal.
    all: PathBuf,
    program: &'static str,
    run: RunId,
}

/// The file is there, but does not have a value of this version of the program.
#[derive(Debug, Error)]
#[error("the facts of run `{run}` cannot be read: another version may have written them")]
struct Unreadable {
    run: RunId,
    source: serde_json::Error,
}

impl RunFile {
    /// The paths for a run of `program`, whose journal is in `journal`.
    pub(crate) fn new(journal: &Path, program: &'static str, run: &RunId) -> Self {
        Self { all: journal.join(program), program, run: run.clone() }
    }

    /// The paths of all runs of `program` that have a value.
    pub(crate) fn all(journal: &Path, program: &'static str) -> Result<Vec<Self>, CommandError> {
        let (mut runs, directory) = (Vec::new(), journal.join(program));
        let unreadable = |error| CommandError::from(error).at(directory.display().to_string()).with_exit(Exit::Journal);
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
            entries => entries.map_err(unreadable)?,
        };
        for entry in entries {
            let name = entry.map_err(unreadable)?.file_name();
            let run = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let run = run.and_then(|run| run.parse().ok());
            runs.extend(run.map(|run| Self::new(journal, program, &run)));
        }
        Ok(runs)
    }

    /// The run.
    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }

    /// The path of the file with the value.
    pub(crate) fn path(&self) -> PathBuf {
        self.all.join(format!("{}.json", self.run))
    }

    /// The path of the directory, which may not exist.
    pub(crate) fn directory(&self) -> PathBuf {
        self.all.join(self.run.as_str())
    }

    /// Creates the directory, private to the user.
    pub(crate) fn make_directory(&self) -> io::Result<()> {
        private::make_restricted_directory(&self.all)?;
        private::make_restricted_directory(&self.directory())
    }

    /// Reads the value; `None` if it does not exist.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, CommandError> {
        let read = match fs::read(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(CommandError::from),
        };
        let read = read.and_then(|bytes| {
            serde_json::from_slice(&bytes).map_err(|source| {
                CommandError::from(Unreadable { run: self.run.clone(), source }).remedy(self.remedy(&self.run))
            })
        });
        read.map(Some).map_err(|error| error.at(self.path().display().to_string()).with_exit(Exit::Journal))
    }

    /// What the user can do if the file that `resumed` is resumed by is gone, or cannot be used.
    pub(crate) fn remedy(&self, resumed: &RunId) -> String {
        format!(
            "bring the file back from a copy of the journal's directory, or start it again; `{} show {resumed}` tells what it did",
            self.program
        )
    }

    /// Fails if the value exists.
    pub(crate) fn require_absent(&self) -> Result<(), CommandError> {
        if fs::symlink_metadata(self.path()).is_ok() { Err(self.taken()) } else { Ok(()) }
    }

    /// Writes the value. Fails if the file exists, and removes the file if writing fails.
    pub(crate) fn write_new<T: Serialize>(&self, value: &T) -> Result<(), CommandError> {
        self.try_write_new(value).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => self.taken(),
            _ => CommandError::from(error).at(self.path().display().to_string()).with_exit(Exit::Journal),
        })
    }

    fn taken(&self) -> CommandError {
        let taken = CommandError::new(format!("there is a file of a run `{}` that is not in the journal", self.run));
        taken.at(self.path().display().to_string()).remedy(
            "there was a run of that name, of which a fork may be left, or a process is about to execute one: choose another \
             --run-id, or remove the file if neither is so",
        )
    }

    fn try_write_new<T: Serialize>(&self, value: &T) -> io::Result<()> {
        private::make_restricted_directory(&self.all)?;
        let (path, bytes) = (self.path(), serde_json::to_vec_pretty(value)?);
        let mut file = private::file_options().write(true).create_new(true).open(&path)?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }

    /// Replaces the value atomically.
    pub(crate) fn replace<T: Serialize>(&self, value: &T) -> Result<(), CommandError> {
        let replaced = || {
            private::make_restricted_directory(&self.all)?;
            let (path, bytes) = (self.all.join(format!(".{}.json.new", self.run)), serde_json::to_vec_pretty(value)?);
            let mut file = private::create_file(&path)?;
            file.write_all(&bytes).and_then(|()| file.sync_all())?;
            fs::rename(path, self.path())
        };
        replaced()
            .map_err(|error| CommandError::from(error).at(self.path().display().to_string()).with_exit(Exit::Output))
    }

    /// Removes the directory and its contents.
    pub(crate) fn clear(&self) -> Result<(), CommandError> {
        remove_directory(&self.directory())?;
        // Succeeds only for the last run, when the program's directory is empty.
        let _ = fs::remove_dir(&self.all);
        Ok(())
    }

    /// Removes the file and the directory.
    pub(crate) fn forget(&self) -> Result<(), CommandError> {
        remove_file(&self.path())?;
        self.clear()
    }
}

/// Removes a directory and its contents, whatever permissions an agent's programs have given them.
pub(crate) fn remove_directory(path: &Path) -> Result<(), CommandError> {
    let deleted = delete_directory(path);
    deleted.map_err(|error| CommandError::from(error).at(path.display().to_string()).with_exit(Exit::Output))
}

/// Removes a file, if it is there.
pub(crate) fn remove_file(path: &Path) -> Result<(), CommandError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CommandError::from(error).at(path.display().to_string()).with_exit(Exit::Output))
        }
        _ => Ok(()),
    }
}
