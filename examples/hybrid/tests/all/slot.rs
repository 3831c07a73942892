//! Directories for stages, taken and given back.
//!
//! Builds know a worktree by its path and keep its artefacts, about twenty megabytes a run. Tests that begin where an
//! earlier one has left replace its artefacts instead of piling up their own.

use crate::artefacts::place;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A directory that nobody else uses, in this process or another, until this is dropped.
pub(crate) struct Slot {
    directory: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
}

impl Slot {
    /// The first free one, empty.
    pub(crate) fn take() -> Self {
        let slots = place().join("stages");
        fs::create_dir_all(&slots).unwrap();
        for number in 1.. {
            let lock = File::create(slots.join(format!("{number}.lock"))).unwrap();
            if lock.try_lock().is_ok() {
                let directory = slots.join(number.to_string());
                let slot = Self { directory, _lock: lock };
                slot.clear();
                fs::create_dir(&slot.directory).unwrap();
                return slot;
            }
        }
        unreachable!("there are as many slots as are wanted")
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.directory
    }

    fn clear(&self) {
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory).unwrap();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // What a failed test has left is for whoever wants to look.
        if !std::thread::panicking() {
            self.clear();
        }
    }
}
