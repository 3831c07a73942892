//! What makes a new worktree ready for who works there: a command, and ignored files that are copied.

pub(crate) mod copied_files;
pub(crate) mod setup;
