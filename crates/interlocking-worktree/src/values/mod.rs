//! Checked values: names of branches, paths, ids, authors; and the errors of git and of worktrees.

pub(crate) mod git_error;
pub(crate) mod id;
pub(crate) mod name;
pub(crate) mod path;
pub(crate) mod signature;
pub(crate) mod worktree_error;
