//! Shows other processes that somebody has a run's workspaces: a file in the run's directory, which the system locks for as long.

use std::fs::File;

/// Locked by whoever has the run's workspaces.
pub(crate) const ALIVE: &str = ".run";

/// The file, locked. Dropped, it is unlocked, though a process that another thread is just starting has a copy of it.
pub(crate) struct Alive(File);

impl Alive {
    /// The lock of a file that this process has locked.
    pub(crate) fn new(file: File) -> Self {
        Self(file)
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked when it is closed.
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
        // As a process that another thread is just starting has it.
        let copy = file.try_clone().unwrap();
        let alive = Alive(file);
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(alive);
        File::open(&path).unwrap().try_lock().unwrap();
        drop(copy);
    }
}
