//! The opened directory of a registry.
//!
//! An agent's program may be able to write to the directory, and to exchange it for a link. What is opened stays the same, so that
//! this process makes and changes no file elsewhere. On systems without a sandbox, an agent can do that by itself.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use interlocking_sandbox::regular_file;
use uuid::Uuid;

use crate::sessions::state_directory::make_private;

/// The beginning of the names of files that are not complete. No session's file has such a name.
const INCOMPLETE: &str = ".place-";

/// An opened directory. Its files are found by their names in it, and links are not followed.
#[derive(Debug)]
pub(super) struct OpenDirectory(#[cfg(unix)] File, #[cfg(not(unix))] std::path::PathBuf);

impl OpenDirectory {
    /// Opens a directory, which is created if it does not exist.
    pub(super) fn make(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_private(path)?;
                Self::open(path)
            }
            opened => opened,
        }
    }

    /// Reads a file of at most so many bytes.
    pub(super) fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        regular_file::read_open(self.file(name)?, most)
    }

    /// The length of a file in bytes. None if there is no file.
    pub(super) fn length(&self, name: &str) -> io::Result<Option<u64>> {
        match self.file(name).and_then(|file| file.metadata()) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a file, which gets its name only when it is complete. A file of that name is kept, unless it is `replaced`.
    pub(super) fn write(&self, name: &str, contents: &[u8], replaced: bool) -> io::Result<()> {
        let new = format!("{INCOMPLETE}{}", Uuid::new_v4().simple());
        let written = self.file_or_new(&new).and_then(|mut file| file.write_all(contents));
        let named = written.and_then(|()| if replaced { self.rename(&new, name) } else { self.link(&new, name) });
        // After a renaming there is none.
        let _ = self.remove(&new);
        match named {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
impl OpenDirectory {
    /// Opens a directory that exists.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        crate::sessions::state_directory::open_unlinked(path).map(Self)
    }

    /// Opens a file for reading and writing, which is created if it does not exist.
    pub(super) fn file_or_new(&self, name: &str) -> io::Result<File> {
        regular_file::open_or_make_at(&self.0, name.as_ref())
    }

    fn file(&self, name: &str) -> io::Result<File> {
        regular_file::open_at(&self.0, name.as_ref())
    }

    fn rename(&self, old: &str, new: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, old, &self.0, new)?)
    }

    fn link(&self, old: &str, new: &str) -> io::Result<()> {
        use rustix::io::Errno;
        match rustix::fs::linkat(&self.0, old, &self.0, new, rustix::fs::AtFlags::empty()) {
            // Some file systems have no links.
            Err(error) if error != Errno::EXIST => self.rename(old, new),
            linked => Ok(linked?),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, rustix::fs::AtFlags::empty())?)
    }
}

#[cfg(not(unix))]
impl OpenDirectory {
    /// Opens a directory that exists.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        crate::sessions::state_directory::refuse_link(path)?;
        std::fs::metadata(path).map(|_| Self(path.to_owned()))
    }

    /// Opens a file for reading and writing, which is created if it does not exist.
    pub(super) fn file_or_new(&self, name: &str) -> io::Result<File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        regular_file::open_with(&self.0.join(name), &mut options, regular_file::Links::Refused)
    }

    fn file(&self, name: &str) -> io::Result<File> {
        regular_file::open(&self.0.join(name), regular_file::Links::Refused)
    }

    fn rename(&self, old: &str, new: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(old), self.0.join(new))
    }

    fn link(&self, old: &str, new: &str) -> io::Result<()> {
        std::fs::hard_link(self.0.join(old), self.0.join(new))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }
}
