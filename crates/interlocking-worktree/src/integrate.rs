//! Bringing other commits into a worktree: cherry-pick, merge, squash.
//!
//! All of it is computed in memory first. A conflict is found before an object, a file or a reference is written.

use std::ops::Range;

use gix::{ObjectId, merge::blob::builtin_driver::text::Labels, odb::memory::Storage};

use crate::{
    commit::{MessageError, tidy},
    conflict::{Conflict, conflicts_of},
    git_error::{Doing as _, GitError, Listed},
    history::is_ancestor,
    id::CommitId,
    reset::tree_of,
    signature::Signature,
    switch::{Switch, SwitchError, Uncommitted},
    worktree::{Worktree, WorktreeError},
};

/// Commits could not be cherry-picked. Branch, index, files and object database are as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CherryPickError {
    /// A commit does not fit onto the worktree's.
    #[error("picking {commit} conflicts in {}", Listed(conflicts))]
    Conflict {
        /// The commit.
        commit: CommitId,
        /// The paths, ordered.
        conflicts: Vec<Conflict>,
    },
    /// The range does not lead back from its end to its start through first parents.
    #[error("{base} is not behind {tip}: a range to pick is a line of commits")]
    NotARange {
        /// The range's start.
        base: CommitId,
        /// The range's end.
        tip: CommitId,
    },
    /// A merge commit is in the range, of which there is no one change to pick.
    #[error("{commit} is a merge commit, which cannot be picked")]
    MergeCommit {
        /// The merge commit.
        commit: CommitId,
    },
    /// The worktree could not be moved, because of uncommitted changes for one.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A commit could not be merged. Branch, index, files and object database are as they were.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// The two sides do not fit together.
    #[error("merging {commit} conflicts in {}", Listed(conflicts))]
    Conflict {
        /// The commit that was to be merged.
        commit: CommitId,
        /// The paths, ordered.
        conflicts: Vec<Conflict>,
    },
    /// The message is none.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The two have no commit in common.
    #[error("{ours} and {theirs} have no commit in common")]
    Unrelated {
        /// The worktree's commit.
        ours: CommitId,
        /// The commit that was to be merged.
        theirs: CommitId,
    },
    /// The worktree could not be moved, because of uncommitted changes for one.
    #[error(transparent)]
    Switch(#[from] SwitchError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<WorktreeError> for CherryPickError {
    fn from(error: WorktreeError) -> Self {
        Self::Switch(error.into())
    }
}

impl From<WorktreeError> for MergeError {
    fn from(error: WorktreeError) -> Self {
        Self::Switch(error.into())
    }
}

impl Worktree {
    /// Applies the commits after `range.start` up to `range.end`, oldest first, each as a commit of its own with its
    /// author and message; then branch, files and index follow in one step. Returns the new commits.
    ///
    /// A commit whose change is there already makes no new one. Signatures of commits are dropped, since they would
    /// not hold. Untracked files that are not in the way stay.
    ///
    /// # Errors
    ///
    /// See [`CherryPickError`]; on each of them everything is as it was, also if the third of five conflicts.
    pub fn cherry_pick(&self, range: Range<CommitId>, committer: &Signature) -> Result<Vec<CommitId>, CherryPickError> {
        let (git, head) = self.open_with_head()?;
        let commits = line(&git, &range)?;
        let Some(last) = commits.last() else {
            return Ok(Vec::new());
        };
        let reason = format!("cherry-pick: {} commits up to {last}", commits.len());
        let git = git.with_object_memory();
        let committer = committer.git();

        let mut tip = head;
        let mut tree = tree_of(&git, head)?;
        let mut created = Vec::with_capacity(commits.len());
        for commit in commits {
            let picked = pick(&git, commit, tree)?;
            if picked == tree {
                continue;
            }
            tree = picked;
            tip = rewrite(&git, commit, tree, tip, &committer)?;
            created.push(tip);
        }
        if created.is_empty() {
            return Ok(created);
        }
        self.take_over(&git, head, tip, tree, &committer, reason)?;
        Ok(created)
    }

