//! The lock that shows other processes that this one has a run's workspaces: a file in the run's directory, which the
//! operating system locks until the process ends or releases it. The executor of a run has a shared lock, and whoever
//! looks at what is left of a run has it alone.

use std::fs::File;

/// The name of the file, which the process that has the run's workspaces locks.
pub(crate) const ALIVE: &str = ".run";

/// The locked file. Dropping it unlocks the file, even if a process that another thread is just starting has a copy of
/// the descriptor.
pub(crate) struct Alive(File);

impl Alive {
    /// The lock of a file that this process has locked.
    pub(crate) fn new(file: File) -> Self {
        Self(file)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        let _ = self.0.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_over_is_found_although_a_copy_of_its_lock_is_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(ALIVE);
        let file = File::create(&path).unwrap();
        file.try_lock().unwrap();
        // Like the copy in a process that another thread is just starting.
        let copy = file.try_clone().unwrap();
        let alive = Alive(file);
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(alive);
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }
}
