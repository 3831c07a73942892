//! Clones: separate repositories with one commit, and fetching commits back from them.

pub(crate) mod clone;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod pack;
pub(crate) mod settings;
pub(crate) mod unfinished;
