//! Files of a checkout. An agent may have written them, and a command that ran in the checkout may have replaced a file, or a
//! directory above it, by a link. So a file is reached from the checkout through one open directory after another, without following
//! links, each time that it is read or written.

use interlocking_sandbox::regular_file;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest file that is read, in bytes: longer than any source file.
const LONGEST: u64 = 8 * 1024 * 1024;

/// A regular file of a checkout.
#[derive(Debug)]
pub(crate) struct CheckoutFile {
    checkout: PathBuf,
    /// The names of the directories from the checkout to the file.
    directories: Vec<OsString>,
    name: OsString,
    permissions: Permissions,
}

impl CheckoutFile {
    /// Finds a file by its path relative to the checkout. An agent may have chosen the path and written what is there.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if the path leads out of the checkout, through a link, or to anything but a regular file;
    /// otherwise the system's error.
    pub(crate) fn find(checkout: &Path, path: &str) -> io::Result<Self> {
        let mut directories = Vec::new();
        for component in Path::new(path).components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => directories.push(name.to_owned()),
                _ => return Err(no_file()),
            }
        }
        let name = directories.pop().ok_or_else(no_file)?;
        let permissions = reached::open(checkout, &directories, &name)?.metadata()?.permissions();
        Ok(Self { checkout: checkout.to_owned(), directories, name, permissions })
    }

    /// The file's text.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`], and [`io::ErrorKind::InvalidData`] if the file is not UTF-8 or is longer than 8 MiB.
    pub(crate) fn read(&self) -> io::Result<String> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let file = reached::open(&self.checkout, &self.directories, &self.name)?;
        let bytes = regular_file::read_open(file, LONGEST).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => io::Error::new(io::ErrorKind::InvalidData, "it is longer than 8 MiB"),
            _ => error,
        })?;
        String::from_utf8(bytes).map_err(invalid)
    }

    /// Puts a new file with this text in the place of the file, whatever is there now. No existing file is written to.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if a directory above the file is none any more; otherwise the system's error.
    fn write(&self, text: &str) -> io::Result<()> {
        reached::replace(&self.checkout, &self.directories, &self.name, text, &self.permissions)
    }

    /// The absolute path of the file, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.directories.iter().fold(self.checkout.clone(), |path, name| path.join(name)).join(&self.name)
    }
}

/// A file that has another text for a while. It is restored at the latest when this guard is dropped.
#[must_use = "the file is restored when this is dropped"]
pub(crate) struct Change<'a> {
    file: &'a CheckoutFile,
    original: &'a str,
    is_restored: bool,
}

impl<'a> Change<'a> {
    /// Changes a file from one text to another.
    ///
    /// # Errors
    ///
    /// As for [`CheckoutFile::write`].
    pub(crate) fn make(file: &'a CheckoutFile, original: &'a str, changed: &str) -> io::Result<Self> {
        file.write(changed)?;
        Ok(Self { file, original, is_restored: false })
    }

    /// Restores the file.
    ///
    /// # Errors
    ///
    /// As for [`CheckoutFile::write`].
    pub(crate) fn restore(mut self) -> io::Result<()> {
        self.is_restored = true;
        self.file.write(self.original)
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        if !self.is_restored {
            // A caller that can handle a failure calls `restore`, which returns it.
            let _ = self.file.write(self.original);
        }
    }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no file of the checkout, relative to it and without links")
}

#[cfg(unix)]
mod reached {
    use super::*;
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, renameat, unlinkat};
    use rustix::io::Errno;
    use std::ffi::OsStr;
    use std::io::Write;
    use std::os::fd::OwnedFd;

    pub(super) fn open(checkout: &Path, directories: &[OsString], name: &OsStr) -> io::Result<File> {
        let directory = directory(checkout, directories)?;
        regular_file::open_at(directory, name).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => no_file(),
            _ => error,
        })
    }

    pub(super) fn replace(
        checkout: &Path,
        directories: &[OsString],
        name: &OsStr,
        text: &str,
        permissions: &Permissions,
    ) -> io::Result<()> {
        let directory = directory(checkout, directories)?;
        let temporary = format!(".{}", uuid::Uuid::new_v4());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut new = File::from(openat(&directory, &temporary, flags, Mode::RUSR | Mode::WUSR)?);
        let replaced = new
            .write_all(text.as_bytes())
            .and_then(|()| new.set_permissions(permissions.clone()))
            .and_then(|()| Ok(renameat(&directory, &temporary, &directory, name)?));
        if replaced.is_err() {
            let _ = unlinkat(&directory, &temporary, AtFlags::empty());
        }
        replaced
    }

    fn directory(checkout: &Path, names: &[OsString]) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = openat(CWD, checkout, flags, Mode::empty())?;
        for name in names {
            let inside = openat(&directory, name.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty());
            directory = inside.map_err(|error| match error {
                Errno::NOTDIR | Errno::LOOP | Errno::MLINK => no_file(),
                error => error.into(),
            })?;
        }
        Ok(directory)
    }
}

/// By path, on systems whose programs are not confined.
#[cfg(not(unix))]
mod reached {
    use super::*;
    use std::ffi::OsStr;

    fn path(checkout: &Path, directories: &[OsString], name: &OsStr) -> io::Result<PathBuf> {
        let mut path = checkout.to_owned();
        for directory in directories {
            path.push(directory);
            if !path.symlink_metadata()?.is_dir() {
                return Err(no_file());
            }
        }
        Ok(path.join(name))
    }

    pub(super) fn open(checkout: &Path, directories: &[OsString], name: &OsStr) -> io::Result<File> {
        let path = path(checkout, directories, name)?;
        if !path.symlink_metadata()?.is_file() {
            return Err(no_file());
        }
        regular_file::open(&path, regular_file::Links::Refused)
    }

    pub(super) fn replace(
        checkout: &Path,
        directories: &[OsString],
        name: &OsStr,
        text: &str,
        _: &Permissions,
    ) -> io::Result<()> {
        let path = path(checkout, directories, name)?;
        std::fs::remove_file(&path)?;
        std::fs::write(&path, text)
    }
}
