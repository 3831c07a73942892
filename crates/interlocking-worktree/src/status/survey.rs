//! Surveys: the differences between a working tree, its index and HEAD.

use std::collections::{BTreeMap, BTreeSet};

use gix::bstr::{BString, ByteSlice as _};

use crate::{
    status::{
        change::{Change, ChangeKind},
        examine::{Comparison, compare},
        index,
    },
    untrusted,
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// The differences, by path.
pub(crate) struct Survey {
    /// The index of the comparison, with the stat data of unchanged files refreshed.
    pub(crate) index: gix::index::File,
    /// Index against HEAD.
    pub(crate) staged: BTreeMap<BString, ChangeKind>,
    /// Working tree against index.
    pub(crate) unstaged: BTreeMap<BString, ChangeKind>,
    /// Untracked directories that are repositories themselves. They are in `unstaged` too.
    pub(crate) nested: BTreeSet<BString>,
}

impl Survey {
    /// Compares the working tree of `git`. For `reveal`, see [`index::read`].
    pub(crate) fn of(git: &gix::Repository, reveal: bool) -> Result<Self, GitError> {
        Self::with(git, reveal, true)
    }

    /// Compares only tracked files, which saves reading every directory.
    pub(crate) fn of_tracked(git: &gix::Repository, reveal: bool) -> Result<Self, GitError> {
        Self::with(git, reveal, false)
    }

    fn with(git: &gix::Repository, reveal: bool, untracked: bool) -> Result<Self, GitError> {
        let (mut index, tree) = index::read_with_tree(git, reveal)?;
        let head_tree = head_tree(git)?;
        let is_staged = tree != Some(head_tree);
        let with = is_staged.then_some(head_tree);
        let Comparison { staged, unstaged, nested, refreshed } = compare(git, &index, with, untracked)?;
        for (number, stat) in refreshed {
            index.entries_mut()[number].stat = stat;
        }
        Ok(Self { index, staged, unstaged, nested })
    }

    /// One entry per path: the difference to HEAD, as a commit of all changes would have it.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut kinds = self.staged.clone();
        for (path, unstaged) in &self.unstaged {
            let kind = match (self.staged.get(path), unstaged) {
                (Some(ChangeKind::Added), ChangeKind::Modified | ChangeKind::TypeChanged) => ChangeKind::Added,
                // Removed from the index, but the file exists.
                (Some(ChangeKind::Deleted), ChangeKind::Untracked) => ChangeKind::Modified,
                _ => *unstaged,
            };
            kinds.insert(path.clone(), kind);
        }
        changes_of(&kinds)
    }

    /// Changes to tracked files.
    pub(crate) fn tracked_changes(&self) -> Vec<Change> {
        let mut changes = self.changes();
        changes.retain(|change| change.kind != ChangeKind::Untracked);
        changes
    }

    pub(crate) fn conflicted(&self) -> Vec<RepositoryPath> {
        self.unstaged
            .iter()
            .filter(|(_, kind)| **kind == ChangeKind::Conflicted)
            .map(|(path, _)| RepositoryPath::from_git(path.as_bstr()))
            .collect()
    }
}

/// The tree of HEAD; the empty tree if there is no commit yet.
pub(crate) fn head_tree(git: &gix::Repository) -> Result<gix::ObjectId, GitError> {
    let tree = git.head_tree_id_or_empty().doing(|| format!("reading HEAD of {}", git.git_dir().display()))?.detach();
    if tree != gix::ObjectId::empty_tree(git.object_hash()) {
        untrusted::tree::check(git, tree)?;
    }
    Ok(tree)
}

fn changes_of(kinds: &BTreeMap<BString, ChangeKind>) -> Vec<Change> {
    kinds.iter().map(|(path, kind)| Change { path: RepositoryPath::from_git(path.as_bstr()), kind: *kind }).collect()
}
