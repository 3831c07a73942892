//! Opens and reads files that someone else can write, such as a confined program: regular files alone, without waiting for a pipe's
//! writer, and no more of them than a limit.
//!
//! Every error that says what the file is has the kind [`InvalidData`](io::ErrorKind::InvalidData), and one for a file that is too
//! large the kind [`FileTooLarge`](io::ErrorKind::FileTooLarge).

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// What is done with a symbolic link in the place of a file. Links in the path of its directory are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The file that the link leads to is opened.
    Followed,
    /// The link is not opened.
    Refused,
}

/// Opens a regular file for reading.
///
/// # Errors
///
/// The system's error, or there is something else than a regular file.
pub fn open(path: &Path, links: Links) -> io::Result<File> {
    open_with(path, OpenOptions::new().read(true), links)
}

/// Opens a regular file with these options, which read it: opening a pipe for writing alone fails with an error that does not say why.
///
/// # Errors
///
/// As for [`open`].
pub fn open_with(path: &Path, options: &mut OpenOptions, links: Links) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let no_links = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY | no_links;
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed());
    }
    #[cfg(not(unix))]
    if links == Links::Refused && path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return Err(not_regular());
    }
    regular(options.open(path))
}

/// Opens a regular file of an open directory for reading. A link is not opened. `name` is a single name: a path would be followed.
///
/// # Errors
///
/// The system's error, or there is something else than a regular file.
#[cfg(unix)]
pub fn open_at(directory: impl std::os::fd::AsFd, name: &std::ffi::OsStr) -> io::Result<File> {
    opened_at(directory, name, rustix::fs::OFlags::RDONLY)
}

/// Opens a regular file of an open directory for reading and writing. If there is none, it is made, for this user alone. A link is
/// not opened. `name` is a single name: a path would be followed.
///
/// # Errors
///
/// As for [`open_at`].
#[cfg(unix)]
pub fn open_or_make_at(directory: impl std::os::fd::AsFd, name: &std::ffi::OsStr) -> io::Result<File> {
    opened_at(directory, name, rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CREATE)
}

#[cfg(unix)]
fn opened_at(
    directory: impl std::os::fd::AsFd,
    name: &std::ffi::OsStr,
    access: rustix::fs::OFlags,
) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    regular(openat(directory, name, flags, Mode::RUSR | Mode::WUSR).map(File::from).map_err(io::Error::from))
}

/// Opens a regular file below `root` for reading, through no link below it. Each part of the path is opened relative to the one
/// before, so that none can become a link meanwhile. The caller ensures that the path has only names and `.`.
///
/// # Errors
///
/// The system's error, or a part of the path is a link, or there is something else than a regular file.
#[cfg(unix)]
pub fn open_below(root: &Path, path: &Path) -> io::Result<File> {
    let Some(name) = path.file_name() else { return open(root, Links::Refused) };
    let directory = directory_below(root, path.parent().unwrap_or(Path::new("")))?;
    open_at(directory, name).map_err(|error| named_if_link(root, path, error))
}

/// Opens a directory below `root`, as [`open_below`] reaches it.
///
/// # Errors
///
/// The system's error, or a part of the path is a link.
#[cfg(unix)]
pub fn directory_below(root: &Path, path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut directory = open(root, flags, Mode::empty())?;
    let mut reached = std::path::PathBuf::new();
    for name in path.components().filter(|part| *part != std::path::Component::CurDir) {
        reached.push(name);
        let inside = openat(&directory, name.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty());
        directory = inside.map_err(|error| named_if_link(root, &reached, error.into()))?;
    }
    Ok(directory)
}

/// The same on systems whose programs are not confined, by path.
///
/// # Errors
///
/// As there.
#[cfg(not(unix))]
pub fn open_below(root: &Path, path: &Path) -> io::Result<File> {
    let mut reached = std::path::PathBuf::new();
    for part in path.components() {
        reached.push(part);
        if root.join(&reached).is_symlink() {
            return Err(is_link(&reached));
        }
    }
    open(&root.join(path), Links::Refused)
}

/// The error with which a part of a path was not opened, or that it is a link.
#[cfg(unix)]
fn named_if_link(root: &Path, part: &Path, error: io::Error) -> io::Error {
    if root.join(part).is_symlink() { is_link(part) } else { error }
}

fn is_link(part: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{} is a link", part.display()))
}

/// Reads a regular file.
///
/// # Errors
///
/// As for [`open`]; or the file cannot be read, or has more than `most` bytes.
pub fn read(path: &Path, links: Links, most: u64) -> io::Result<Vec<u8>> {
    read_open(open(path, links)?, most)
}

/// Reads the rest of an open file.
///
/// # Errors
///
/// The file cannot be read, or has more than `most` bytes left.
pub fn read_open(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut contents = Vec::new();
    // It may grow while it is read.
    file.take(most.saturating_add(1)).read_to_end(&mut contents)?;
    match contents.len() as u64 > most {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes"))),
        false => Ok(contents),
    }
}

fn regular(opened: io::Result<File>) -> io::Result<File> {
    // So the system refuses a link that is not followed, a socket, and a directory that is to be written.
    #[cfg(unix)]
    use rustix::io::Errno;
    #[cfg(unix)]
    let opened = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::ISDIR) => not_regular(),
        _ => error,
    });
    let file = opened?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is no regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Opening or reading each of the others would take a long time, or show another file.
    #[test]
    fn only_a_regular_file_is_opened_and_no_more_than_the_limit_is_read() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("device")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        File::create(at("sparse")).unwrap().set_len(1 << 40).unwrap();
        let directory = File::open(place.path()).unwrap();

        assert_eq!(read(&at("file"), Links::Refused, 5).unwrap(), b"12345");
        assert_eq!(read(&at("link"), Links::Followed, 5).unwrap(), b"12345");
        assert_eq!(read_open(open_at(&directory, "file".as_ref()).unwrap(), 5).unwrap(), b"12345");
        for (name, most) in [("file", 4), ("sparse", 1000)] {
            let error = read(&at(name), Links::Refused, most).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
            assert_eq!(error.to_string(), format!("it is larger than {most} bytes"));
        }
        for name in [".", "link", "device", "socket", "pipe"] {
            let mut refused = vec![open(&at(name), Links::Refused), open_at(&directory, name.as_ref())];
            refused.push(open_or_make_at(&directory, name.as_ref()));
            refused.extend((name != "link").then(|| open(&at(name), Links::Followed)));
            refused.push(open_with(&at(name), File::options().read(true).append(true).create(true), Links::Refused));
            for error in refused.into_iter().map(Result::unwrap_err) {
                assert_eq!(
                    (error.kind(), error.to_string().as_str()),
                    (io::ErrorKind::InvalidData, "it is no regular file")
                );
            }
        }
        assert_eq!(open(&at("none"), Links::Refused).unwrap_err().kind(), io::ErrorKind::NotFound);

        use std::os::unix::fs::MetadataExt;
        let made = open_or_make_at(&directory, "none".as_ref()).unwrap();
        assert_eq!(made.metadata().unwrap().mode() & 0o077, 0);
        assert_eq!(read_open(open_or_make_at(&directory, "file".as_ref()).unwrap(), 5).unwrap(), b"12345");
    }
}
