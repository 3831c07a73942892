//! Which workspaces are being made ready, noted on disk for the process that resumes the run.
//!
//! To git, a worktree is complete before files are copied into it and its setup runs. So while a workspace is made or
//! reset and prepared, a file beside it says so. If the process is killed meanwhile, the file stays, and the workspace is
//! prepared again.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_worktree::delete_directory;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;

impl GitRun {
    /// Notes that a workspace is about to be made or reset. Returns whether that was not noted already. Git work.
    pub(crate) fn begin_preparing(&self, name: &str) -> Result<bool, GitWorkspacesError> {
        let path = self.preparing_path(name);
        // The directory of a child run may not exist yet. A link at the path is not followed.
        let made = fs::create_dir_all(self.own_directory())
            .and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path));
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            made => {
                made.map(|_| true).map_err(|error| GitWorkspacesError::Directory { path, reason: error.to_string() })
            }
        }
    }

    /// Notes that a workspace is as a new one, or has stayed as it was. Git work.
    pub(crate) fn end_preparing(&self, name: &str) -> Result<(), GitWorkspacesError> {
        Ok(delete_directory(self.preparing_path(name))?)
    }

    /// Whether a workspace was being made or reset when its process was killed, or its preparation failed. Git work.
    pub(crate) fn is_being_prepared(&self, name: &str) -> bool {
        fs::symlink_metadata(self.preparing_path(name)).is_ok()
    }

    /// The file is beside the workspace. No workspace's name begins with a dot.
    fn preparing_path(&self, name: &str) -> PathBuf {
        self.own_directory().join(format!(".{name}.preparing"))
    }
}
