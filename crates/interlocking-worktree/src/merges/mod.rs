//! Merges, cherry-picks and rebases, and their conflicts.

pub(crate) mod compute;
pub(crate) mod conflict;
pub(crate) mod integrate;
pub(crate) mod onto;
pub(crate) mod prompt;
pub(crate) mod rebase;
pub(crate) mod settle;
