//! Reading and writing single files where an agent works.
//!
//! **Invariant:** no link is followed and nothing is opened that is not a regular file: a pipe would never end, and a link leads
//! where the agent wants it to. No agent is at work meanwhile.

use crate::types::CratePath;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// How long a file may be, in bytes.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A file as text; none if it is not there.
pub(crate) fn read(root: &Path, path: &CratePath) -> io::Result<Option<String>> {
    if !leads_there(root, path)? {
        return Ok(None);
    }
    let file = path.below(root);
    let metadata = match fs::symlink_metadata(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata?,
    };
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let mut text = String::new();
    let read = File::open(&file)?.take(LONGEST + 1).read_to_string(&mut text)? as u64;
    if read > LONGEST { Err(refused("it is longer than 16 MiB")) } else { Ok(Some(text)) }
}

/// Writes a file, in place of what was there. Directories on the way are made.
pub(crate) fn write(root: &Path, path: &CratePath, text: &str) -> io::Result<()> {
    let file = path.below(root);
    if leads_there(root, path)? {
        match fs::symlink_metadata(&file) {
            Ok(metadata) if metadata.is_file() => fs::remove_file(&file)?,
            Ok(_) => return Err(refused("it is not a regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    } else if let Some(parent) = file.parent() {
        fs::create_dir_all(parent)?;
    }
    // What has appeared since is not followed.
    OpenOptions::new().write(true).create_new(true).open(&file)?.write_all(text.as_bytes())
}

/// Whether every directory on the way is there.
fn leads_there(root: &Path, path: &CratePath) -> io::Result<bool> {
    let mut directory = root.to_owned();
    let parts: Vec<&str> = path.as_str().split('/').collect();
    for part in parts.iter().take(parts.len().saturating_sub(1)) {
        directory.push(part);
        match fs::symlink_metadata(&directory) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(refused("a part of its path is not a directory")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn path(text: &str) -> CratePath {
        CratePath::new(text).unwrap()
    }

    #[test]
    fn a_link_is_not_followed_and_a_pipe_not_opened() {
        let directory = tempfile::tempdir().unwrap();
        let (root, outside) = (directory.path().join("place"), directory.path().join("outside"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("lib.rs"), "theirs").unwrap();
        symlink(&outside, root.join("tests")).unwrap();
        symlink(outside.join("lib.rs"), root.join("src/link.rs")).unwrap();
        symlink(outside.join("new.rs"), root.join("src/nowhere.rs")).unwrap();
        let pipe = root.join("src/pipe.rs");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for name in ["tests/lib.rs", "src/link.rs", "src/nowhere.rs", "src/pipe.rs"] {
            assert_eq!(read(&root, &path(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
            assert_eq!(write(&root, &path(name), "ours").unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert_eq!(fs::read_to_string(outside.join("lib.rs")).unwrap(), "theirs");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }

    #[test]
    fn what_is_written_is_read() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read(root.path(), &path("a/b.rs")).unwrap(), None);
        for text in ["one", "two"] {
            write(root.path(), &path("a/b.rs"), text).unwrap();
            assert_eq!(read(root.path(), &path("a/b.rs")).unwrap().as_deref(), Some(text));
        }
        assert_eq!(read(root.path(), &path("a/c.rs")).unwrap(), None);
    }
}
