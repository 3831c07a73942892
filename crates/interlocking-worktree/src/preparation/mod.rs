//! Preparing a worktree: a setup command, and ignored files that are copied.

pub(crate) mod copied_files;
mod process;
mod secrets;
pub(crate) mod setup;
