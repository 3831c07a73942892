//! Moving a working tree from one commit to another: files, index and HEAD together.
//!
//! gix can check out into a directory but deletes nothing there, so that is done here. The order is: lock the index,
//! compare, refuse what must be refused, lock the reference and compare its old value, change files, move the
//! reference, put the index in place. Until files are changed, nothing has happened.

use std::{
    collections::{BTreeSet, HashSet},
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode},
};

use crate::{
    checkout::{
        discard::discard,
        files::change_files,
        hidden::{Hidden, hidden, leave_out},
        index_between::{Between, between},
    },
    filesystem::{
        directory::{Directory, Kind, split},
        entries::for_each_entry,
    },
    recovery::{intent_log::Intent, step},
    repository::references::{Move, MoveError, Named},
    status::{
        change::Change,
        index,
        index_lock::{self, IndexLock},
        survey::{Survey, head_tree},
        unchanged::DEEPEST,
    },
    values::worktree_error::WorktreeError,
    values::{
        git_error::{Doing as _, GitError, Listed},
        id::{CommitId, at},
        name::BranchName,
        path::RepositoryPath,
    },
};

/// What to do with uncommitted changes.
#[derive(Clone, Copy)]
pub(crate) enum Uncommitted<'a> {
    /// Refuse to continue if tracked files have changes or untracked files are in the way; leave other untracked files
    /// alone.
    Refuse,
    /// Discard changes, untracked files and ignored files, except at these paths.
    Discard { spared: &'a [RepositoryPath] },
}

/// The changes to make in the working tree.
enum Plan<'a> {
    /// Only files that differ between the commits.
    Change {
        /// Files of the new commit that differ from those on disk.
        write: HashSet<BString>,
        /// Files on disk that are not in the new commit.
        delete: Vec<BString>,
        /// Hidden files of the old commit that are not on disk.
        absent: HashSet<BString>,
    },
    /// Everything that is not in the new commit.
    Discard { spared: &'a [RepositoryPath] },
}

/// A working tree could not be moved to another commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    /// There are uncommitted changes. Nothing was changed.
    #[error("{} has uncommitted changes: {}; commit or discard them", path.display(), Listed(changes))]
    Dirty {
        /// The worktree.
        path: PathBuf,
        /// The changes to tracked files.
        changes: Vec<Change>,
    },
    /// Untracked or ignored files are at paths of files of the new commit. Nothing was changed.
    #[error("untracked files in {} would be overwritten: {}; move them away", path.display(), Listed(paths))]
    InTheWay {
        /// The worktree.
        path: PathBuf,
        /// The files in the way.
        paths: Vec<RepositoryPath>,
    },
    /// The branch was moved in the meantime. Nothing was changed.
    #[error("the branch moved in the meantime: expected at {expected}, found {}", at(*found, "gone"))]
    Moved {
        /// The commit it was at.
        expected: CommitId,
        /// The commit it is at.
        found: Option<CommitId>,
    },
    /// Files could not be written. The branch has not moved.
    #[error("{} could not be updated: {cause}; {}", path.display(), if *restored { "its files are as before" } else { "its files are part old, part new" })]
    Files {
        /// The worktree.
        path: PathBuf,
        /// What failed.
        cause: GitError,
        /// Whether the files are as before.
        restored: bool,
    },
    /// The worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A checked switch, with the index locked.
pub(crate) struct Switch<'git> {
    git: &'git gix::Repository,
    root: PathBuf,
    lock: IndexLock,
    old: gix::index::File,
    new: gix::index::File,
    plan: Plan<'git>,
    new_tree: ObjectId,
}

