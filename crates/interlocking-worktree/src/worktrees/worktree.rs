//! A worktree: a working tree with an index and a HEAD of its own.

use std::path::{Path, PathBuf};

use crate::{
    repository::{Head, Repository, correct_configuration::correct_configuration, head_of},
    status::{change::Change, survey::Survey},
    untrusted::{git_directory, program},
    values::worktree_error::WorktreeError,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        name::BranchName,
    },
};

/// A worktree on a branch (or detached), as it was when it was created or opened.
///
/// Every operation first checks that this still holds: the worktree is registered under the same name, its `.git` file
/// points back to this repository, and its HEAD is on the same branch. So an agent that leaves its branch is detected
/// before anything is committed to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    repository: Repository,
    kind: Kind,
    path: PathBuf,
    branch: Option<BranchName>,
}

/// The kind of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The repository's main working tree, which is the user's.
    Main,
    /// A linked worktree, with its name in git's list.
    Linked(String),
    /// The working tree of a repository of its own: see [`Repository::create_clone`].
    Clone,
}

impl Repository {
    /// The main working tree as a [`Worktree`], on the branch that it has checked out; none if the repository is bare.
    ///
    /// It is the user's: this crate never resets or removes it.
    pub fn main_worktree(&self) -> Result<Option<Worktree>, GitError> {
        let Some(path) = self.working_tree().map(Path::to_owned) else {
            return Ok(None);
        };
        let branch = self.head()?.branch;
        Ok(Some(Worktree::main(self.clone(), path, branch)))
    }
}

impl Worktree {
    pub(crate) fn main(repository: Repository, path: PathBuf, branch: Option<BranchName>) -> Self {
        Self { repository, kind: Kind::Main, path, branch }
    }

    pub(crate) fn linked(repository: Repository, name: String, path: PathBuf, branch: Option<BranchName>) -> Self {
        Self { repository, kind: Kind::Linked(name), path, branch }
    }

    pub(crate) fn clone_at(repository: Repository, path: PathBuf, branch: BranchName) -> Self {
        Self { repository, kind: Kind::Clone, path, branch: Some(branch) }
    }

    /// The repository it belongs to; for a clone, the clone's own.
    #[must_use]
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The root of its files.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The branch it is on; none if its HEAD is detached.
    #[must_use]
    pub fn branch(&self) -> Option<&BranchName> {
        self.branch.as_ref()
    }

