//! A file whose lock is released at once when it is dropped.

use std::fs::File;

/// A locked file. The lock is released when this is dropped.
#[derive(Debug)]
pub(crate) struct Locked(pub(crate) File);

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file would release the lock as well, but not while a child that is being started still has the
        // file open.
        if let Err(error) = self.0.unlock() {
            tracing::debug!(%error, "a lock is given back by closing its file");
        }
    }
}
