//! Clones: repositories of their own with one commit in them, and the way back.

pub(crate) mod clone;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod pack;
pub(crate) mod remove;
pub(crate) mod settings;
pub(crate) mod unfinished;
