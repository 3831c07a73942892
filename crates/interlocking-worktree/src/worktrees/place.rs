//! The place of an agent's session, and the check of it before the agent starts and after it has ended.

use std::fmt;

use gix::ObjectId;

use crate::{
    checkout::reset::tree_of,
    repository::{Head, history::is_ancestor, references},
    status::{
        diff::between,
        snapshot::{Keeping, Snapshot},
        survey::Survey,
    },
    values::{
        git_error::GitError, id::CommitId, name::BranchName, path::RepositoryPath, worktree_error::WorktreeError,
    },
    worktrees::{
        finding::Finding,
        worktree::{Found, Worktree},
    },
};

/// The place of an agent's session: run, worktree, base commit and branch, with what the agent may do there.
///
/// An agent that works in another directory, or on another commit than it was told, works on files that it does not
/// know. So the place is [verified](Place::verify) before an agent starts and after it has ended.
///
/// By default an agent may change every file and may not commit: its caller commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    run: String,
    worktree: Worktree,
    base: CommitId,
    head: CommitId,
    is_read_only: bool,
    allowed: Option<Vec<RepositoryPath>>,
    may_commit: bool,
}

impl Place {
    /// The place of `run` in `worktree`, which began at `base` and is still there.
    pub fn new(run: impl Into<String>, worktree: Worktree, base: CommitId) -> Self {
        let (is_read_only, allowed, may_commit) = (false, None, false);
        Self { run: run.into(), worktree, base, head: base, is_read_only, allowed, may_commit }
    }

    /// Sets the commit at which the place is handed over: the commits from base to `head` are expected.
    #[must_use]
    pub fn at(mut self, head: CommitId) -> Self {
        self.head = head;
        self
    }

    /// Makes the place read-only: the agent may not change files and may not commit.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// Restricts the agent to changing these files and the files in these directories.
    #[must_use]
    pub fn allowing(mut self, paths: impl IntoIterator<Item = RepositoryPath>) -> Self {
        self.allowed = Some(paths.into_iter().collect());
        self
    }

    /// Allows the agent to commit on top of what it was given.
    #[must_use]
    pub fn with_own_commits(mut self) -> Self {
        self.may_commit = true;
        self
    }

    /// The run's name.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// The worktree.
    #[must_use]
    pub fn worktree(&self) -> &Worktree {
        &self.worktree
    }

    /// The commit that the place began at.
    #[must_use]
    pub fn base(&self) -> CommitId {
        self.base
    }

    /// The commit at which it was handed over.
    #[must_use]
    pub fn head(&self) -> CommitId {
        self.head
    }

    /// The branch it is on; none if its HEAD is detached.
    #[must_use]
    pub fn branch(&self) -> Option<&BranchName> {
        self.worktree.branch()
    }

    /// Every way in which the place differs from what was handed over; empty if nothing is wrong. Nothing is changed.
    ///
    /// Ignored files do not count. Files are compared as they are now: a change that was undone does not show.
    ///
    /// # Errors
    ///
    /// [`GitError`] if something cannot be read.
    pub fn verify(&self) -> Result<Vec<Finding>, GitError> {
        let Found { git, head, link } = match self.worktree.as_found() {
            Ok(found) => found,
            Err(WorktreeError::Git(error)) => return Err(error),
            Err(WorktreeError::Diverted { path, found }) => {
                return Ok(vec![Finding::LinkRewritten { path, says: found }]);
            }
            Err(_) => return Ok(vec![Finding::Gone { path: self.worktree.path().to_owned() }]),
        };
        let mut findings = Vec::new();
        if let Some(says) = link {
            findings.push(Finding::LinkRewritten { path: self.worktree.path().to_owned(), says });
        }
        let mut tips = vec![head.commit];
        self.check_branch(&git, &head, &mut tips, &mut findings)?;
        for tip in tips {
            self.check_history(&git, tip, &mut findings)?;
        }
        self.check_files(git, &head, &mut findings)?;
        Ok(findings)
    }

    /// Checks which branch is checked out. Adds the branch's commit to `tips` if HEAD is elsewhere.
    fn check_branch(
        &self,
        git: &gix::Repository,
        head: &Head,
        tips: &mut Vec<Option<CommitId>>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), GitError> {
        if head.branch.as_ref() == self.branch() {
            return Ok(());
        }
        findings.push(Finding::OtherBranch { expected: self.branch().cloned(), found: head.branch.clone() });
        let Some(branch) = self.branch() else { return Ok(()) };
        match references::read(git, &branch.full_name())?.map(CommitId::from_git) {
            None => findings.push(Finding::BranchGone { branch: branch.clone() }),
            tip if !tips.contains(&tip) => tips.push(tip),
            _ => {}
        }
        Ok(())
    }

    fn check_history(
        &self,
        git: &gix::Repository,
        tip: Option<CommitId>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), GitError> {
        let Some(tip) = tip else {
            findings.push(Finding::HeadMoved { expected: self.head, found: None });
            return Ok(());
        };
        if !is_behind(git, self.base, tip)? {
            findings.push(Finding::BaseLost { base: self.base, head: tip });
        }
        if tip == self.head {
            return Ok(());
        }
        if !is_behind(git, self.head, tip)? {
            findings.push(Finding::HeadMoved { expected: self.head, found: Some(tip) });
        } else if !self.may_commit || self.is_read_only {
            let commits = self.worktree.repository().commits(self.head..tip)?;
            findings.push(Finding::UnexpectedCommits { commits });
        }
        Ok(())
    }

    fn check_files(&self, git: gix::Repository, head: &Head, findings: &mut Vec<Finding>) -> Result<(), GitError> {
        // If HEAD has no commit, or the commit that was handed over is gone, there is nothing to compare with.
        if head.commit.is_none() || git.find_commit(self.head.git()).is_err() {
            return Ok(());
        }
        let reveal = !self.worktree.is_main();
        if self.is_read_only {
            let changes = Survey::of(&git, reveal)?.changes();
            if !changes.is_empty() {
                findings.push(Finding::Dirty { changes });
            }
        }
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let git = git.with_object_memory();
        let from: ObjectId = tree_of(&git, self.head)?;
        let snapshot = Snapshot::of(&git, Survey::of(&git, reveal)?, |_| true, Keeping::InMemory);
        let unread = |error| match error {
            WorktreeError::Git(error) => error,
            error => GitError::new(format!("comparing {}", self.worktree.path().display()), error.to_string()),
        };
        let to = snapshot.map_err(unread)?.tree;
        let changes = between(&git, from, to)?;
        let is_allowed = |path: &RepositoryPath| allowed.iter().any(|selected| path.is_in(selected));
        let changes: Vec<_> =
            changes.iter().map(|change| change.public()).filter(|change| !change.touched().all(is_allowed)).collect();
        if !changes.is_empty() {
            findings.push(Finding::Outside { changes });
        }
        Ok(())
    }
}

/// Whether `older` exists and `newer` descends from it: the agent may have put another repository here.
fn is_behind(git: &gix::Repository, older: CommitId, newer: CommitId) -> Result<bool, GitError> {
    Ok(git.find_commit(older.git()).is_ok() && is_ancestor(git, older, newer)?)
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "run {}: {}", self.run, self.worktree.path().display())?;
        match self.branch() {
            Some(branch) => write!(formatter, " on {branch}")?,
            None => write!(formatter, " on no branch")?,
        }
        write!(formatter, " from {}", self.base.short())
    }
}
