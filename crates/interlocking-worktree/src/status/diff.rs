//! Differences between two commits, or between a commit and a working tree.

use std::fmt;

use gix::{ObjectId, bstr::BStr, diff::tree_with_rewrites::Change as GitChange};

use crate::{
    checkout::reset::tree_of,
    repository::Repository,
    status::{
        patch,
        snapshot::{Keeping, Snapshot},
        survey::Survey,
    },
    values::{
        git_error::{Doing as _, GitError},
        id::{BlobId, CommitId},
        path::RepositoryPath,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileChange {
    /// The file's path; for a renamed file, the new path.
    pub path: RepositoryPath,
    /// How it differs.
    pub kind: FileChangeKind,
    /// The contents before; none if it was added.
    pub before: Option<BlobId>,
    /// The contents after; none if it was deleted.
    pub after: Option<BlobId>,
}

/// How a file differs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileChangeKind {
    /// It is new.
    Added,
    /// Its contents, its executable bit or its type changed.
    Modified,
    /// It was deleted.
    Deleted,
    /// It has another path, and at least half of its contents are the same.
    Renamed {
        /// The old path.
        from: RepositoryPath,
    },
}

impl FileChange {
    /// The paths that the change touches: both of a rename, otherwise one.
    pub fn touched(&self) -> impl Iterator<Item = &RepositoryPath> {
        let from = match &self.kind {
            FileChangeKind::Renamed { from } => Some(from),
            _ => None,
        };
        from.into_iter().chain([&self.path])
    }
}

impl fmt::Display for FileChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.kind {
            FileChangeKind::Added => write!(formatter, "{path} (added)"),
            FileChangeKind::Modified => write!(formatter, "{path} (modified)"),
            FileChangeKind::Deleted => write!(formatter, "{path} (deleted)"),
            FileChangeKind::Renamed { from } => write!(formatter, "{path} (renamed from {from})"),
        }
    }
}

impl Repository {
    /// The files that differ from `from` to `to`, ordered by path.
    pub fn diff(&self, from: CommitId, to: CommitId) -> Result<Vec<FileChange>, GitError> {
        let git = self.git();
        let changes = between(&git, tree_of(&git, from)?, tree_of(&git, to)?)?;
        Ok(changes.iter().map(|change| change.public()).collect())
    }

    /// Like [`diff`](Self::diff), as a patch that `git apply` takes. Binary files are named by path and full id without
    /// their contents: git applies them if it has the contents, as in this repository. A file is binary if it has a NUL
    /// byte in the first 8000 bytes or is not UTF-8.
    pub fn unified_diff(&self, from: CommitId, to: CommitId) -> Result<String, GitError> {
        let git = self.git();
        patch::text(&git, &between(&git, tree_of(&git, from)?, tree_of(&git, to)?)?)
    }
}

impl Worktree {
    /// The files that differ between `commit` and the working tree, committed or not, including untracked files but not
    /// ignored ones: what an agent changed, for an audit of the paths that it may touch. Nothing is written.
    pub fn diff_since(&self, commit: CommitId) -> Result<Vec<FileChange>, WorktreeError> {
        let (git, from, to) = self.trees_since(commit)?;
        let changes = between(&git, from, to)?;
        Ok(changes.iter().map(|change| change.public()).collect())
    }

    /// Like [`Worktree::diff_since`], as a patch.
    pub fn unified_diff_since(&self, commit: CommitId) -> Result<String, WorktreeError> {
        let (git, from, to) = self.trees_since(commit)?;
        Ok(patch::text(&git, &between(&git, from, to)?)?)
    }

    fn trees_since(&self, commit: CommitId) -> Result<(gix::Repository, ObjectId, ObjectId), WorktreeError> {
        let (git, _head) = self.open()?;
        let git = git.with_object_memory();
        let from = tree_of(&git, commit)?;
        let survey = Survey::of(&git, !self.is_main())?;
        let to = Snapshot::of(&git, survey, |_| true, Keeping::InMemory)?.tree;
        Ok((git, from, to))
    }
}

/// A changed file, with the data that a patch needs.
pub(crate) struct Difference {
    pub(crate) path: RepositoryPath,
    pub(crate) from: Option<RepositoryPath>,
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
}

#[derive(Clone, Copy)]
pub(crate) struct Version {
    pub(crate) id: ObjectId,
    pub(crate) mode: gix::objs::tree::EntryMode,
}

impl Difference {
    pub(crate) fn public(&self) -> FileChange {
        let kind = match (&self.before, &self.after, &self.from) {
            (_, _, Some(from)) => FileChangeKind::Renamed { from: from.clone() },
            (None, _, None) => FileChangeKind::Added,
            (_, None, None) => FileChangeKind::Deleted,
            _ => FileChangeKind::Modified,
        };
        let blob = |version: &Option<Version>| version.map(|version| BlobId::from_git(version.id));
        FileChange { path: self.path.clone(), kind, before: blob(&self.before), after: blob(&self.after) }
    }
}

pub(crate) fn between(git: &gix::Repository, from: ObjectId, to: ObjectId) -> Result<Vec<Difference>, GitError> {
    let doing = || format!("comparing the trees {from} and {to}");
    let from_tree = git.find_tree(from).doing(doing)?;
    let to_tree = git.find_tree(to).doing(doing)?;
    // Git's own thresholds, whatever the user's configuration says about renames. In a diff an empty file can be
    // renamed too; in a merge it cannot.
    let rewrites = gix::diff::Rewrites { track_empty: true, ..gix::diff::Rewrites::default() };
    let options = gix::diff::Options::default().with_rewrites(Some(rewrites));
    let changes = git.diff_tree_to_tree(&from_tree, &to_tree, options).doing(doing)?;
    let mut differences: Vec<Difference> = changes.into_iter().filter_map(difference).collect();
    differences.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(differences)
}

/// None for directories, which are reported in addition to their files.
fn difference(change: GitChange) -> Option<Difference> {
    let path = |path: &BStr| RepositoryPath::from_git(path);
    let version = |mode: gix::objs::tree::EntryMode, id: ObjectId| mode.is_no_tree().then_some(Version { id, mode });
    let found = match change {
        GitChange::Addition { location, entry_mode, id, .. } => {
            Difference { path: path(location.as_ref()), from: None, before: None, after: version(entry_mode, id) }
        }
        GitChange::Deletion { location, entry_mode, id, .. } => {
            Difference { path: path(location.as_ref()), from: None, before: version(entry_mode, id), after: None }
        }
        GitChange::Modification { location, previous_entry_mode, previous_id, entry_mode, id } => Difference {
            path: path(location.as_ref()),
            from: None,
            before: version(previous_entry_mode, previous_id),
            after: version(entry_mode, id),
        },
        GitChange::Rewrite {
            source_location, source_entry_mode, source_id, location, entry_mode, id, copy, ..
        } => Difference {
            path: path(location.as_ref()),
            from: (!copy).then(|| path(source_location.as_ref())),
            before: version(source_entry_mode, source_id).filter(|_| !copy),
            after: version(entry_mode, id),
        },
    };
    (found.before.is_some() || found.after.is_some()).then_some(found)
}
