//! What is kept of each run beside its journal: one value, and a directory. The journal has what a run has done; this is for what is true
//! of one machine alone.

use interlocking::cli::private;
use interlocking::run_id::RunId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a run's value and its directory are.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// The program's own directory beside the journal.
    all: PathBuf,
    run: RunId,
}

impl Beside {
    /// Those of a run of `program`, whose journal is in `journal`.
    pub(crate) fn new(journal: &Path, program: &str, run: &RunId) -> Self {
        Self { all: journal.join(program), run: run.clone() }
    }

    /// The runs of `program` of which there is a value.
    pub(crate) fn runs(journal: &Path, program: &str) -> io::Result<Vec<RunId>> {
        let mut runs = Vec::new();
        let entries = match fs::read_dir(journal.join(program)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(runs),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name();
            let run = name.to_str().and_then(|name| name.strip_suffix(".json"));
            runs.extend(run.and_then(|run| run.parse().ok()));
        }
        Ok(runs)
    }

    /// The file that has the value.
    pub(crate) fn file(&self) -> PathBuf {
        self.all.join(format!("{}.json", self.run))
    }

    /// The directory. It may not be there.
    pub(crate) fn directory(&self) -> PathBuf {
        self.all.join(self.run.as_str())
    }

    /// Makes the directory, closed to others.
    pub(crate) fn make_directory(&self) -> io::Result<()> {
        private::close_directory(&self.all)?;
        private::close_directory(&self.directory())
    }

    /// The value; none if there is none.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        match fs::read(self.file()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            bytes => Ok(Some(serde_json::from_slice(&bytes?)?)),
        }
    }

    /// Writes the value, all of it or nothing, and never over another one.
    pub(crate) fn write_new<T: Serialize>(&self, value: &T) -> io::Result<()> {
        private::close_directory(&self.all)?;
        let (path, bytes) = (self.file(), serde_json::to_vec_pretty(value)?);
        let mut file = private::file_options().write(true).create_new(true).open(&path)?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_all());
        if written.is_err() {
            let _ = fs::remove_file(path);
        }
        written
    }

    /// Writes the value in place of the one that is there, as a whole.
    pub(crate) fn replace<T: Serialize>(&self, value: &T) -> io::Result<()> {
        private::close_directory(&self.all)?;
        let (path, bytes) = (self.all.join(format!(".{}.json.new", self.run)), serde_json::to_vec_pretty(value)?);
        let mut file = private::create_file(&path)?;
        file.write_all(&bytes).and_then(|()| file.sync_all())?;
        fs::rename(path, self.file())
    }

    /// Removes the directory and what is in it.
    pub(crate) fn clear(&self) -> io::Result<()> {
        gone(fs::remove_dir_all(self.directory()))?;
        // The last one's goes with it.
        let _ = fs::remove_dir(&self.all);
        Ok(())
    }

    /// Removes both.
    pub(crate) fn forget(&self) -> io::Result<()> {
        gone(fs::remove_file(self.file()))?;
        self.clear()
    }
}

/// What is not there need not be removed.
pub(crate) fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
