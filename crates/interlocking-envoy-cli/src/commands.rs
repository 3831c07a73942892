//! The commands.

pub(crate) mod protocol;
pub(crate) mod protocols;
pub(crate) mod cleanup;
pub(crate) mod gate;
pub(crate) mod completions;
pub(crate) mod man;

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
    fn library(&self, directory: &Path) -> Library {
        match &self.project {
            Some(root) => Library::of_project(directory.join(root)),
            None => Library::discover(directory),
        }
    }
}
