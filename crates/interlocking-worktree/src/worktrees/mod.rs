//! Linked worktrees: creating, listing, locking, removing and repairing them, and checking what an agent has done to
//! them.

pub(crate) mod create;
pub(crate) mod files;
pub(crate) mod finding;
pub(crate) mod head_file;
pub(crate) mod keep;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod make;
pub(crate) mod new_worktree;
pub(crate) mod place;
pub(crate) mod prune;
pub(crate) mod register;
pub(crate) mod remove;
pub(crate) mod repair;
pub(crate) mod worktree;
