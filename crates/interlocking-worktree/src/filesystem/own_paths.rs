//! Operations on files and directories by path, for this crate's own places: the repository's own directory, pools, the
//! roots of worktrees, and files that are being made and that no other program knows yet.
//!
//! A program that works in a directory can replace it, or a directory above it, with a link, so that a path leads
//! elsewhere. So files inside a working tree are never reached by path but through [open
//! directories](crate::filesystem::directory), and files in a git directory are read and replaced through
//! [`untrusted::file`](crate::untrusted::file). Here only the last part of a path is created, renamed or deleted; none
//! of these operations follows a link there or opens anything.

#![expect(clippy::disallowed_methods, reason = "here, and nowhere else, paths are taken for what they say")]

use std::path::Path;

/// Whether an operation failed because there is nothing at the path.
pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

pub(crate) fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::rename(from, to)
}

pub(crate) fn remove_file(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::remove_file(path)
}

/// Removes an empty directory.
pub(crate) fn remove_dir(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::remove_dir(path)
}

pub(crate) fn create_dir(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

/// Creates a directory and its parents, unless they exist.
pub(crate) fn create_dir_all(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates a hard link to a file.
pub(crate) fn hard_link(file: impl AsRef<Path>, name: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::hard_link(file, name)
}

/// Lists a directory. The kinds of its entries are read without following links.
pub(crate) fn read_dir(path: impl AsRef<Path>) -> std::io::Result<std::fs::ReadDir> {
    std::fs::read_dir(path)
}
