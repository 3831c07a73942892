//! A look at a working tree: what differs from the index, and the index from HEAD.

use std::collections::{BTreeMap, BTreeSet};

use gix::{
    bstr::{BString, ByteSlice as _},
    dir::walk::EmissionMode,
    status::{Item, index_worktree, plumbing::index_as_worktree},
};

use crate::{
    change::{Change, ChangeKind},
    examine::compare,
    git_error::{Doing as _, GitError},
    index,
    path::RepositoryPath,
    untrusted,
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
        Self::with(git, reveal, Some(untracked_files(git)?))
    }

    /// Looks at what git tracks alone, which saves walking through every directory.
    pub(crate) fn of_tracked(git: &gix::Repository, reveal: bool) -> Result<Self, GitError> {
        Self::with(git, reveal, None)
    }

    /// Looks at the contents of every file, whatever the index says of its times and sizes: whoever writes the index could have a
    /// file seem unchanged.
    pub(crate) fn of_contents(git: &gix::Repository, reveal: bool) -> Result<Self, GitError> {
        let mut index = index::read(git, reveal)?;
        for entry in index.entries_mut() {
            entry.stat = gix::index::entry::Stat::default();
        }
        Self::against(git, index, Some(untracked_files(git)?))
    }

    fn with(git: &gix::Repository, reveal: bool, walk: Option<gix::dirwalk::Options>) -> Result<Self, GitError> {
        Self::against(git, index::read(git, reveal)?, walk)
    }

    fn against(
        git: &gix::Repository,
        mut index: gix::index::File,
        walk: Option<gix::dirwalk::Options>,
    ) -> Result<Self, GitError> {
        let doing = || {
            let root = git.workdir().unwrap_or_else(|| git.git_dir());
            format!("comparing {} with its index", root.display())
        };
        let head_tree = head_tree(git)?;
        let items = compare(git, &index, head_tree, walk);

        let mut staged = BTreeMap::new();
        let mut unstaged = BTreeMap::new();
        let mut nested = BTreeSet::new();
        for item in items.doing(doing)? {
            match item {
                Item::TreeIndex(change) => {
                    staged.insert(change.location().to_owned(), staged_kind(&change));
                }
                Item::IndexWorktree(index_worktree::Item::Modification { rela_path, entry_index, status, .. }) => {
                    if let index_as_worktree::EntryStatus::NeedsUpdate(stat) = status {
                        index.entries_mut()[entry_index].stat = stat;
                    } else if let Some(kind) = unstaged_kind(&status) {
                        if became_repository(&status) {
                            nested.insert(rela_path.clone());
                        }
                        unstaged.insert(rela_path, kind);
                    }
                }
                Item::IndexWorktree(index_worktree::Item::DirectoryContents { entry, .. }) => {
                    use gix::dir::entry::{Kind, Status};
                    let is_file = !matches!(entry.disk_kind, None | Some(Kind::Untrackable | Kind::Directory));
                    if entry.status != Status::Untracked || !is_file {
                        continue;
                    }
                    // A directory is reported with a slash at its end.
                    let path: BString = entry.rela_path.trim_end_with(|byte| byte == '/').into();
                    if entry.disk_kind == Some(Kind::Repository) {
                        nested.insert(path.clone());
                    }
                    unstaged.insert(path, ChangeKind::Untracked);
                }
                // Renames are not looked for.
                Item::IndexWorktree(index_worktree::Item::Rewrite { dirwalk_entry, .. }) => {
                    unstaged.insert(dirwalk_entry.rela_path, ChangeKind::Untracked);
                }
            }
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

/// How to look for untracked files: each of them, whatever a user has chosen for their own `git status`.
fn untracked_files(git: &gix::Repository) -> Result<gix::dirwalk::Options, GitError> {
    let options =
        git.dirwalk_options().doing(|| format!("reading the configuration of {}", git.git_dir().display()))?;
    Ok(options.emit_untracked(EmissionMode::Matching))
}

fn changes_of(kinds: &BTreeMap<BString, ChangeKind>) -> Vec<Change> {
    kinds.iter().map(|(path, kind)| Change { path: RepositoryPath::from_git(path.as_bstr()), kind: *kind }).collect()
}

fn staged_kind(change: &gix::diff::index::Change) -> ChangeKind {
    use gix::diff::index::ChangeRef;
    match change {
        ChangeRef::Addition { .. } | ChangeRef::Rewrite { .. } => ChangeKind::Added,
        ChangeRef::Deletion { .. } => ChangeKind::Deleted,
        ChangeRef::Modification { previous_entry_mode, entry_mode, .. } => {
            use gix::index::entry::Mode;
            let is_file = |mode: Mode| mode.intersects(Mode::FILE) && mode != Mode::SYMLINK && mode != Mode::COMMIT;
            if is_file(*previous_entry_mode) == is_file(*entry_mode) {
                ChangeKind::Modified
            } else {
                ChangeKind::TypeChanged
            }
        }
    }
}

/// A tracked file whose place a repository has taken.
fn became_repository<T, U>(status: &index_as_worktree::EntryStatus<T, U>) -> bool {
    use index_as_worktree::{Change as Unstaged, EntryStatus};
    matches!(status, EntryStatus::Change(Unstaged::Type { worktree_mode: gix::index::entry::Mode::COMMIT }))
}

/// None: nothing changed.
fn unstaged_kind<T, U>(status: &index_as_worktree::EntryStatus<T, U>) -> Option<ChangeKind> {
    use index_as_worktree::{Change as Unstaged, EntryStatus};
    Some(match status {
        EntryStatus::Conflict { .. } => ChangeKind::Conflicted,
        EntryStatus::Change(Unstaged::Removed) => ChangeKind::Deleted,
        EntryStatus::Change(Unstaged::Type { .. }) => ChangeKind::TypeChanged,
        EntryStatus::Change(Unstaged::Modification { .. } | Unstaged::SubmoduleModification(_)) => ChangeKind::Modified,
        EntryStatus::NeedsUpdate(_) => return None,
        // In the index by `git add --intent-to-add`, with no contents yet.
        EntryStatus::IntentToAdd => ChangeKind::Added,
    })
}
