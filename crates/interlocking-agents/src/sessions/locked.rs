//! A file whose lock is given back at once.

use std::fs::File;

/// A locked file, until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked(pub(crate) File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing would do, but for a program that is just being started and has the file until it runs.
        if let Err(error) = self.0.unlock() {
            tracing::debug!(%error, "a lock is given back by closing its file");
        }
    }
}