    /// Writes what a pick of `commit` would give into the working tree and the index, with conflict markers where
    /// [`Worktree::cherry_pick`] refuses, and commits nothing: for whoever resolves the conflicts, before
    /// [`Worktree::commit_all`]. Returns the conflicts; without any, the change is there all the same.
    ///
    /// Of a file that one side deleted the other side's is left; of a binary file, ours.
    ///
    /// # Errors
    ///
    /// As of [`Worktree::cherry_pick`], conflicts excepted; everything is then as it was.
    pub fn pick_for_resolution(&self, commit: CommitId) -> Result<Vec<Conflict>, CherryPickError> {
        let (git, head) = self.open_with_head()?;
        let git = git.with_object_memory();
        if git.find_commit(commit.git()).is_ok_and(|commit| commit.parent_ids().count() > 1) {
            return Err(CherryPickError::MergeCommit { commit });
        }
        let (tree, conflicts) = apply(&git, commit, tree_of(&git, head)?)?;
        self.take_over(&git, head, head, tree, &Signature::runtime(), String::new())?;
        Ok(conflicts)
    }

    /// Merges `other` with a merge commit, even where a fast-forward would do. None if `other` is behind this
    /// worktree's commit already.
    pub fn merge(&self, other: CommitId, committer: &Signature, message: &str) -> Result<Option<CommitId>, MergeError> {
        self.merge_with(other, committer, message, |head| vec![head.git(), other.git()])
    }

    /// Merges `other` into one commit with one parent, which keeps the changes and drops the history. None if `other`
    /// is behind this worktree's commit already, or changes nothing.
    pub fn squash_merge(
        &self,
        other: CommitId,
        committer: &Signature,
        message: &str,
    ) -> Result<Option<CommitId>, MergeError> {
        self.merge_with(other, committer, message, |head| vec![head.git()])
    }

    fn merge_with(
        &self,
        other: CommitId,
        committer: &Signature,
        message: &str,
        parents: impl Fn(CommitId) -> Vec<ObjectId>,
    ) -> Result<Option<CommitId>, MergeError> {
        let message = tidy(message)?;
        let (git, head) = self.open_with_head()?;
        let git = git.with_object_memory();
        let doing = || format!("merging {other} into {}", self.path().display());
        if is_ancestor(&git, other, head)? {
            return Ok(None);
        }
        let bases = git.merge_bases_many(head.git(), &[other.git()]).doing(doing)?;
        if bases.is_empty() {
            return Err(MergeError::Unrelated { ours: head, theirs: other });
        }
        let name = other.short();
        let labels = Labels { ancestor: None, current: Some("HEAD".into()), other: Some(name.as_str().into()) };
        let options = git.tree_merge_options().doing(doing)?;
        let mut outcome = git.merge_commits(head.git(), other.git(), labels, options.into()).doing(doing)?.tree_merge;
        let conflicts = conflicts_of(&git, &mut outcome)?;
        if !conflicts.is_empty() {
            return Err(MergeError::Conflict { commit: other, conflicts });
        }
        let tree = outcome.tree.write().doing(doing)?.detach();
        let parents = parents(head);
        if parents.len() == 1 && tree == tree_of(&git, head)? {
            return Ok(None);
        }
        let committer = committer.git();
        let commit = gix::objs::Commit {
            tree,
            parents: parents.into_iter().collect(),
            author: committer.clone(),
            committer: committer.clone(),
            encoding: None,
            message: message.as_str().into(),
            extra_headers: Vec::new(),
        };
        let commit = CommitId::from_git(git.write_object(&commit).doing(doing)?.detach());
        self.take_over(&git, head, commit, tree, &committer, format!("merge {other}"))?;
        Ok(Some(commit))
    }

