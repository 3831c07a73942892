//! Differences between a working tree, its index and a commit.

pub(crate) mod attributes;
pub(crate) mod change;
pub(crate) mod diff;
pub(crate) mod examine;
pub(crate) mod ignores;
pub(crate) mod index;
pub(crate) mod index_lock;
pub(crate) mod index_tree;
pub(crate) mod patch;
pub(crate) mod snapshot;
pub(crate) mod submodules;
pub(crate) mod survey;
pub(crate) mod unchanged;
pub(crate) mod untracked;
