//! Directories for stages, which are taken and given back.
//!
//! Builds identify a worktree by its path and keep its artefacts, about twenty megabytes for each run. Tests that
//! reuse a directory replace the artefacts there instead of adding more.

use crate::artefacts::place;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A directory that is used exclusively, across processes, until this is dropped.
pub(crate) struct Slot {
    directory: PathBuf,
    /// The lock, held while the file is open.
    _lock: File,
}

impl Slot {
    /// The first free directory, emptied.
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

    /// The path of the directory.
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
        // The files of a failed test are kept for inspection.
        if !std::thread::panicking() {
            self.clear();
        }
    }
}