    /// Checks the working tree, writes the objects that are in memory, and moves the worktree to them.
    fn take_over(
        &self,
        git: &gix::Repository,
        head: CommitId,
        tip: CommitId,
        tree: ObjectId,
        by: &gix::actor::Signature,
        reason: String,
    ) -> Result<(), SwitchError> {
        let switch = Switch::prepare(git, !self.is_main(), tree, Uncommitted::Refuse)?;
        if let Some(objects) = git.objects.reset_object_memory() {
            self.write(&objects)?;
        }
        switch.run(head, tip, by, reason)
    }

    fn write(&self, objects: &Storage) -> Result<(), GitError> {
        use gix::objs::Write as _;
        let on_disk = self.repository().git();
        for (id, (kind, data)) in objects.iter() {
            let written = on_disk.objects.write_buf(*kind, data);
            written.doing(|| format!("writing the object {id}"))?;
        }
        Ok(())
    }
}

/// The commits of a range along first parents, oldest first.
fn line(git: &gix::Repository, range: &Range<CommitId>) -> Result<Vec<CommitId>, CherryPickError> {
    let mut commits = Vec::new();
    let mut current = range.end;
    while current != range.start {
        let doing = || format!("reading the commit {current}");
        let commit = git.find_commit(current.git()).doing(doing)?;
        let mut parents = commit.parent_ids();
        let Some(parent) = parents.next() else {
            return Err(CherryPickError::NotARange { base: range.start, tip: range.end });
        };
        if parents.next().is_some() {
            return Err(CherryPickError::MergeCommit { commit: current });
        }
        commits.push(current);
        current = CommitId::from_git(parent.detach());
    }
    commits.reverse();
    Ok(commits)
}

/// The tree that results from picking a commit, if it is without conflicts.
fn pick(git: &gix::Repository, commit: CommitId, ours: ObjectId) -> Result<ObjectId, CherryPickError> {
    let (tree, conflicts) = apply(git, commit, ours)?;
    if conflicts.is_empty() { Ok(tree) } else { Err(CherryPickError::Conflict { commit, conflicts }) }
}

/// The tree that results from applying a commit's change to `ours`, with markers where there are conflicts.
fn apply(git: &gix::Repository, commit: CommitId, ours: ObjectId) -> Result<(ObjectId, Vec<Conflict>), GitError> {
    let doing = || format!("picking {commit}");
    let picked = git.find_commit(commit.git()).doing(doing)?;
    let parent = picked.parent_ids().next().ok_or_else(|| GitError::new(doing(), "it has no parent"))?;
    let base = tree_of(git, CommitId::from_git(parent.detach()))?;
    let theirs = picked.tree_id().doing(doing)?.detach();
    let subject = picked.message().doing(doing)?.summary().to_string();
    let other = format!("{} ({subject})", commit.short());
    let ancestor = format!("parent of {other}");
    let labels = Labels {
        ancestor: Some(ancestor.as_str().into()),
        current: Some("HEAD".into()),
        other: Some(other.as_str().into()),
    };
    let options = git.tree_merge_options().doing(doing)?;
    let mut outcome = git.merge_trees(base, ours, theirs, labels, options).doing(doing)?;
    let conflicts = conflicts_of(git, &mut outcome)?;
    Ok((outcome.tree.write().doing(doing)?.detach(), conflicts))
}

/// The same author, message and encoding with another tree and parent.
fn rewrite(
    git: &gix::Repository,
    commit: CommitId,
    tree: ObjectId,
    parent: CommitId,
    committer: &gix::actor::Signature,
) -> Result<CommitId, GitError> {
    let doing = || format!("picking {commit}");
    let picked = git.find_commit(commit.git()).doing(doing)?;
    let picked = picked.decode().doing(doing)?;
    let author = picked.author().doing(doing)?.to_owned().doing(doing)?;
    let new = gix::objs::Commit {
        tree,
        parents: [parent.git()].into_iter().collect(),
        author,
        committer: committer.clone(),
        encoding: picked.encoding.map(ToOwned::to_owned),
        message: picked.message.to_owned(),
        extra_headers: Vec::new(),
    };
    Ok(CommitId::from_git(git.write_object(&new).doing(doing)?.detach()))
}
