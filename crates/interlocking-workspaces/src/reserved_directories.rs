//! Directories inside a working tree that belong to the program: nothing lands there.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::settings::Settings;
use interlocking_worktree::{CommitId, FileChange, RepositoryPath};
use std::path::{Path, PathBuf};

impl GitRun {
    /// Refuses a commit to land that changes a file in a reserved directory, compared with the branch, or with the
    /// run's start where there is no branch yet. Git work.
    pub(crate) fn refuse_reserved(&self, head: Option<CommitId>, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let Settings { repository, reserved, .. } = self.settings();
        if reserved.is_empty() {
            return Ok(());
        }
        // Whichever working tree has the branch checked out, now or later.
        let linked = repository.worktrees()?.into_iter().map(|entry| entry.path);
        let trees = repository.working_tree().map(Path::to_owned).into_iter().chain(linked);
        let roots: Vec<PathBuf> = trees.filter_map(|root| root.canonicalize().ok()).collect();
        let reserved = reserved.iter().filter_map(|directory| directory.canonicalize().ok());
        let inside: Vec<(PathBuf, PathBuf)> = reserved
            .flat_map(|directory| {
                let inside = roots.iter().filter_map(|root| directory.strip_prefix(root).ok());
                let inside: Vec<_> = inside.map(|inside| (directory.clone(), inside.to_owned())).collect();
                inside
            })
            .collect();
        if inside.is_empty() {
            return Ok(());
        }
        let from = match head {
            Some(head) => repository.merge_base(head, commit)?.unwrap_or(head),
            None => self.start_commit()?,
        };
        let changes = repository.diff(from, commit)?;
        for path in changes.iter().flat_map(FileChange::touched) {
            if let Some((directory, _)) = inside.iter().find(|(_, inside)| touches(path, inside)) {
                let (path, directory) = (path.clone(), directory.clone());
                return Err(GitWorkspacesError::Reserved { commit, path, directory });
            }
        }
        Ok(())
    }
}

/// Whether a path is the directory, below it, or above it: what is no directory any more takes the directory with it.
fn touches(path: &RepositoryPath, directory: &Path) -> bool {
    let path = path.to_path();
    let mut names = path.components().zip(directory.components());
    names.all(|(name, other)| name.as_os_str().eq_ignore_ascii_case(other.as_os_str()))
}