impl<'git> Switch<'git> {
    /// Locks the index, compares, and refuses what must be refused.
    pub(crate) fn prepare(
        git: &'git gix::Repository,
        is_linked: bool,
        new_tree: ObjectId,
        uncommitted: Uncommitted<'git>,
    ) -> Result<Self, SwitchError> {
        let root = git.workdir().ok_or_else(|| GitError::new("updating files", "the repository is bare"))?.to_owned();
        let lock = index_lock::lock(git)?;
        if let Uncommitted::Discard { spared } = uncommitted {
            let new = git.index_from_tree(&new_tree).doing(|| format!("reading the tree {new_tree}"))?;
            // The old index is about to be replaced. If it cannot be read, no file counts as unchanged.
            let none = |_| gix::index::File::from_state(gix::index::State::new(git.object_hash()), git.index_path());
            let old = index::read(git, is_linked).unwrap_or_else(none);
            return Ok(Self { git, root, lock, old, new, plan: Plan::Discard { spared }, new_tree });
        }
        // Untracked files matter only where something must be written.
        let survey = Survey::of_tracked(git, is_linked)?;
        let changes = survey.tracked_changes();
        if !changes.is_empty() {
            return Err(SwitchError::Dirty { path: root, changes });
        }
        // Tracked files are as in HEAD, so only what differs from HEAD's tree needs to be read.
        let old_tree = head_tree(git)?;
        let Between { mut index, changed, gone } = between(git, &survey.index, old_tree, new_tree)?;
        let old = &survey.index;
        let is_tracked = |path: &BString| old.entry_by_path(path.as_bstr()).is_some();
        // As git does, what is outside a sparse checkout stays outside.
        let skipped = |path: &BStr| {
            let entry = old.entry_by_path(path).filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE));
            entry.map(|entry| entry.flags & (Flags::SKIP_WORKTREE | Flags::EXTENDED))
        };
        for path in &changed {
            if let Some(flags) = skipped(path.as_bstr())
                && let Ok(number) = index.entry_index_by_path(path.as_bstr())
            {
                index.entries_mut()[number].flags |= flags;
            }
        }
        let new_outside = leave_out(git, &mut index, changed.iter().filter(|path| !is_tracked(path)))?;
        // A submodule's files are not written; only its directory is made.
        let is_moved_submodule = |path: &BStr| {
            let is_one = |index: &gix::index::State| index.entry_by_path(path).is_some_and(is_submodule);
            is_one(old) && is_one(&index)
        };
        let Hidden { changed: changes, absent } = hidden(git, old, changed.iter().chain(&gone))?;
        if !changes.is_empty() {
            return Err(SwitchError::Dirty { path: root, changes });
        }
        let is_left_out =
            |path: &BString| new_outside.contains(path) || absent.contains(path) && skipped(path.as_bstr()).is_some();
        let is_written = |path: &BString| !is_moved_submodule(path.as_bstr()) && !is_left_out(path);
        let mut delete: Vec<BString> = gone.into_iter().filter(|path| !absent.contains(path)).collect();
        delete.sort();
        // Also where nothing is written: recovery takes what is at the place of a new file for that file.
        let is_new = |path: &BString| !is_tracked(path) || absent.contains(path) && is_written(path);
        let paths = in_the_way(&root, old, changed.iter().filter(|path| is_new(path)))?;
        if !paths.is_empty() {
            return Err(SwitchError::InTheWay { path: root, paths });
        }
        let write: HashSet<BString> = changed.iter().filter(|path| is_written(path)).cloned().collect();
        let new = gix::index::File::from_state(index, git.index_path());
        Ok(Self { git, root, lock, old: survey.index, new, plan: Plan::Change { write, delete, absent }, new_tree })
    }

    /// Changes the files, moves HEAD, which must be on `branch`, from `expected` to `to`, and replaces the index.
    pub(crate) fn run(
        self,
        branch: Option<&BranchName>,
        expected: CommitId,
        to: CommitId,
        by: &gix::actor::Signature,
        reason: String,
    ) -> Result<(), SwitchError> {
        let Self { git, root, lock, mut old, mut new, plan, new_tree } = self;
        let moved = Move { name: Named::Head(branch), expected: Some(expected.git()), to: to.git(), reason };
        let prepared = if expected == to {
            None
        } else {
            Some(moved.prepare(git).map_err(|error| match error {
                MoveError::Moved { found } => SwitchError::Moved { expected, found: found.map(CommitId::from_git) },
                MoveError::Git(error) => error.into(),
            })?)
        };

        let git_directory = lock.git_directory.clone();
        if matches!(plan, Plan::Change { .. }) {
            // Uncommitted changes were refused, so the old index tells what was there.
            lock.announce(&Intent::Files { root: root.clone(), git_directory: git_directory.clone(), tree: new_tree })?;
        }
        step::reached("files are about to change");
        let changed = match &plan {
            Plan::Change { write, delete, .. } => change_files(git, &root, &mut new, write, delete),
            Plan::Discard { spared } => discard(git, &root, &old, &mut new, spared),
        };
        let done =
            changed.and_then(|()| index_lock::stage(lock, &new, Some(new_tree))).and_then(|staged| match prepared {
                None => Ok(staged),
                Some(prepared) => {
                    staged.announce(&Intent::Moving { git_directory, to: to.git() })?;
                    prepared.commit(by).map(|_| staged)
                }
            });
        match done {
            // Only a rename is left to do.
            Ok(staged) => Ok(index_lock::replace(staged)?),
            Err(cause) => {
                let restored = match &plan {
                    Plan::Discard { .. } => false,
                    // Uncommitted changes were refused, so the old index says exactly what was there.
                    Plan::Change { write, delete, absent } => {
                        let was_there =
                            |path: &&BString| old.entry_by_path(path.as_bstr()).is_some() && !absent.contains(*path);
                        let back: HashSet<BString> = write.iter().filter(was_there).chain(delete).cloned().collect();
                        let away: Vec<BString> = write.iter().filter(|path| !was_there(path)).cloned().collect();
                        change_files(git, &root, &mut old, &back, &away).is_ok()
                    }
                };
                Err(SwitchError::Files { path: root, cause, restored })
            }
        }
    }
}

