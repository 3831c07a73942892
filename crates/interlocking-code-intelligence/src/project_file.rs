//! Reads files of a project that an agent may have written: regular ones of limited size, within the project, and through no link.

use crate::error::CodeError;
use interlocking_sandbox::regular_file::{self, Links};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The path of a project's file.
///
/// # Errors
///
/// [`CodeError::OutsideProject`] if `file`, which is relative to the project, leads out of it.
pub(crate) fn path_of(root: &Path, file: &Path) -> Result<PathBuf, CodeError> {
    let is_within = file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_within { Ok(root.join(file)) } else { Err(CodeError::OutsideProject(file.to_owned())) }
}

/// A path without its `.` parts, so that a file has one path.
pub(crate) fn plain(file: &Path) -> PathBuf {
    file.components().filter(|part| *part != Component::CurDir).collect()
}

/// The text of a project's file, with invalid UTF-8 replaced.
///
/// # Errors
///
/// [`CodeError::OutsideProject`], or [`CodeError::Unreadable`]: the file cannot be opened, it or a directory above it is a link, it is
/// no regular file, or it is larger than [`MAX_BYTES`](interlocking_rust_source::MAX_BYTES).
pub(crate) fn read(root: &Path, file: &Path) -> Result<String, CodeError> {
    path_of(root, file)?;
    let text = regular_file::open_below(root, file).and_then(text_of);
    text.map_err(|source| CodeError::Unreadable { file: file.to_owned(), source })
}

/// The text of a file anywhere, also through links, with invalid UTF-8 replaced.
///
/// # Errors
///
/// The file cannot be opened, is no regular file, or is larger than [`MAX_BYTES`](interlocking_rust_source::MAX_BYTES).
pub(crate) fn read_anywhere(path: &Path) -> io::Result<String> {
    text_of(regular_file::open(path, Links::Followed)?)
}

fn text_of(file: File) -> io::Result<String> {
    const MOST: u64 = interlocking_rust_source::MAX_BYTES as u64;
    Ok(String::from_utf8_lossy(&regular_file::read_open(file, MOST)?).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Whatever an agent has put there, reading it ends at once, and shows nothing from outside.
    #[test]
    fn only_regular_files_of_the_project_are_read() {
        let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = project.path();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/lib.rs"), b"fn f() {} // \xff").unwrap();
        std::fs::write(outside.path().join("secret"), "secret").unwrap();
        symlink(outside.path().join("secret"), root.join("link")).unwrap();
        symlink("/dev/zero", root.join("zero")).unwrap();
        symlink(outside.path(), root.join("linked")).unwrap();
        symlink(root.join("link"), root.join("src/link")).unwrap();
        let pipe = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
        assert!(pipe.success());
        let large = File::create(root.join("large")).unwrap();
        large.set_len(1 << 40).unwrap();

        assert_eq!(read(root, Path::new("./src/lib.rs")).unwrap(), "fn f() {} // \u{fffd}");
        let refused = |file: &str| read(root, Path::new(file)).unwrap_err().to_string();
        for (file, why) in [
            ("link", "link is a link"),
            ("zero", "zero is a link"),
            ("linked/secret", "linked is a link"),
            ("src/link", "src/link is a link"),
            ("pipe", "it is no regular file"),
            ("src", "it is no regular file"),
            ("", "it is no regular file"),
        ] {
            assert_eq!(refused(file), format!("{file} cannot be read: {why}"));
        }
        assert!(refused("large").contains("it is larger than "));
        assert!(refused("none").contains("No such file"));
        for file in ["../secret", "/etc/passwd", "src/../../secret"] {
            assert!(matches!(read(root, Path::new(file)), Err(CodeError::OutsideProject(_))), "{file}");
        }
        assert_eq!(read_anywhere(&root.join("link")).unwrap(), "secret");
        for file in ["zero", "pipe", "large"] {
            assert!(read_anywhere(&root.join(file)).is_err(), "{file}");
        }
    }
}
