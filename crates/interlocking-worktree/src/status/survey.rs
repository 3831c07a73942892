//! A look at a working tree: what differs from the index, and the index from HEAD.

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

/// What was found, by path.
pub(crate) struct Survey {
    /// The index it was compared with, with the times of unchanged files brought up to date.
    pub(crate) index: gix::index::File,
    /// Index against HEAD.
    pub(crate) staged: BTreeMap<BString, ChangeKind>,
    /// Working tree against index.
    pub(crate) unstaged: BTreeMap<BString, ChangeKind>,
    /// Untracked directories that are repositories themselves. They are in `unstaged` too.
    pub(crate) nested: BTreeSet<BString>,
}

impl Survey {
    /// Looks at the working tree of `git`. `reveal`: see [`index::read`].
    pub(crate) fn of(git: &gix::Repository, reveal: bool) -> Result<Self, GitError> {
        Self::with(git, reveal, true)
    }

    /// Looks at what git tracks alone, which saves walking through every directory.
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

    /// One entry a path: against HEAD, as a commit of everything would see it.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut kinds = self.staged.clone();
        for (path, unstaged) in &self.unstaged {
            let kind = match (self.staged.get(path), unstaged) {
                (Some(ChangeKind::Added), ChangeKind::Modified | ChangeKind::TypeChanged) => ChangeKind::Added,
                // Removed from the index, but still or again there.
                (Some(ChangeKind::Deleted), ChangeKind::Untracked) => ChangeKind::Modified,
                _ => *unstaged,
            };
            kinds.insert(path.clone(), kind);
        }
        changes_of(&kinds)
    }

    /// Changes to what git tracks; untracked files are left out.
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

/// The tree that HEAD is at; the empty one if there is no commit yet.
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
