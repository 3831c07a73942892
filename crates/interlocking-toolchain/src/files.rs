//! Files of a checkout. An agent may have written them, and a command that ran in the checkout may have replaced a file, or a
//! directory above it, by a link. So a file is reached from the checkout through one open directory after another, without following
//! links, each time that it is read or written.

use interlocking_sandbox::regular_file;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Component, Path, PathBuf};

/// The longest file that is read, in bytes: longer than any source file.
const LONGEST: u64 = 8 * 1024 * 1024;

/// A regular file of a checkout.
#[derive(Debug)]
pub(crate) struct CheckoutFile {
    checkout: PathBuf,
    /// The file's path relative to the checkout, of names alone.
    path: PathBuf,
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
        let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
        let names = parts.map(|part| matches!(part, Component::Normal(_)).then_some(part));
        let path: PathBuf = names.collect::<Option<_>>().ok_or_else(no_file)?;
        let permissions = open(checkout, &path)?.metadata()?.permissions();
        Ok(Self { checkout: checkout.to_owned(), path, permissions })
    }

    /// The file's text.
    ///
    /// # Errors
    ///
    /// As for [`Self::find`], and [`io::ErrorKind::InvalidData`] if the file is not UTF-8 or is longer than 8 MiB.
    pub(crate) fn read(&self) -> io::Result<String> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let file = open(&self.checkout, &self.path)?;
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
        replace(&self.checkout, &self.path, text, &self.permissions)
    }

    /// The absolute path of the file, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.checkout.join(&self.path)
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

fn open(checkout: &Path, path: &Path) -> io::Result<File> {
    regular_file::open_below(checkout, path).map_err(no_file_if_another)
}

/// The error for a path that leads through a link or to something else, for the system's.
fn no_file_if_another(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::NotADirectory => no_file(),
        _ => error,
    }
}

#[cfg(unix)]
fn replace(checkout: &Path, path: &Path, text: &str, permissions: &Permissions) -> io::Result<()> {
    use rustix::fs::{AtFlags, Mode, OFlags, openat, renameat, unlinkat};
    use std::io::Write;
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Err(no_file()) };
    let directory = regular_file::directory_below(checkout, above).map_err(no_file_if_another)?;
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

/// By path, on systems whose programs are not confined.
#[cfg(not(unix))]
fn replace(checkout: &Path, path: &Path, text: &str, _: &Permissions) -> io::Result<()> {
    open(checkout, path)?;
    let path = checkout.join(path);
    std::fs::remove_file(&path)?;
    std::fs::write(&path, text)
}
