//! Where the program keeps its sessions.

use std::io;
use std::path::{Path, PathBuf};

use crate::session::SessionId;
use crate::state_directory::state_directory;

/// The program's directory for everything of its own, sessions among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Store {
    directory: PathBuf,
    /// Nobody chose it, so nobody else uses it.
    is_own: bool,
}

/// There is nowhere to keep sessions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum StoreError {
    /// No home either.
    #[error("there is no place to keep sessions: set `home`, or the variable HOME")]
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
        Ok(Self { directory, is_own: set.is_none() })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory, for this user alone, if it is not there.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        private_directory(&self.directory, self.is_own).map_err(|error| {
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

#[cfg(unix)]
fn private_directory(directory: &Path, is_own: bool) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
    const PRIVATE: u32 = 0o700;
    std::fs::DirBuilder::new().recursive(true).mode(PRIVATE).create(directory)?;
    let mode = std::fs::metadata(directory)?.mode() & 0o777;
    // What somebody chose stays as it is, whoever may look at it.
    if is_own && mode != PRIVATE {
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(PRIVATE))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn private_directory(directory: &Path, _is_own: bool) -> io::Result<()> {
    std::fs::create_dir_all(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    fn mode(directory: &Path) -> Option<u32> {
        Some(std::fs::metadata(directory).ok()?.mode() & 0o777)
    }

    #[test]
    fn what_is_made_is_for_this_user_alone_and_what_was_chosen_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let (own, chosen) = (directory.path().join("state/own"), directory.path().join("chosen"));
        let store = Store { directory: own.clone(), is_own: true };
        store.make().unwrap();
        assert_eq!(mode(&own), Some(0o700));
        for directory in [&own, &chosen] {
            std::fs::create_dir_all(directory).unwrap();
            std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        store.make().unwrap();
        Store::new(Some(&chosen)).unwrap().make().unwrap();
        assert_eq!((mode(&own), mode(&chosen)), (Some(0o700), Some(0o755)));
    }

    #[test]
    fn a_session_is_found_whatever_its_place_was() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::new(Some(directory.path())).unwrap();
        let session = SessionId::new("0b1ce9f0-76cf-4d8a-9a6e-0d3a5f4a8e11").unwrap();
        assert!(!store.has(&session));
        std::fs::create_dir_all(directory.path().join("projects/-some-place")).unwrap();
        std::fs::write(directory.path().join(format!("projects/-some-place/{session}.jsonl")), "").unwrap();
        assert!(store.has(&session));
    }

    #[test]
    fn a_place_that_cannot_be_made_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Store::new(Some(&file.path().join("state"))).unwrap().make().unwrap_err();
        assert!(error.to_string().contains(&file.path().display().to_string()), "{error}");
    }
}
