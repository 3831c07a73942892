//! Keeps a scripted agent's state in a file, so that sessions outlive the process, as with real agents.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::stage::Stage;

/// Why a memory file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MemoryError {
    /// The memory file cannot be read or written.
    #[error("the memory file {}: {reason}", file.display())]
    File {
        /// The memory file.
        file: PathBuf,
        /// The error message of the operating system.
        reason: String,
    },
    /// The file is not a memory file.
    #[error("{} is not a scripted agent's memory: {reason}", file.display())]
    Malformed {
        /// The memory file.
        file: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// The memory file belongs to another script.
    #[error("{} remembers a script of {remembered} turns, this one has {turns}; remove the file to start over", file.display())]
    OtherScript {
        /// The memory file.
        file: PathBuf,
        /// The number of turns of the other script.
        remembered: usize,
        /// The number of turns of this script.
        turns: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct Contents<S> {
    turns: usize,
    stage: S,
}

/// Reads the state from the file; a new state if there is no file yet.
pub(super) fn load(file: &Path, turns: usize) -> Result<Stage, MemoryError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let stage = Stage::new(turns);
            save(file, &stage)?;
            return Ok(stage);
        }
        Err(error) => return Err(unusable(file, &error)),
    };
    let contents: Contents<Stage> = serde_json::from_str(&text)
        .map_err(|error| MemoryError::Malformed { file: file.to_owned(), reason: error.to_string() })?;
    let remembered = contents.turns;
    if remembered != turns || contents.stage.turns() != turns {
        return Err(MemoryError::OtherScript { file: file.to_owned(), remembered, turns });
    }
    Ok(contents.stage.for_new_process())
}

/// Replaces the file as a whole, so that the old file remains if the process is killed meanwhile.
pub(super) fn save(file: &Path, stage: &Stage) -> Result<(), MemoryError> {
    let contents = serde_json::to_vec(&Contents { turns: stage.turns(), stage })
        .map_err(|error| MemoryError::Malformed { file: file.to_owned(), reason: error.to_string() })?;
    // Only this user can read the file.
    let replace = || -> std::io::Result<()> {
        let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
        let mut beside = tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
        beside.write_all(&contents)?;
        beside.persist(file)?;
        Ok(())
    };
    replace().map_err(|error| unusable(file, &error))
}

fn unusable(file: &Path, error: &std::io::Error) -> MemoryError {
    MemoryError::File { file: file.to_owned(), reason: error.to_string() }
}
