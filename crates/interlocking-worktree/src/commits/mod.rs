//! Commits of what is in a worktree, and their messages.

pub(crate) mod commit;
pub(crate) mod message;
