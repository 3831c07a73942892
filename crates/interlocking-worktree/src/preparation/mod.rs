//! Preparing a worktree: a setup command, and ignored files that are copied.

pub(crate) mod copied_files;
mod process;
pub(crate) mod setup;
