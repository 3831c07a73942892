//! A run's worktrees: made ready, cleaned up, found again.

pub(crate) mod copied_files;
pub(crate) mod orphan;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod yard;
