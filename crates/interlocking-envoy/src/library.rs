//! Where protocols are looked up: a project's own directory, then those that come with this crate.

use crate::embedded::{self, EMBEDDED};
use crate::file::{LIMITS, ProtocolFile};
use crate::name::ProtocolName;
use interlocking_document::Problems;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Where a project keeps its protocols, below its root.
pub const DIRECTORY: &str = ".claude/protocols";

/// Where protocols are looked up: a project's own directory, then those that come with this crate. A project's file wins
/// over one of the same name that comes along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    directory: Option<PathBuf>,
}

/// A protocol that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Its name.
    pub name: ProtocolName,
    /// The project's file; none where it is one that comes with this crate.
    pub file: Option<PathBuf>,
}

/// Why a protocol's file cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is none of that name.
    #[error("there is no protocol `{name}`{}{}", looked_in(path), maybe(nearest))]
    Unknown {
        /// The name asked for.
        name: ProtocolName,
        /// Where the project's file of that name would be.
        path: Option<PathBuf>,
        /// Those that there are.
        available: Vec<ProtocolName>,
        /// The one that may be meant.
        nearest: Option<ProtocolName>,
    },
    /// A file, or the directory, is there and cannot be read.
    #[error("{} cannot be read", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no protocol.
    #[error(transparent)]
    File(#[from] Problems),
}

impl Library {
    /// Only the protocols that come with this crate.
    pub const fn embedded() -> Self {
        Self { directory: None }
    }

    /// The protocols of the project at `root`, in its [`DIRECTORY`], and those that come with this crate.
    pub fn of_project(root: impl AsRef<Path>) -> Self {
        Self { directory: Some(root.as_ref().join(DIRECTORY)) }
    }

    /// The protocols of the project that `place` is in: see [`project_root`].
    pub fn discover(place: impl AsRef<Path>) -> Self {
        Self::of_project(project_root(place.as_ref()))
    }

    /// The protocols that there are, ordered by name.
    ///
    /// # Errors
    ///
    /// [`ReadError::Io`] where the project's directory is there and cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, ReadError> {
        let come_along = EMBEDDED.iter().filter_map(|(name, _)| Some((name.parse().ok()?, None)));
        let mut listed: BTreeMap<ProtocolName, Option<PathBuf>> = come_along.collect();
        if let Some(directory) = &self.directory {
            let failed = |source| ReadError::Io { path: directory.clone(), source };
            let entries = match std::fs::read_dir(directory) {
                Err(error) if is_absent(&error) => None,
                entries => Some(entries.map_err(failed)?),
            };
            for entry in entries.into_iter().flatten() {
                let path = entry.map_err(failed)?.path();
                let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".yaml"));
                // What cannot be asked for is not listed.
                let Some(Ok(name)) = name.map(str::parse::<ProtocolName>) else { continue };
                if path.is_file() {
                    listed.insert(name, Some(path));
                }
            }
        }
        Ok(listed.into_iter().map(|(name, file)| Listed { name, file }).collect())
    }

    /// One protocol's file as it is written.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
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
        let distance = |known: &&ProtocolName| strsim::damerau_levenshtein(known.as_str(), name.as_str());
        let nearest = available.iter().min_by_key(distance).filter(|known| distance(known) <= 3).cloned();
        Err(ReadError::Unknown { name: name.clone(), path, available, nearest })
    }
}

/// The bytes of a file, one more than a protocol may have at most; none where there is no file.
fn content_of(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let read = || {
        // A pipe would keep the reader waiting.
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
        }
        LIMITS.read(path)
    };
    match read() {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(source) => Err(ReadError::Io { path: path.to_owned(), source }),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The root of the project that `place` is in: the nearest directory above it, itself included, with a [`DIRECTORY`]; but
/// not above the git worktree that it is in, whose root it is otherwise. `place` itself where there is neither.
pub fn project_root(place: &Path) -> PathBuf {
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    for directory in place.ancestors() {
        if directory.join(DIRECTORY).is_dir() || is_worktree_root(directory) {
            return directory.to_owned();
        }
    }
    place
}

/// Whether a git worktree begins here. Git, too, passes by a directory `.git` in which is no repository.
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
