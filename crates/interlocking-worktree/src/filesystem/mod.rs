//! Files and directories, reached so that nobody can lead a path astray.

pub(crate) mod clean_up;
pub(crate) mod directory;
pub(crate) mod entries;
pub(crate) mod own_paths;
pub(crate) mod trash;
pub(crate) mod with_directory;