fn is_submodule(entry: &gix::index::Entry) -> bool {
    entry.mode == Mode::COMMIT
}

/// Finds untracked files that are in the way of `new` files, which are not there yet, or of their directories.
fn in_the_way<'path>(
    root: &Path,
    old: &gix::index::State,
    new: impl Iterator<Item = &'path BString>,
) -> Result<Vec<RepositoryPath>, GitError> {
    let is_tracked = |path: &BStr| old.entry_by_path(path).is_some();
    let opened = Directory::open(root).doing(|| format!("opening {}", root.display()))?;
    let mut found: BTreeSet<BString> = BTreeSet::new();
    for path in new {
        let doing = || format!("looking at {path} in {}", root.display());
        let mut directory = opened.below(BStr::new("")).doing(doing)?;
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end);
        for end in ends.chain([path.len()]) {
            let Some(above) = directory.take() else { break };
            let part = path[..end].as_bstr();
            let (_, name) = split(part);
            let Some(metadata) = above.metadata(name).doing(doing)? else { break };
            if metadata.kind != Kind::Directory {
                // In the way of the file itself or of a directory above it.
                if !is_tracked(part) {
                    found.insert(part.to_owned());
                }
                break;
            }
            directory = above.directory(name).doing(doing)?;
            if end == path.len()
                && let Some(directory) = &directory
            {
                untracked_below(directory, part, old, 1, &mut found).doing(doing)?;
            }
        }
    }
    Ok(found.iter().map(|path| RepositoryPath::from_git(path.as_bstr())).collect())
}

/// Finds untracked files in a directory that must be removed. If directories are nested too deeply to keep them all
/// open, the directory itself is reported.
fn untracked_below(
    directory: &Directory,
    path: &BStr,
    old: &gix::index::State,
    depth: usize,
    found: &mut BTreeSet<BString>,
) -> std::io::Result<()> {
    let mut names = Vec::new();
    for_each_entry(directory, |name, _| {
        names.push(BString::from(name.to_bytes()));
        Ok(())
    })?;
    for name in names {
        let below = BString::from([path.as_bytes(), b"/", name.as_slice()].concat());
        match directory.directory(&name)? {
            Some(_) if depth == DEEPEST => drop(found.insert(below)),
            Some(inside) => untracked_below(&inside, below.as_bstr(), old, depth + 1, found)?,
            None if old.entry_by_path(below.as_bstr()).is_none() => drop(found.insert(below)),
            None => {}
        }
    }
    Ok(())
}
