//! Files that are locked by the system for as long as somebody lives, or works.
//!
//! The system releases such a lock when the last copy of the open file is closed. A process that another thread is just
//! starting has a copy of every open file until it is another program, so whoever merely closes the file leaves it locked
//! for that long.

use std::{
    fs::{File, TryLockError},
    ops::Deref,
};

/// A locked file. Dropped, it is unlocked, whoever has a copy of it.
#[derive(Debug)]
pub(crate) struct Held(File);

impl Held {
    /// Locks a file, waiting for whoever has it.
    pub(crate) fn wait_for(file: File) -> std::io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }

    /// Locks a file, unless somebody has it.
    pub(crate) fn take(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(file))
    }

    /// A file that the caller has locked.
    pub(crate) fn locked(file: File) -> Self {
        Self(file)
    }
}

impl Deref for Held {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What cannot be unlocked is unlocked when it is closed.
        let _ = self.0.unlock();
    }
}
