//! The commands.

pub(crate) mod protocol;
pub(crate) mod protocols;
pub(crate) mod cleanup;
pub(crate) mod gate;
pub(crate) mod completions;
pub(crate) mod man;

use crate::error::CommandError;
use clap::Args;
use interlocking_envoy::Library;
use std::path::{Path, PathBuf};

/// Which project.
#[derive(Debug, Args)]
pub(crate) struct ProjectArguments {
    /// The project's root [default: the nearest directory above with `.claude/protocols` or `.git`]
    #[arg(long, value_name = "DIRECTORY")]
    project: Option<PathBuf>,
}

impl ProjectArguments {
    fn library(&self, directory: &Path) -> Result<Library, CommandError> {
        let Some(root) = &self.project else { return Ok(Library::discover(directory)) };
        let root = directory.join(root);
        match root.is_dir() {
            true => Ok(Library::of_project(root)),
            false => {
                let error = CommandError::new(format!("--project: {} is not a directory", root.display()));
                Err(error.remedy("give the project's root, or leave the option out"))
            }
        }
    }
}
