//! File locks of the operating system, which are released when their process ends.
//!
//! The system releases such a lock when the last copy of the file descriptor is closed. A child process that another
//! thread is just starting has a copy of every open file until its `exec`, so only closing the file would leave it
//! locked for that long.

use std::{
    fs::{File, TryLockError},
    ops::Deref,
};

/// A locked file. Dropping it unlocks it, even if another process has a copy of the descriptor.
#[derive(Debug)]
pub(crate) struct LockedFile(File);

impl LockedFile {
    /// Locks a file, waiting if it is locked.
    pub(crate) fn wait_for(file: File) -> std::io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }

    /// Locks a file, unless it is locked.
    pub(crate) fn take(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(file))
    }

    /// Takes over a file that the caller has locked.
    pub(crate) fn locked(file: File) -> Self {
        Self(file)
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it.
        let _ = self.0.unlock();
    }
}
