//! Committing the changes in a worktree, and commit messages.

pub(crate) mod commit;
pub(crate) mod message;
