//! What runs have left behind: runs whose process was killed, runs that wait, and runs that were kept.

use crate::alive::{ALIVE, Alive};
use crate::blocking::spawn_blocking;
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::git_workspaces::GitWorkspaces;
use crate::named_branches::unusable;
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunEnd;
use interlocking_sandbox::regular_file::{self, Links};
use interlocking_worktree::{BranchName, CommitId, WorktreeEntry};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::PoisonError;

/// A run whose workspaces no process has, and what is left of it. While this value exists, no other caller finds the
/// run, and the run cannot be resumed, unless the run's directory or its lock file was deleted.
///
/// Its journal says whether it can be resumed.
pub struct LeftoverRun {
    run: GitRun,
    worktrees: Vec<WorktreeEntry>,
    branches: Vec<(BranchName, CommitId)>,
}

impl GitWorkspaces {
    /// The runs of which something is left, ordered by name, except those that a process is working on. A run whose
    /// directory was deleted by another program is not included: [`leftover_of`](Self::leftover_of) finds its branches.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if something cannot be read.
    pub async fn leftover_runs(&self) -> Result<Vec<LeftoverRun>, GitWorkspacesError> {
        let settings = self.0.clone();
        let looking = spawn_blocking(move || {
            let directory = &settings.directory;
            let doing =
                |error: io::Error| GitWorkspacesError::Directory { path: directory.clone(), reason: error.to_string() };
            let entries = match fs::read_dir(directory) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                entries => entries.map_err(doing)?,
            };
            let mut left = Vec::new();
            for entry in entries {
                let name = entry.map_err(doing)?.file_name();
                let Some(run) = name.to_str().and_then(|name| RunId::new(name).ok()) else { continue };
                left.extend(LeftoverRun::of(GitRun::of_name(settings.clone(), run))?);
            }
            left.sort_by(|one: &LeftoverRun, other| one.run.0.names.run.cmp(&other.run.0.names.run));
            Ok(left)
        });
        looking.await.unwrap_or(Err(GitWorkspacesError::RunEnded))
    }

    /// What is left of a run, including its branches if its directory was deleted by another program; none if nothing
    /// is left, or a process is working on the run.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if something cannot be read.
    pub async fn leftover_of(&self, run: &RunId) -> Result<Option<LeftoverRun>, GitWorkspacesError> {
        let run = GitRun::of_name(self.0.clone(), run.clone());
        let looking = spawn_blocking(move || {
            let directory = run.tree_directory();
            if directory.join(ALIVE).exists() {
                return LeftoverRun::of(run);
            }
            let left = LeftoverRun::unlocked(run)?;
            let is_anything = !left.worktrees.is_empty() || !left.branches.is_empty() || directory.exists();
            Ok(Some(left).filter(|_| is_anything))
        });
        looking.await.unwrap_or(Err(GitWorkspacesError::RunEnded))
    }

    /// Removes what is [left of a run](Self::leftover_of), if anything is.
    ///
    /// # Errors
    ///
    /// Those of [`leftover_of`](Self::leftover_of) and [`LeftoverRun::remove`].
    pub async fn remove_leftover_of(&self, run: &RunId) -> Result<(), GitWorkspacesError> {
        match self.leftover_of(run).await? {
            Some(left) => left.remove().await,
            None => Ok(()),
        }
    }
}

impl LeftoverRun {
    /// What is left of a run; none if there is no run, or a process is working on it.
    fn of(run: GitRun) -> Result<Option<Self>, GitWorkspacesError> {
        let path = run.tree_directory().join(ALIVE);
        let file = match regular_file::open(&path, Links::Refused) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            // An agent can replace the file with anything. What is not a file is not locked by any process.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Self::unlocked(run).map(Some),
            Err(error) => return Err(unusable(path, &error)),
        };
        let alive = Alive::alone(file, &path).map_err(|error| unusable(path, &error))?;
        let Some(alive) = alive else { return Ok(None) };
        *run.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner) = Some(alive);
        Self::unlocked(run).map(Some)
    }

    fn unlocked(run: GitRun) -> Result<Self, GitWorkspacesError> {
        let worktrees = run.settings().repository.worktrees_in(run.tree_directory())?;
        let branches = run.branches()?;
        Ok(Self { run, worktrees, branches })
    }

    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run.0.names.run
    }

    /// The run's directory.
    pub fn directory(&self) -> PathBuf {
        self.run.tree_directory()
    }

    /// Its worktrees and those of its children, from git's list.
    pub fn worktrees(&self) -> &[WorktreeEntry] {
        &self.worktrees
    }

    /// Its branches and those of its children, and their commits.
    pub fn branches(&self) -> &[(BranchName, CommitId)] {
        &self.branches
    }

    /// The branch of one of the run's own workspaces, and its commit; none if there is no such branch.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if no workspace can have this name.
    pub fn branch(&self, workspace: &str) -> Result<Option<(&BranchName, CommitId)>, GitWorkspacesError> {
        let name = self.run.branch_name(workspace)?;
        Ok(self.branches.iter().find(|(branch, _)| *branch == name).map(|(branch, head)| (branch, *head)))
    }

    /// The worktree of one of the run's own workspaces, from git's list; none if its directory or its entry is gone.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if no workspace can have this name.
    pub fn worktree(&self, workspace: &str) -> Result<Option<&WorktreeEntry>, GitWorkspacesError> {
        let name = self.run.branch_name(workspace)?;
        Ok(self.worktrees.iter().find(|entry| entry.branch.as_ref() == Some(&name) && !entry.is_missing))
    }

    /// Removes all of it, clones too. Heads of branches that neither the target branch nor the landing branch contains
    /// are kept in the archive; uncommitted changes are lost.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] if something cannot be removed; the rest is still removed. A branch whose head is not a
    /// readable commit stays.
    pub async fn remove(self) -> Result<(), GitWorkspacesError> {
        let removing = spawn_blocking(move || self.run.remove(RunEnd::Cancelled));
        removing.await.unwrap_or(Err(GitWorkspacesError::RunEnded))
    }
}

impl std::fmt::Debug for LeftoverRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeftoverRun")
            .field("run", self.run())
            .field("worktrees", &self.worktrees)
            .field("branches", &self.branches)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlocking_worktree::{Configuration, Repository};
    use std::time::Duration;

    /// A process that resumes a run waits for a program that removes the run meanwhile, and has the run then.
    #[test]
    fn a_run_that_was_removed_while_it_was_waited_for_is_seen_to_be_active() {
        let place = tempfile::tempdir().unwrap();
        let repository = Repository::init_with(place.path().join("project"), Configuration::RepositoryOnly).unwrap();
        let workspaces = GitWorkspaces::new(repository, place.path().join("runs"));
        let run = || GitRun::of_name(workspaces.0.clone(), RunId::DEFAULT);
        let (before, resumed) = (run(), run());
        before.mark_active().unwrap();
        assert!(LeftoverRun::of(run()).unwrap().is_none());
        drop(before);
        let left = LeftoverRun::of(run()).unwrap().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| resumed.mark_active());
            std::thread::sleep(Duration::from_millis(50));
            left.run.remove(RunEnd::Cancelled).unwrap();
            drop(left);
            waiting.join().unwrap().unwrap();
        });
        assert!(resumed.tree_directory().join(ALIVE).exists());
        assert!(LeftoverRun::of(run()).unwrap().is_none(), "it is active");
        resumed.end(RunEnd::Cancelled).unwrap();
        assert!(!place.path().join("runs").exists());
    }
}
