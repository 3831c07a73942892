//! What runs have left that nobody works on: those whose process was killed, those that wait, and those that were kept.

use crate::alive::{ALIVE, Alive};
use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use crate::git_workspaces::GitWorkspaces;
use interlocking_core::run_id::RunId;
use interlocking_runtime::workspaces::RunEnd;
use interlocking_worktree::{BranchName, CommitId, WorktreeEntry};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// A run that nobody in any process has the workspaces of, and what is left of it. As long as there is this, nobody else finds it.
///
/// Whether it can be resumed is what its journal knows.
pub struct LeftRun {
    run: GitRun,
    worktrees: Vec<WorktreeEntry>,
    branches: Vec<(BranchName, CommitId)>,
}

impl GitWorkspaces {
    /// The runs of which something is left, ordered by name, but for those that somebody works on. One whose directory was cleared away
    /// by others is not among them: [`left_of`](Self::left_of) finds its branches.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where something cannot be read.
    pub async fn left(&self) -> Result<Vec<LeftRun>, GitWorkspacesError> {
        let settings = self.0.clone();
        let looking = tokio::task::spawn_blocking(move || {
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
                left.extend(LeftRun::of(GitRun::of_name(settings.clone(), run))?);
            }
            left.sort_by(|one: &LeftRun, other| one.run.0.names.run.cmp(&other.run.0.names.run));
            Ok(left)
        });
        looking.await.unwrap_or(Err(GitWorkspacesError::Over))
    }
}

impl GitWorkspaces {
    /// What is left of a run, its branches if its directory was cleared away by others; none if that is nothing, or somebody works on
    /// it.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where something cannot be read.
    pub async fn left_of(&self, run: &RunId) -> Result<Option<LeftRun>, GitWorkspacesError> {
        let run = GitRun::of_name(self.0.clone(), run.clone());
        let looking = tokio::task::spawn_blocking(move || {
            let directory = run.tree_directory();
            if directory.join(ALIVE).exists() {
                return LeftRun::of(run);
            }
            let left = LeftRun::unlocked(run)?;
            let is_anything = !left.worktrees.is_empty() || !left.branches.is_empty() || directory.exists();
            Ok(Some(left).filter(|_| is_anything))
        });
        looking.await.unwrap_or(Err(GitWorkspacesError::Over))
    }

    /// The directory below which the worktrees of a run lie, as git lists them, wherever its program has put them; none if it has none left
    /// on a branch of the run's own name. In [that directory](Self::with_directory) all is found that is [left of it](Self::left_of). It is synchronous, as what a
    /// [`Repository`](interlocking_worktree::Repository) does.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError`] where git's list cannot be read.
    pub fn directory_of(&self, run: &RunId) -> Result<Option<PathBuf>, GitWorkspacesError> {
        let prefix = GitRun::of_name(self.0.clone(), run.clone()).tree_prefix();
        let is_of_run = |entry: &WorktreeEntry| {
            let branch = entry.branch.as_ref();
            branch.is_some_and(|branch| branch.as_str().starts_with(&prefix))
        };
        let found = self.0.repository.worktrees()?.into_iter().filter(is_of_run).find_map(|entry| {
            let own = entry.path.ancestors().find(|path| path.ends_with(run.as_str()))?;
            own.parent().map(Path::to_owned)
        });
        Ok(found)
    }

    /// Refuses a name of a run of which there are branches: before anything is made for a run of which nothing is to be there. It is
    /// synchronous, as what a [`Repository`](interlocking_worktree::Repository) does.
    ///
    /// # Errors
    ///
    /// [`GitWorkspacesError::RunTaken`].
    pub fn refuse_taken(&self, run: &RunId) -> Result<(), GitWorkspacesError> {
        GitRun::of_name(self.0.clone(), run.clone()).refuse_taken()
    }

    /// Where the [fresh checkouts](crate::GitContext::fresh_checkout) of a run and its children lie, for who confines what is built
    /// there.
    pub fn checkouts_of(&self, run: &RunId) -> PathBuf {
        GitRun::of_name(self.0.clone(), run.clone()).checkouts_directory()
    }
}

impl LeftRun {
    /// What is left of a run, unless it is none, or somebody works on it.
    fn of(run: GitRun) -> Result<Option<Self>, GitWorkspacesError> {
        let path = run.tree_directory().join(ALIVE);
        // An agent can put anything in its place: a pipe is waited for, and nobody locks it.
        if fs::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Self::unlocked(run).map(Some);
        }
        let Ok(file) = File::open(path) else { return Ok(None) };
        if file.try_lock().is_err() {
            return Ok(None);
        }
        *run.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner) = Some(Alive::new(file));
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

    /// Where all that lies.
    pub fn directory(&self) -> PathBuf {
        self.run.tree_directory()
    }

    /// Its worktrees and those of its children, as git lists them.
    pub fn worktrees(&self) -> &[WorktreeEntry] {
        &self.worktrees
    }

    /// Its branches and those of its children, and where they are.
    pub fn branches(&self) -> &[(BranchName, CommitId)] {
        &self.branches
    }

    /// Removes all of it, clones too. What the target branch has not is kept in the archive; what is not committed is gone.
    ///
    /// # Errors
    ///
    /// The first [`GitWorkspacesError`]; the rest is removed all the same.
    pub async fn remove(self) -> Result<(), GitWorkspacesError> {
        let removing = tokio::task::spawn_blocking(move || self.run.remove(RunEnd::Cancelled));
        removing.await.unwrap_or(Err(GitWorkspacesError::Over))
    }
}

impl GitRun {
    /// Shows other processes that somebody has the run's workspaces. Git work.
    pub(crate) fn lives(&self) -> Result<(), GitWorkspacesError> {
        let mut alive = self.0.tree.alive.lock().unwrap_or_else(PoisonError::into_inner);
        if alive.is_some() {
            return Ok(());
        }
        let path = self.tree_directory().join(ALIVE);
        let opened = fs::create_dir_all(self.tree_directory()).and_then(|()| match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file: delete it")),
            _ => OpenOptions::new().create(true).append(true).open(&path),
        });
        let file = opened.map_err(|error| GitWorkspacesError::Directory { path, reason: error.to_string() })?;
        // Held by somebody who only looks, it is his for a moment. Who works on a run is for the journal to say.
        let _ = file.try_lock();
        *alive = Some(Alive::new(file));
        Ok(())
    }
}

impl std::fmt::Debug for LeftRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeftRun")
            .field("run", self.run())
            .field("worktrees", &self.worktrees)
            .field("branches", &self.branches)
            .finish()
    }
}
