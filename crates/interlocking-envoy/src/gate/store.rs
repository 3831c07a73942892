//! The store of decisions: a file in the repository's git directory, shared by its worktrees and part of no commit.

use crate::gate::decisions::Decisions;
use interlocking_sandbox::regular_file::{self, Links};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why decisions cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read or written.
    #[error("{} cannot be read or written", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file does not contain decisions.
    #[error("{} does not hold the decisions of a variants gate: move it away, and decide again", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The most bytes of the file: more than the decisions of any repository have.
const MOST_BYTES: u64 = 16 << 20;

/// The decisions of a repository, locked until this is dropped: other processes wait.
pub(crate) struct Store {
    path: PathBuf,
    // The system releases the lock when the file is closed, also if the process dies.
    _lock: File,
}

/// The directory and the file.
fn paths(common_directory: &Path) -> (PathBuf, PathBuf) {
    let directory = common_directory.join("interlocking");
    let path = directory.join("envoy-variants.json");
    (directory, path)
}

/// The decisions of a repository. They are not locked, and the repository may be read-only: the file is replaced as a whole.
pub(crate) fn read(common_directory: &Path) -> Result<Decisions, StoreError> {
    load(&paths(common_directory).1)
}

fn load(path: &Path) -> Result<Decisions, StoreError> {
    // An agent can put anything in its place.
    match regular_file::read(path, Links::Refused, MOST_BYTES) {
        Ok(content) => {
            serde_json::from_slice(&content).map_err(|source| StoreError::Content { path: path.to_owned(), source })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Decisions::default()),
        Err(source) => Err(StoreError::Io { path: path.to_owned(), source }),
    }
}

impl Store {
    /// Opens the store; waits until no other process holds it.
    pub(crate) fn open(common_directory: &Path) -> Result<Self, StoreError> {
        let (directory, path) = paths(common_directory);
        let lock = || {
            std::fs::create_dir_all(&directory)?;
            let mut options = File::options();
            options.create(true).truncate(false).read(true).write(true);
            let lock = regular_file::open_with(&path.with_extension("lock"), &mut options, Links::Refused)?;
            lock.lock()?;
            Ok(lock)
        };
        match lock() {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    pub(crate) fn load(&self) -> Result<Decisions, StoreError> {
        load(&self.path)
    }

    /// Saves the decisions atomically.
    pub(crate) fn save(&self, decisions: &Decisions) -> Result<(), StoreError> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let write = || {
            let mut new = tempfile::NamedTempFile::new_in(directory)?;
            new.write_all(&serde_json::to_vec_pretty(decisions)?)?;
            new.as_file().sync_data()?;
            new.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|source| StoreError::Io { path: self.path.clone(), source })
    }
}
