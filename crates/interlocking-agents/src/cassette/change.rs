//! Records what a call changed in its workspace, and applies the changes again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::error::{CassetteError, of_workspace};
use super::placeholders::{NoValue, Varying};
use super::snapshot::{Snapshot, mode};
use super::text::Text;
use crate::drivers::untrusted_files;

/// An entry of a workspace that a call has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    pub(super) path: WorkspacePath,
    /// The permissions of a file, in octal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<Mode>,
    pub(super) now: Now,
}

/// The state of the entry after the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Now {
    Text(Text),
    /// A file that is not UTF-8 text, in base64.
    Bytes(String),
    /// A link, with its target.
    Link(Text),
    /// An empty directory.
    Directory,
    Nothing,
}

/// A path that stays inside the workspace and outside of git's own directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct WorkspacePath(String);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Mode(u32);

/// A change that is ready to be applied.
#[derive(Debug)]
pub(super) struct Prepared {
    path: PathBuf,
    mode: Option<Mode>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    File(Vec<u8>),
    Link(PathBuf),
    Directory,
    Nothing,
}

/// Which part of a workspace is recorded, and how much of it.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// Names of entries that are left out, at any depth.
    pub(super) without: BTreeSet<OsString>,
    /// The limit for all changed files of a call together, in bytes. A larger file is not read.
    pub(super) limit: u64,
}

impl Scope {
    /// The workspace before a call.
    pub(super) fn take_snapshot(&self, workspace: Option<&Path>) -> Result<Snapshot, CassetteError> {
        let Some(workspace) = workspace else { return Ok(Snapshot::default()) };
        Snapshot::take(workspace, &self.without, self.limit)
    }

    /// What has changed since `before`: removed entries first, then the written ones in the order of their paths.
    pub(super) fn changes(
        &self,
        before: &Snapshot,
        workspace: Option<&Path>,
        varying: &Varying<'_>,
    ) -> Result<Vec<Change>, CassetteError> {
        let Some(workspace) = workspace else { return Ok(Vec::new()) };
        let found = before.compared_with(&Snapshot::take(workspace, &self.without, 0)?, workspace)?;
        self.weigh(workspace, &found.written)?;
        let mut changes = Vec::new();
        // Entries of a directory come before the directory itself.
        for path in found.removed.iter().rev() {
            changes.push(Change { path: WorkspacePath::of(path)?, mode: None, now: Now::Nothing });
        }
        for path in &found.written {
            let file = workspace.join(path);
            match read(&file, WorkspacePath::of(path)?, self.limit, varying) {
                Ok(change) => changes.push(change),
                // The file has gone since the snapshot: another process still works there, and the file is not a result
                // of the call.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(of_workspace(&file, error)),
            }
        }
        Ok(changes)
    }

    fn weigh(&self, workspace: &Path, written: &[PathBuf]) -> Result<(), CassetteError> {
        let size = |path: &&PathBuf| fs::symlink_metadata(workspace.join(path)).map_or(0, |metadata| metadata.len());
        let bytes = written.iter().map(|path| size(&path)).fold(0, u64::saturating_add);
        match written.iter().max_by_key(size) {
            Some(largest) if bytes > self.limit => {
                Err(CassetteError::TooLarge { bytes, limit: self.limit, largest: largest.clone() })
            }
            _ => Ok(()),
        }
    }
}

fn read(file: &Path, path: WorkspacePath, limit: u64, varying: &Varying<'_>) -> io::Result<Change> {
    let metadata = fs::symlink_metadata(file)?;
    if metadata.is_dir() {
        return Ok(Change { path, mode: None, now: Now::Directory });
    }
    if metadata.is_symlink() {
        let target = fs::read_link(file)?;
        let target = target.to_str().ok_or_else(|| io::Error::other("a link to a path that is no text"))?;
        return Ok(Change { path, mode: None, now: Now::Link(Text(varying.encoded(target))) });
    }
    // The file may have been replaced by a pipe since, or may be growing.
    let content = untrusted_files::read(file, limit.min(u64::MAX - 1))?;
    let now = match String::from_utf8(content) {
        Ok(text) => Now::Text(Text(varying.encoded(&text))),
        Err(error) => Now::Bytes(STANDARD.encode(varying.redacted(error.as_bytes()))),
    };
    Ok(Change { path, mode: Some(Mode(mode(&metadata))), now })
}

