//! Open directories, and operations on their entries by name.
//!
//! A program that works in a working tree can replace a directory with a link at any moment, so that a path leads
//! elsewhere than a moment before. A directory that is open stays the same. So a file is reached from the root through
//! one open directory after another, without following links. And only regular files are opened, so that a pipe cannot
//! block this process.

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

use gix::{
    bstr::{BStr, ByteSlice as _},
    index::entry::{Stat, stat::Time},
};
use rustix::{
    fs::{
        AtFlags, CWD, FileType, Mode, OFlags, fchmod, fstat, mkdirat, openat, readlinkat, statat, symlinkat, unlinkat,
    },
    io::Errno,
};

pub(crate) use crate::filesystem::deletion::DIRECTORY;
use crate::filesystem::entries::for_each_entry;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

/// The kind of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device: git does not track these, and opening one may block or have side effects.
    Other,
}

/// The metadata of an entry, read without opening it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryMetadata {
    pub(crate) kind: Kind,
    pub(crate) is_executable: bool,
    /// Whether its owner may read and write it, and its mode has no setuid, setgid or sticky bit.
    pub(crate) is_usual: bool,
    /// The size in bytes; the index stores its last 32 bits.
    pub(crate) size: u64,
    /// Whether it has other hard links, so that writing to one changes the others too.
    pub(crate) has_other_names: bool,
    pub(crate) stat: Stat,
}

impl EntryMetadata {
    fn of(found: &rustix::fs::Stat) -> Self {
        let kind = match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        Self {
            kind,
            is_executable: found.st_mode & 0o100 != 0,
            is_usual: found.st_mode & 0o7600 == 0o600,
            size: u64::try_from(found.st_size).unwrap_or_default(),
            has_other_names: found.st_nlink > 1,
            stat: stat(found),
        }
    }
}

/// The stat data as an index stores it.
pub(crate) fn stat(found: &rustix::fs::Stat) -> Stat {
    Stat {
        mtime: Time { secs: found.st_mtime as u32, nsecs: found.st_mtime_nsec as u32 },
        ctime: Time { secs: found.st_ctime as u32, nsecs: found.st_ctime_nsec as u32 },
        dev: found.st_dev as u32,
        ino: found.st_ino as u32,
        uid: found.st_uid,
        gid: found.st_gid,
        size: found.st_size as u32,
    }
}

