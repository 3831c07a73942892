//! Reading a file that an agent can write: never a pipe, a device or a directory, and never more than the limit of its
//! kind.

#![expect(clippy::disallowed_methods, reason = "this is what is called instead of them")]

use std::{
    fs::File,
    io::{ErrorKind, Read as _},
    path::Path,
    time::SystemTime,
};

use interlocking_sandbox::regular_file::{self, Links};

use crate::{
    filesystem::own_paths,
    untrusted::{Limits, Refused},
    values::git_error::{Doing as _, GitError},
};

/// The kinds of files that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The `.git` file of a worktree, or `gitdir`, `commondir`, `locked` or HEAD: one line that names a path or a
    /// reference.
    Link,
    /// A loose reference.
    Reference,
    PackedReferences(Limits),
    Configuration(Limits),
    /// Ignore rules and attributes.
    Rules(Limits),
    Index(Limits),
    /// A [note](crate::recovery::intent_log) of an operation under way.
    Note,
    /// A [note](crate::pool::written_files) of the files that were written into a worktree.
    Pristine(Limits),
    /// The commits at which a shallow history ends.
    Shallow(Limits),
}

/// A file's contents, and the time of the last change.
pub(crate) struct Contents {
    pub(crate) bytes: Vec<u8>,
    pub(crate) modified: SystemTime,
}

impl Kind {
    /// The most bytes, and the field of [`Limits`] that sets them.
    fn most(self) -> (u64, Option<&'static str>) {
        match self {
            Self::Link | Self::Reference => (64 << 10, None),
            Self::Note => (1 << 20, None),
            Self::PackedReferences(limits) => (limits.references, Some("references")),
            Self::Shallow(limits) => (limits.references, Some("references")),
            Self::Configuration(limits) => (limits.configuration, Some("configuration")),
            Self::Rules(limits) => (limits.rules, Some("rules")),
            Self::Index(limits) | Self::Pristine(limits) => (limits.index, Some("index")),
        }
    }

    /// Whether a symbolic link is followed: it is for the kinds of which a user may have made a link. Git itself makes no
    /// links of the other kinds.
    fn follows_links(self) -> bool {
        matches!(self, Self::PackedReferences(_) | Self::Configuration(_) | Self::Rules(_) | Self::Shallow(_))
    }
}

/// Reads a file; none if it does not exist.
pub(crate) fn read(path: &Path, kind: Kind) -> Result<Option<Contents>, GitError> {
    let doing = || format!("reading {}", path.display());
    let Some(file) = open(path, kind)? else { return Ok(None) };
    let metadata = file.metadata().doing(doing)?;
    let (most, _) = kind.most();
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    // It may grow while it is read.
    (&file).take(most + 1).read_to_end(&mut bytes).doing(doing)?;
    check_size(path, kind, bytes.len() as u64).map_err(|refused| GitError::refused(doing(), refused))?;
    Ok(Some(Contents { bytes, modified: metadata.modified().doing(doing)? }))
}

/// Opens a regular file that is not too large, without blocking on a pipe.
pub(crate) fn open(path: &Path, kind: Kind) -> Result<Option<File>, GitError> {
    let mut options = File::options();
    options.read(true);
    open_with(path, kind, &mut options)
}

/// Like [`open`], with other options, such as for writing.
pub(crate) fn open_with(path: &Path, kind: Kind, options: &mut std::fs::OpenOptions) -> Result<Option<File>, GitError> {
    let doing = || format!("reading {}", path.display());
    let refused = |refused| GitError::refused(doing(), refused);
    let links = if kind.follows_links() { Links::Followed } else { Links::Refused };
    let file = match regular_file::open_with(path, options, links) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => {
            return match found(path, kind) {
                Ok(found) if !found.is_file() => Err(refused(not_a_file(path, found.file_type()))),
                _ => Err(error).doing(doing),
            };
        }
    };
    let metadata = file.metadata().doing(doing)?;
    check_size(path, kind, metadata.len()).map_err(refused)?;
    Ok(Some(file))
}

