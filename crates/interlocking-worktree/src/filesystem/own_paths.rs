//! Files and directories by their paths, in places that are ours: the repository's own directory, yards and pools, the places of
//! worktrees as a whole, and what is being made and nobody knows yet.
//!
//! Whoever works in a directory can put a link in its place or in that of one above it, and a path leads elsewhere then. So
//! what is inside a working tree is never reached by its path but through [opened directories](crate::filesystem::directory), and what is
//! read or written anew in a git directory through [`untrusted::file`](crate::untrusted::file). Here only the last name of a
//! path is made, renamed or taken away; none of these follows a link in that place or opens what is there.

#![expect(clippy::disallowed_methods, reason = "here, and nowhere else, paths are taken for what they say")]

use std::path::Path;

pub(crate) fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::rename(from, to)
}

pub(crate) fn remove_file(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::remove_file(path)
}

/// Takes away an empty directory.
pub(crate) fn remove_dir(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::remove_dir(path)
}

pub(crate) fn create_dir(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

/// Makes a directory with those above it, unless it is there.
pub(crate) fn create_dir_all(path: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Gives a file a second name.
pub(crate) fn hard_link(file: impl AsRef<Path>, name: impl AsRef<Path>) -> std::io::Result<()> {
    std::fs::hard_link(file, name)
}

/// The names in a directory. Of what they are the system tells without following links.
pub(crate) fn read_dir(path: impl AsRef<Path>) -> std::io::Result<std::fs::ReadDir> {
    std::fs::read_dir(path)
}