impl From<OwnedFd> for Directory {
    fn from(opened: OwnedFd) -> Self {
        Self(opened)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Directory {
    /// Opens the root of a working tree. Links in its path are followed.
    pub(crate) fn open(path: &Path) -> std::io::Result<Self> {
        Ok(Self(openat(CWD, path, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty())?))
    }

    /// Opens the directory of this name. None if it does not exist, or is something else, such as a link.
    pub(crate) fn directory(&self, name: &[u8]) -> std::io::Result<Option<Self>> {
        check_name(name)?;
        match openat(&self.0, name, DIRECTORY, Mode::empty()) {
            // No file system has a name that is too long.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
            opened => Ok(Some(Self(opened?))),
        }
    }

    /// Opens the directory at a path below this one, or this one for the empty path. None as for
    /// [`Directory::directory`].
    pub(crate) fn below(&self, path: &BStr) -> std::io::Result<Option<Self>> {
        // Opened again, not duplicated: a duplicate would share its read position.
        let mut directory = Self(openat(&self.0, c".", DIRECTORY, Mode::empty())?);
        for part in path.split(|byte| *byte == b'/').filter(|_| !path.is_empty()) {
            match directory.directory(part)? {
                Some(inside) => directory = inside,
                None => return Ok(None),
            }
        }
        Ok(Some(directory))
    }

    /// The directory of the last part of a path, and that part.
    pub(crate) fn parent_of<'path>(&self, path: &'path BStr) -> std::io::Result<Option<(Self, &'path BStr)>> {
        let (parent, name) = split(path);
        Ok(self.below(parent)?.map(|directory| (directory, name)))
    }

    /// Opens the directory at a path from here, following links, also out of this directory. For reading metadata only.
    pub(crate) fn reach(&self, path: &Path) -> std::io::Result<Self> {
        Ok(Self(openat(&self.0, path, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty())?))
    }

    /// Whether there is an empty directory of this name. A directory that cannot be read does not count as empty.
    pub(crate) fn has_empty(&self, name: &[u8]) -> bool {
        let Ok(Some(inside)) = self.directory(name) else { return false };
        for_each_entry(&inside, |_, _| Err(ErrorKind::DirectoryNotEmpty.into())).is_ok()
    }

    /// The metadata of the entry of this name; none if there is none.
    pub(crate) fn metadata(&self, name: &[u8]) -> std::io::Result<Option<EntryMetadata>> {
        check_name(name)?;
        match statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT | Errno::NAMETOOLONG) => Ok(None),
            found => Ok(Some(EntryMetadata::of(&found?))),
        }
    }

    /// Opens a regular file for reading, with the metadata of the opened file. None if it is not a regular file.
    pub(crate) fn file(&self, name: &[u8]) -> std::io::Result<Option<(File, EntryMetadata)>> {
        check_name(name)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        // Opening a device may have side effects.
        if self.metadata(name)?.is_none_or(|metadata| metadata.kind != Kind::File) {
            return Ok(None);
        }
        let file = match openat(&self.0, name, flags, Mode::empty()) {
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ISDIR) => return Ok(None),
            opened => opened?,
        };
        let metadata = EntryMetadata::of(&fstat(&file)?);
        Ok((metadata.kind == Kind::File).then(|| (File::from(file), metadata)))
    }

    /// The contents of a regular file. None if it is not a regular file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has more than `limit` bytes.
    pub(crate) fn read(&self, name: &[u8], limit: u64) -> std::io::Result<Option<Vec<u8>>> {
        let Some((file, metadata)) = self.file(name)? else { return Ok(None) };
        let too_large = || std::io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {limit} bytes"));
        if metadata.size > limit {
            return Err(too_large());
        }
        let mut contents = Vec::new();
        file.take(limit + 1).read_to_end(&mut contents)?;
        if contents.len() as u64 > limit { Err(too_large()) } else { Ok(Some(contents)) }
    }

    pub(crate) fn read_link(&self, name: &[u8]) -> std::io::Result<Vec<u8>> {
        check_name(name)?;
        Ok(readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// Creates a new file for writing.
    pub(crate) fn create_file(&self, name: &[u8], is_executable: bool) -> std::io::Result<File> {
        check_name(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = if is_executable { 0o777 } else { 0o666 };
        Ok(File::from(openat(&self.0, name, flags, Mode::from_raw_mode(mode))?))
    }

    pub(crate) fn create_link(&self, target: &[u8], name: &[u8]) -> std::io::Result<()> {
        check_name(name)?;
        Ok(symlinkat(target, &self.0, name)?)
    }

    /// Creates a directory unless it exists, and opens it. None if something else has the name.
    pub(crate) fn make_directory(&self, name: &[u8]) -> std::io::Result<Option<Self>> {
        check_name(name)?;
        match mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => self.directory(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Deletes an entry that is not a directory.
    pub(crate) fn remove_file(&self, name: &[u8]) -> std::io::Result<()> {
        check_name(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Deletes an empty directory.
    pub(crate) fn remove_directory(&self, name: &[u8]) -> std::io::Result<()> {
        check_name(name)?;
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Gives the owner all permissions on the directory.
    pub(crate) fn make_writable(&self) -> std::io::Result<()> {
        let mode = fstat(&self.0)?.st_mode;
        if mode & 0o700 == 0o700 {
            return Ok(());
        }
        Ok(fchmod(&self.0, Mode::from_raw_mode(mode) | Mode::RWXU)?)
    }
}

/// The contents of a file outside of working trees, following links. None if there is no regular file.
///
/// # Errors
///
/// If it cannot be read, or has more than `limit` bytes.
pub(crate) fn read_regular(path: &Path, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    use std::os::unix::ffi::OsStrExt as _;
    let path = match std::fs::canonicalize(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        path => path?,
    };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    Directory::open(parent)?.read(name.as_bytes(), limit)
}

/// Splits a path into the path of the directory and the last part.
pub(crate) fn split(path: &BStr) -> (&BStr, &BStr) {
    match path.rfind_byte(b'/') {
        Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
        None => (BStr::new(""), path),
    }
}

/// Checks that this is a single name, not `.`, `..` or a path.
fn check_name(name: &[u8]) -> std::io::Result<()> {
    if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, format!("{:?} is no name of a file", name.as_bstr())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_out_of_a_directory() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        std::fs::create_dir_all(inside.join("a/b")).unwrap();
        std::fs::write(place.path().join("victim"), "victim").unwrap();
        symlink(place.path(), inside.join("link")).unwrap();
        symlink("../victim", inside.join("a/file")).unwrap();
        let root = Directory::open(&inside).unwrap();
        assert!(root.below("a/b".into()).unwrap().is_some());
        assert!(root.below("".into()).unwrap().is_some());
        assert!(root.below("link".into()).unwrap().is_none());
        assert!(root.below("a/none".into()).unwrap().is_none());
        let a = root.directory(b"a").unwrap().unwrap();
        assert!(a.file(b"file").unwrap().is_none());
        for path in ["..", "a/..", "a/../..", ".", "a//b", "/", "a/"] {
            assert_eq!(root.below(path.into()).unwrap_err().kind(), ErrorKind::InvalidInput, "{path}");
        }
        for name in ["..", ".", "", "a/b", "../victim"] {
            assert!(root.metadata(name.as_bytes()).is_err(), "{name}");
            assert!(root.file(name.as_bytes()).is_err(), "{name}");
            assert!(root.remove_file(name.as_bytes()).is_err(), "{name}");
            assert!(root.remove_directory(name.as_bytes()).is_err(), "{name}");
            assert!(root.create_file(name.as_bytes(), false).is_err(), "{name}");
            assert!(root.make_directory(name.as_bytes()).is_err(), "{name}");
        }
        assert_eq!(std::fs::read_to_string(place.path().join("victim")).unwrap(), "victim");
    }

    #[test]
    fn nothing_has_a_name_that_is_too_long() {
        let place = tempfile::tempdir().unwrap();
        let root = Directory::open(place.path()).unwrap();
        let name = [b'a'; 1_000];
        assert!(root.directory(&name).unwrap().is_none() && root.metadata(&name).unwrap().is_none());
    }

    #[test]
    fn no_more_is_read_than_the_limit() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("file"), "12345").unwrap();
        std::fs::File::create(place.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
        let root = Directory::open(place.path()).unwrap();
        assert_eq!(root.read(b"file", 5).unwrap().unwrap(), b"12345");
        assert_eq!(root.read(b"file", 4).unwrap_err().to_string(), "it is larger than 4 bytes");
        assert_eq!(root.read(b"sparse", 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(root.read(b"none", 4).unwrap(), None);
    }
}