    /// The name under which git lists it, from the last part of its path; none for the main worktree and for a clone.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Linked(name) => Some(name),
            Kind::Main | Kind::Clone => None,
        }
    }

    /// Whether it is the repository's main working tree, which is the user's.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.kind == Kind::Main
    }

    /// Whether it is a repository of its own: see [`Repository::create_clone`].
    #[must_use]
    pub fn is_clone(&self) -> bool {
        self.kind == Kind::Clone
    }

    /// The commit it is at.
    pub fn head(&self) -> Result<CommitId, WorktreeError> {
        let (_git, commit) = self.open_with_head()?;
        Ok(commit)
    }

    /// What differs from the commit it is at, ordered by path, with one entry per path. Ignored files do not count.
    pub fn status(&self) -> Result<Vec<Change>, WorktreeError> {
        let (git, _head) = self.open()?;
        Ok(Survey::of(&git, !self.is_main())?.changes())
    }

    /// Whether [`Worktree::status`] is empty.
    pub fn is_clean(&self) -> Result<bool, WorktreeError> {
        Ok(self.status()?.is_empty())
    }

    /// Opens it anew, as agents and git change files at any time, and checks that it is as it was when it was created
    /// or opened.
    pub(crate) fn open(&self) -> Result<(gix::Repository, Head), WorktreeError> {
        if !self.is_clone() {
            self.repository.recover_locks()?;
        }
        let git = match &self.kind {
            Kind::Main => self.repository.git_of_main_worktree()?,
            Kind::Linked(name) => self.open_linked(name)?,
            Kind::Clone => self.open_clone()?,
        };
        let head = head_of(&git)?;
        if head.branch != self.branch {
            let found = match &head.branch {
                Some(branch) => format!("the branch {branch}"),
                None => "a detached HEAD".to_owned(),
            };
            return Err(WorktreeError::HeadElsewhere { path: self.path.clone(), expected: self.branch.clone(), found });
        }
        Ok((git, head))
    }

    pub(crate) fn open_with_head(&self) -> Result<(gix::Repository, CommitId), WorktreeError> {
        let (git, head) = self.open()?;
        match head.commit {
            Some(commit) => Ok((git, commit)),
            None => Err(WorktreeError::NoCommitYet { path: self.path.clone() }),
        }
    }

    /// Opens a clone without trusting its own configuration: the agent can write to it.
    fn open_clone(&self) -> Result<gix::Repository, WorktreeError> {
        git_directory::check_clone(&self.path, self.repository.limits())?;
        // Only after the check of the clone's files.
        self.repository.recover_locks()?;
        let git = self.repository.git_of_main_worktree()?;
        if git.workdir() != Some(&self.path) {
            let found = git.workdir().map_or_else(|| "no files".to_owned(), |found| found.display().to_string());
            return Err(WorktreeError::Diverted { path: self.path.clone(), found });
        }
        program::check(&git, &self.path)?;
        Ok(git)
    }

    /// Opens the worktree, wherever its HEAD is and whatever its `.git` file says.
    ///
    /// # Errors
    ///
    /// [`WorktreeError::Gone`] if there is nothing; [`WorktreeError::Diverted`] if it cannot be opened, such as a clone
    /// whose `.git` is a link or refers to other directories.
    pub(crate) fn as_found(&self) -> Result<Found, WorktreeError> {
        let (git, link) = match &self.kind {
            Kind::Main if !self.path.is_dir() => return Err(WorktreeError::Gone { path: self.path.clone() }),
            Kind::Main => (self.repository.git_of_main_worktree()?, None),
            Kind::Clone => (self.open_clone()?, None),
            Kind::Linked(name) => {
                let (git, checked) = self.open_registered(name)?;
                let says = checked.err().map(|error| match error {
                    WorktreeError::Diverted { found, .. } => found,
                    error => error.to_string(),
                });
                (git, says)
            }
        };
        let head = head_of(&git)?;
        Ok(Found { git, head, link })
    }

    fn open_linked(&self, name: &str) -> Result<gix::Repository, WorktreeError> {
        let (git, checked) = self.open_registered(name)?;
        checked.map(|()| git)
    }

    /// Opens it by its registration, which agents must not write to, and not by the `.git` file in its root, which they
    /// can rewrite; then compares the two.
    fn open_registered(&self, name: &str) -> Result<(gix::Repository, Result<(), WorktreeError>), WorktreeError> {
        let doing = || format!("opening the worktree at {}", self.path.display());
        let gone = || WorktreeError::Gone { path: self.path.clone() };
        let main = self.repository.git();
        git_directory::check(&main.common_dir().join("worktrees").join(name), self.repository.limits())?;
        let proxy = main.worktree_proxy_by_id(name.as_bytes()).doing(doing)?.ok_or_else(gone)?;
        let base = proxy.base().doing(doing)?;
        if base != self.path || !self.path.is_dir() {
            return Err(gone());
        }
        let git_directory = proxy.git_dir().to_owned();
        let checked = check_link(&self.path, &git_directory);
        let mut git = proxy.into_repo().doing(doing)?;
        correct_configuration(&mut git)?;
        git_directory::check_named_files(&git)?;
        program::check(&git, &self.path)?;
        self.repository.recent_objects().attach(&mut git);
        Ok((git, checked))
    }
}

/// A worktree as an agent left it.
pub(crate) struct Found {
    pub(crate) git: gix::Repository,
    /// Its HEAD.
    pub(crate) head: Head,
    /// The contents of its `.git` file, if that is wrong.
    pub(crate) link: Option<String>,
}

/// Compares the `.git` file in `root` with the registration.
pub(crate) fn check_link(root: &Path, git_directory: &Path) -> Result<(), WorktreeError> {
    let link = root.join(".git");
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    let target = git_directory::read_link(&link).ok().flatten();
    match &target {
        Some(target) if canonical(target).is_some() && canonical(target) == canonical(git_directory) => Ok(()),
        _ => Err(WorktreeError::Diverted {
            path: root.to_owned(),
            found: target.map_or_else(|| "nothing readable".to_owned(), |target| target.display().to_string()),
        }),
    }
}
