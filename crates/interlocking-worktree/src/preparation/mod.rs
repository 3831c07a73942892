//! Preparing a new worktree: a setup command, and ignored files that are copied.

pub(crate) mod copied_files;
pub(crate) mod setup;
