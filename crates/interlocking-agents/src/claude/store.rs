//! Where the program keeps its sessions.

use std::io;
use std::path::{Path, PathBuf};

use crate::session::SessionId;

/// The program's directory for everything of its own, sessions among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Store {
    directory: PathBuf,
}

/// There is nowhere to keep sessions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoreError {
    /// No home either.
    #[error("there is no place to keep sessions: set `config_directory`, or the variable HOME")]
    Nowhere,
    /// The directory cannot be made.
    #[error("the directory for sessions {} cannot be made: {reason}", directory.display())]
    NotMade {
        /// What was to be made.
        directory: PathBuf,
        /// The system's words.
        reason: String,
    },
}

impl Store {
    /// The directory that is set, or the default one: see [`ClaudeSettings`](super::ClaudeSettings).
    pub(super) fn new(set: Option<&Path>) -> Result<Self, StoreError> {
        let directory = match set {
            Some(directory) => std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()),
            None => state_directory().ok_or(StoreError::Nowhere)?.join("interlocking").join("claude"),
        };
        Ok(Self { directory })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory, for this user alone, if it is not there.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        private_directory(&self.directory).map_err(|error| {
            let (directory, reason) = (self.directory.clone(), error.to_string());
            StoreError::NotMade { directory, reason }
        })
    }

    /// Whether a session is written down. A hint: another version of the program may keep it elsewhere.
    pub(super) fn has(&self, session: &SessionId) -> bool {
        let Ok(projects) = std::fs::read_dir(self.directory.join("projects")) else { return false };
        let file = format!("{session}.jsonl");
        projects.flatten().any(|project| project.path().join(&file).exists())
    }
}

fn state_directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(target_os = "macos") {
        return Some(std::env::home_dir()?.join("Library").join("Application Support"));
    }
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    variable("XDG_STATE_HOME").or_else(|| Some(std::env::home_dir()?.join(".local").join("state")))
}

fn private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