impl Change {
    /// The change, prepared for another run. [`validate`](Self::validate) has already refused invalid base64.
    pub(super) fn prepared(&self, varying: &Varying<'_>) -> Result<Prepared, NoValue> {
        let content = match &self.now {
            Now::Text(text) => Content::File(varying.decoded(&text.0)?.into_bytes()),
            Now::Bytes(encoded) => Content::File(STANDARD.decode(encoded).unwrap_or_default()),
            Now::Link(target) => Content::Link(varying.decoded(&target.0)?.into()),
            Now::Directory => Content::Directory,
            Now::Nothing => Content::Nothing,
        };
        Ok(Prepared { path: PathBuf::from(&self.path.0), mode: self.mode, content })
    }

    /// Whether the change can be applied; checked when a cassette is opened.
    pub(super) fn validate(&self) -> Result<(), String> {
        match &self.now {
            Now::Bytes(encoded) => {
                STANDARD.decode(encoded).map(drop).map_err(|error| format!("`{}`: {error}", self.path.0))
            }
            _ => Ok(()),
        }
    }
}

impl Prepared {
    /// Applies the change. Nothing is written through a link.
    pub(super) fn make(&self, workspace: &Path) -> Result<(), CassetteError> {
        let file = workspace.join(&self.path);
        let make = || -> io::Result<()> {
            self.refuse_links(workspace)?;
            match &self.content {
                // Removes whatever else is in the directory, because the directory was absent after the recorded call.
                Content::Nothing if file.is_dir() && !file.is_symlink() => return fs::remove_dir_all(&file),
                Content::Nothing => return remove(&file),
                Content::Directory => return fs::create_dir_all(&file),
                Content::File(_) | Content::Link(_) => {}
            }
            if let Some(directory) = file.parent() {
                fs::create_dir_all(directory)?;
            }
            if fs::symlink_metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
                remove(&file)?;
            }
            match &self.content {
                Content::File(content) => {
                    // A read-only file can still be replaced.
                    if fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.permissions().readonly()) {
                        remove(&file)?;
                    }
                    fs::write(&file, content)?;
                    self.permit(&file)
                }
                Content::Link(target) => {
                    remove(&file)?;
                    link(target, &file)
                }
                Content::Directory | Content::Nothing => Ok(()),
            }
        };
        make().map_err(|error| of_workspace(&file, error))
    }

    fn refuse_links(&self, workspace: &Path) -> io::Result<()> {
        let mut directory = workspace.to_owned();
        for component in self.path.parent().into_iter().flat_map(Path::components) {
            directory.push(component);
            if fs::symlink_metadata(&directory).is_ok_and(|metadata| metadata.is_symlink()) {
                let reason = format!("{} is a link, and what was recorded has a directory there", directory.display());
                return Err(io::Error::other(reason));
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    fn permit(&self, file: &Path) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt as _;
        self.mode.map_or(Ok(()), |Mode(mode)| fs::set_permissions(file, fs::Permissions::from_mode(mode)))
    }

    #[cfg(not(unix))]
    fn permit(&self, _file: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Removes the entry if it exists; a directory only if it is empty.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(unix)]
fn link(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link(_target: &Path, _link: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "links are made on Unix alone"))
}

impl WorkspacePath {
    fn of(path: &Path) -> Result<Self, CassetteError> {
        let text =
            path.to_str().ok_or_else(|| of_workspace(path, "its name is no text, and a cassette takes only text"))?;
        Self::try_from(text.to_owned()).map_err(|reason| of_workspace(path, reason))
    }
}

impl TryFrom<String> for WorkspacePath {
    type Error = String;

    fn try_from(path: String) -> Result<Self, String> {
        let is_inside = |component| match component {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        };
        if !path.is_empty() && Path::new(&path).components().all(is_inside) {
            Ok(Self(path))
        } else {
            Err(format!("`{path}` is no path inside a workspace and outside of git's own directory"))
        }
    }
}

impl From<WorkspacePath> for String {
    fn from(path: WorkspacePath) -> Self {
        path.0
    }
}

impl TryFrom<String> for Mode {
    type Error = String;

    fn try_from(digits: String) -> Result<Self, String> {
        match u32::from_str_radix(&digits, 8) {
            Ok(mode) if mode <= 0o777 => Ok(Self(mode)),
            _ => Err(format!("`{digits}` are no permissions: three octal digits")),
        }
    }
}

impl From<Mode> for String {
    fn from(mode: Mode) -> Self {
        format!("{:03o}", mode.0)
    }
}
