//! Looks up protocols: in a project's directory, then among those embedded in this crate.

use crate::embedded::{self, EMBEDDED};
use crate::file::{LIMITS, ProtocolFile};
use crate::name::ProtocolName;
use interlocking_document::Problems;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The directory of a project's protocols, relative to its root.
pub const DIRECTORY: &str = ".claude/protocols";

/// Looks up protocols: in a project's directory, then among those embedded in this crate. A project's file takes precedence over
/// an embedded protocol of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    directory: Option<PathBuf>,
}

/// An available protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The protocol's name.
    pub name: ProtocolName,
    /// The project's file; `None` for a protocol embedded in this crate.
    pub file: Option<PathBuf>,
}

/// Why a protocol's file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no protocol of that name.
    #[error("there is no protocol `{name}`{}{}", looked_in(path), maybe(nearest))]
    Unknown {
        /// The name.
        name: ProtocolName,
        /// The path at which the project's file of that name would be.
        path: Option<PathBuf>,
        /// The available protocols.
        available: Vec<ProtocolName>,
        /// The available protocol with the most similar name, if it is similar enough.
        nearest: Option<ProtocolName>,
    },
    /// A file or the directory exists but cannot be read.
    #[error("{} cannot be read", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a protocol.
    #[error(transparent)]
    File(#[from] Problems),
}

impl Library {
    /// A library of only the protocols embedded in this crate.
    pub const fn embedded() -> Self {
        Self { directory: None }
    }

    /// A library of the protocols in the [`DIRECTORY`] of the project at `root`, and those embedded in this crate.
    pub fn of_project(root: impl AsRef<Path>) -> Self {
        Self { directory: Some(root.as_ref().join(DIRECTORY)) }
    }

    /// A library of the protocols of the project that contains `place`: see [`project_root`].
    pub fn discover(place: impl AsRef<Path>) -> Self {
        Self::of_project(project_root(place.as_ref()))
    }

    /// The available protocols, sorted by name.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`] if the project's directory exists but cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, ReadError> {
        let embedded = EMBEDDED.iter().filter_map(|(name, _)| Some((name.parse().ok()?, None)));
        let mut listed: BTreeMap<ProtocolName, Option<PathBuf>> = embedded.collect();
        if let Some(directory) = &self.directory {
            let failed = |source| ReadError::Io { path: directory.clone(), source };
            let entries = match std::fs::read_dir(directory) {
                Err(error) if is_absent(&error) => None,
                entries => Some(entries.map_err(failed)?),
            };
            for entry in entries.into_iter().flatten() {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".yaml"));
                // A file whose name is not a protocol's name cannot be asked for, so it is not listed.
                let Some(Ok(name)) = name.map(str::parse::<ProtocolName>) else { continue };
                if path.is_file() {
                    listed.insert(name, Some(path));
                }
            }
        }
        Ok(listed.into_iter().map(|(name, file)| Listed { name, file }).collect())
    }

    /// Reads a protocol's file as written.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if there is no such protocol, or its file is invalid or cannot be read.
    pub fn read(&self, name: &ProtocolName) -> Result<ProtocolFile, ReadError> {
        let path = self.directory.as_ref().map(|directory| directory.join(name.file_name()));
        if let Some(path) = &path
            && let Some(content) = content_of(path)?
        {
            return Ok(ProtocolFile::parse(&path.display().to_string(), &content)?);
        }
        if let Some(text) = embedded::text_of(name.as_str()) {
            return Ok(ProtocolFile::parse(&format!("embedded:{}", name.file_name()), text.as_bytes())?);
        }
        let available: Vec<_> = self.list()?.into_iter().map(|listed| listed.name).collect();
        let nearest = interlocking_document::nearest(name.as_str(), available.iter().map(ProtocolName::as_str));
        let nearest = nearest.and_then(|nearest| nearest.parse().ok());
        Err(ReadError::Unknown { name: name.clone(), path, available, nearest })
    }
}

/// Reads a file, up to one byte more than the limit; `None` if the file does not exist.
fn content_of(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let read = || {
        // Reading a pipe would block.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
        }
        LIMITS.read(path)
    };
    match read() {
        Ok(content) => Ok(Some(content)),
        // A link that leads nowhere is there.
        Err(error) if is_absent(&error) && std::fs::symlink_metadata(path).is_err() => Ok(None),
        Err(source) => Err(ReadError::Io { path: path.to_owned(), source }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The root of the project that contains `place`: the nearest of `place` and its ancestors that has a [`DIRECTORY`] or is the
/// root of a git worktree; `place` itself if there is none.
pub fn project_root(place: &Path) -> PathBuf {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    for directory in place.ancestors() {
        if directory.join(DIRECTORY).is_dir() || is_worktree_root(directory) {
            return directory.to_owned();
        }
    }
    place
}

/// Whether a directory is the root of a git worktree. Like git, this ignores a directory `.git` that contains no repository.
pub(crate) fn is_worktree_root(directory: &Path) -> bool {
    let git = directory.join(".git");
    git.is_file() || std::fs::symlink_metadata(git.join("HEAD")).is_ok()
}

fn looked_in(path: &Option<PathBuf>) -> String {
    path.as_ref().map_or_else(String::new, |path| format!(": {} does not exist", path.display()))
}

fn maybe(nearest: &Option<ProtocolName>) -> String {
    nearest.as_ref().map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"))
}