/// Opens anything for reading without blocking: a pipe without a writer then reads as empty.
pub(crate) fn open_without_waiting(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Opens a file for appending, such as a log. A link is not followed, and a pipe does not block.
pub(crate) fn open_to_append(path: &Path, creates: bool) -> std::io::Result<File> {
    open_regular(path, File::options().read(true).append(true).create(creates))
}

/// Opens a file to lock it, and creates it if it does not exist. A link is not followed, and a pipe does not block.
pub(crate) fn open_to_lock(path: &Path) -> std::io::Result<File> {
    open_regular(path, File::options().create(true).truncate(false).read(true).write(true))
}

fn open_regular(path: &Path, options: &mut std::fs::OpenOptions) -> std::io::Result<File> {
    regular_file::open_with(path, options, Links::Refused).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => std::io::Error::new(error.kind(), "it is not a file: delete it"),
        _ => error,
    })
}

/// Creates a new file for reading and writing. A link is not followed.
pub(crate) fn create_new(path: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).create_new(true).open(path)
}

/// Replaces a file: a link's target, or a file with other hard links, is not written to.
pub(crate) fn write_anew(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> std::io::Result<()> {
    use std::io::Write as _;
    let path = path.as_ref();
    let mut file = match create_new(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            own_paths::remove_file(path)?;
            create_new(path)?
        }
        created => created?,
    };
    file.write_all(contents.as_ref())
}

/// Checks a file that gix will open by its path. It may be missing.
pub(crate) fn check(path: &Path, kind: Kind) -> Result<(), GitError> {
    let refused = match found(path, kind) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(error).doing(|| format!("looking at {}", path.display())),
        Ok(found) if !found.is_file() => Err(not_a_file(path, found.file_type())),
        Ok(found) => check_size(path, kind, found.len()),
    };
    refused.map_err(|refused| GitError::refused(format!("looking at {}", path.display()), refused))
}

fn found(path: &Path, kind: Kind) -> std::io::Result<std::fs::Metadata> {
    if kind.follows_links() { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) }
}

pub(crate) fn check_size(path: &Path, kind: Kind, bytes: u64) -> Result<(), Refused> {
    let (most, limit) = kind.most();
    match limit {
        _ if bytes <= most => Ok(()),
        Some(limit) => Err(Refused::TooLarge { path: path.to_owned(), bytes, most, limit }),
        None => Err(Refused::Oversized { path: path.to_owned(), bytes, most }),
    }
}

pub(crate) fn not_a_file(path: &Path, kind: std::fs::FileType) -> Refused {
    Refused::NotAFile { path: path.to_owned(), found: describe(kind) }
}

fn describe(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        kind if kind.is_fifo() => "a named pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() || kind.is_char_device() => "a device",
        _ => "something else",
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_is_read_and_only_as_much_as_its_kind_has() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::write(at("file"), "contents").unwrap();
        assert_eq!(read(&at("file"), Kind::Link).unwrap().unwrap().bytes, b"contents");
        assert!(read(&at("absent"), Kind::Link).unwrap().is_none());
        assert!(read(&at("file/below"), Kind::Link).unwrap().is_none());

        std::fs::create_dir(at("directory")).unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("socket")).unwrap());
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for (name, found) in [
            ("directory", "a directory"),
            ("link", "a symbolic link"),
            ("socket", "a socket"),
            ("pipe", "a named pipe"),
        ] {
            let refused = read(&at(name), Kind::Link).err().unwrap();
            assert_eq!(refused.reason(), Some(&Refused::NotAFile { path: at(name), found }));
            assert_eq!(check(&at(name), Kind::Link).unwrap_err().reason(), refused.reason());
        }
        // A user's link counts as its target.
        assert!(read(&at("link"), Kind::Configuration(Limits::default())).unwrap().is_some());

        let sparse = File::create(at("sparse")).unwrap();
        sparse.set_len(1 << 40).unwrap();
        for kind in [Kind::Link, Kind::Index(Limits::default())] {
            assert!(read(&at("sparse"), kind).is_err());
            assert!(check(&at("sparse"), kind).is_err());
        }
        let error = read(&at("sparse"), Kind::Index(Limits::default())).err().unwrap();
        let path = at("sparse");
        assert_eq!(
            error.to_string(),
            format!(
                "reading {0}: {0} has 1099511627776 bytes, and more than 268435456 are not read: if that is meant, raise `Limits::index`",
                path.display()
            )
        );
    }
}
