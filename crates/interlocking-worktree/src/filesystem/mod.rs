//! File operations that cannot be diverted by replacing part of a path with a link.

pub(crate) mod clean_up;
pub(crate) mod directory;
pub(crate) mod entries;
pub(crate) mod own_paths;
pub(crate) mod trash;
pub(crate) mod with_directory;
