//! Where a run is, for the process that takes it up: a file beside the journal, there for as long as the run has anything on
//! disk.
//!
//! What a run has done is in its journal. This is what is true of one machine alone: directories, and who plays the agents.

use crate::cli::Players;
use hybrid::toolchain::Toolchain;
use interlocking::cli::{Exit, Start, Style, Trouble, private};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where a run is. All paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whereabouts {
    /// The run's own directory: worktrees, and the demonstration's repository.
    pub(crate) directory: PathBuf,
    /// What is removed when the run is over: the run's own directory, or the temporary one that was made for it.
    pub(crate) removed: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) is_demonstration: bool,
    pub(crate) branch: String,
    pub(crate) toolchain: Toolchain,
    pub(crate) players: Players,
    pub(crate) keep: bool,
    /// Where the result is written to, too.
    pub(crate) result: Option<PathBuf>,
}

impl Whereabouts {
    /// Where its worktrees are.
    pub(crate) fn worktrees(&self) -> PathBuf {
        self.directory.join("worktrees")
    }

    /// Writes them down, for a run that begins.
    pub(crate) fn write(&self, start: &Start) -> Result<(), Trouble> {
        let path = path(start);
        let written = write_new(&path, &serde_json::to_vec_pretty(self)?);
        written.map_err(|error| {
            let is_taken = error.kind() == io::ErrorKind::AlreadyExists;
            let trouble = Trouble::from(error).at(path.display().to_string());
            if is_taken {
                trouble.remedy("a run of that name was about to begin when its process ended: choose another --run-id")
            } else {
                trouble.with_exit(Exit::Journal)
            }
        })
    }

    /// Those of a run that is taken up.
    pub(crate) fn read(start: &Start) -> Result<Self, Trouble> {
        let Some(read) = Self::find(start)? else {
            let trouble = Trouble::new(format!("nothing of `{}` is left to take up: it is over, or a fork", start.run));
            return Err(trouble.remedy(format!("`hybrid show {}` tells what it did", start.run)));
        };
        if !read.directory.is_dir() {
            let trouble = Trouble::new(format!("the directory of `{}` is gone, with its worktrees", start.run));
            let trouble = trouble.at(read.directory.display().to_string());
            return Err(trouble.remedy(format!("start it again, and remove {}", path(start).display())));
        }
        Ok(read)
    }

    /// Those of a run that may be over; none if it has nothing on disk.
    pub(crate) fn find(start: &Start) -> Result<Option<Self>, Trouble> {
        let path = path(start);
        let refused = |trouble: Trouble| trouble.at(path.display().to_string()).with_exit(Exit::Journal);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes.map_err(|error| refused(error.into()))?,
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| refused(error.into()))
    }

    /// Removes the directory of a run that is over, or says where it is.
    pub(crate) fn leave(&self, start: &Start, is_left_behind: bool) -> Result<(), Trouble> {
        if self.keep || is_left_behind {
            start.console.line(Style::Plain, &format!("Kept        {}", self.directory.display()));
            return Self::forget(start);
        }
        self.remove(start)
    }

    /// Removes what the run has on disk, and then the file.
    pub(crate) fn remove(&self, start: &Start) -> Result<(), Trouble> {
        remove(fs::remove_dir_all(&self.removed), &self.removed)?;
        Self::forget(start)
    }

    /// Removes the file alone: the run is over, and its directory is kept.
    fn forget(start: &Start) -> Result<(), Trouble> {
        let path = path(start);
        remove(fs::remove_file(&path), &path)?;
        // The last one's directory goes with it.
        if let Some(directory) = path.parent() {
            let _ = fs::remove_dir(directory);
        }
        Ok(())
    }
}

fn path(start: &Start) -> PathBuf {
    start.directory.join("hybrid").join(format!("{}.json", start.run))
}

/// All of it or nothing, and never over another one.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        private::close_directory(directory)?;
    }
    let mut file = private::file_options().write(true).create_new(true).open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn remove(removed: io::Result<()>, path: &Path) -> Result<(), Trouble> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Trouble::from(error).at(path.display().to_string()).with_exit(Exit::Output))
        }
        _ => Ok(()),
    }
}
