//! File operations that cannot be diverted by replacing part of a path with a link.

pub(crate) mod clean_up;
pub(crate) mod directory;
pub(crate) mod own_paths;
pub(crate) mod with_directory;

/// Deletes and lists directories whatever a program has put there, as the sandbox does with the places of programs.
pub(crate) use interlocking_sandbox::deletion::{self, entries};
