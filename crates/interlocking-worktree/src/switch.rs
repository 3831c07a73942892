//! Moving a working tree from one commit to another: files, index and HEAD together.
//!
//! gix checks out into a directory but deletes nothing there, so that part is here. The order is: lock the index,
//! look, refuse what must be refused, lock the reference with its old value compared, change files, move the
//! reference, put the index in place. Until files are changed nothing has happened.

use std::{
    collections::{BTreeMap, HashSet},
    path::PathBuf,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage},
};

use crate::{
    between::{Between, between},
    change::{Change, ChangeKind},
    files::{change_files, on_disk},
    git_error::{Doing as _, GitError, Listed},
    id::CommitId,
    index::{self, IndexLock},
    note::Intent,
    path::RepositoryPath,
    references::{Move, MoveError},
    snapshot::is_absent,
    step,
    survey::{Survey, head_tree},
    worktree::WorktreeError,
};

/// What to do with what is not committed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Uncommitted {
    /// Refuse changes to tracked files, and untracked files in the way; leave other untracked files alone.
    Refuse,
    /// Discard changes and untracked files, but no ignored ones unless a file must be where they are.
    Discard,
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
    /// Untracked or ignored files are where files of the new commit must go. Nothing was changed.
    #[error("untracked files in {} would be overwritten: {}; move them away", path.display(), Listed(paths))]
    InTheWay {
        /// The worktree.
        path: PathBuf,
        /// The files in the way.
        paths: Vec<RepositoryPath>,
    },
    /// The branch was moved by somebody else in the meantime. Nothing was changed.
    #[error("the branch moved in the meantime: expected {expected}, found {found:?}")]
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
    /// The worktree is not what it was.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A checked move, with the index locked.
pub(crate) struct Switch<'git> {
    git: &'git gix::Repository,
    root: PathBuf,
    lock: IndexLock,
    old: gix::index::File,
    new: gix::index::File,
    /// In the new commit, and other than on disk.
    write: HashSet<BString>,
    /// On disk, and not in the new commit.
    delete: Vec<BString>,
    new_tree: ObjectId,
    uncommitted: Uncommitted,
}

impl<'git> Switch<'git> {
    /// Locks the index, looks, and refuses what must be refused.
    pub(crate) fn prepare(
        git: &'git gix::Repository,
        is_linked: bool,
        new_tree: ObjectId,
        uncommitted: Uncommitted,
    ) -> Result<Self, SwitchError> {
        let root = git.workdir().ok_or_else(|| GitError::new("updating files", "the repository is bare"))?.to_owned();
        let lock = index::lock(git)?;
        // Untracked files matter only where something must be written, unless they are to go.
        let survey = match uncommitted {
            Uncommitted::Refuse => Survey::of_tracked(git, is_linked)?,
            Uncommitted::Discard => Survey::of_contents(git, is_linked)?,
        };
        if uncommitted == Uncommitted::Refuse {
            let changes = survey.tracked_changes();
            if !changes.is_empty() {
                return Err(SwitchError::Dirty { path: root, changes });
            }
        }
        if uncommitted == Uncommitted::Refuse {
            // What git tracks is as HEAD has it, so nothing needs to be read but what differs from that.
            let old_tree = head_tree(git)?;
            let Between { index, changed, gone } = between(git, &survey.index, old_tree, new_tree)?;
            let old = &survey.index;
            // A submodule's files are its own business; only its place is made.
            let is_moved_submodule = |path: &BStr| {
                let is_one = |index: &gix::index::State| index.entry_by_path(path).is_some_and(is_submodule);
                is_one(old) && is_one(&index)
            };
            let write = changed.into_iter().filter(|path| !is_moved_submodule(path.as_bstr())).collect();
            let mut delete: Vec<BString> = gone.into_iter().collect();
            delete.sort();
            let new = gix::index::File::from_state(index, git.index_path());
            let switch = Self { git, root, lock, write, delete, old: survey.index, new, new_tree, uncommitted };
            let paths = switch.in_the_way()?;
            if !paths.is_empty() {
                return Err(SwitchError::InTheWay { path: switch.root, paths });
            }
            return Ok(switch);
        }
        let new = git.index_from_tree(&new_tree).doing(|| format!("reading the tree {new_tree}"))?;
        let mut switch = Self {
            git,
            root,
            lock,
            write: HashSet::new(),
            delete: Vec::new(),
            old: survey.index,
            new,
            new_tree,
            uncommitted,
        };
        switch.discard(&survey.unstaged);
        Ok(switch)
    }

    /// Finds what to write and what to delete, and keeps what is known about files that stay; what is not committed goes.
    fn discard(&mut self, changed: &BTreeMap<BString, ChangeKind>) {
        let backing = self.new.path_backing().to_owned();
        for entry in self.new.entries_mut() {
            let path = entry.path_in(&backing);
            let same = self
                .old
                .entry_by_path_and_stage(path, Stage::Unconflicted)
                .filter(|old| old.id == entry.id && old.mode == entry.mode)
                .filter(|_| !changed.contains_key(path));
            match same {
                Some(old) => {
                    entry.stat = old.stat;
                    entry.flags |= old.flags & (Flags::SKIP_WORKTREE | Flags::EXTENDED | Flags::ASSUME_VALID);
                }
                // A submodule's files are its own business; only its place is made.
                None if entry.mode == Mode::COMMIT && self.old.entry_by_path(path).is_some_and(is_submodule) => {}
                None => {
                    self.write.insert(path.to_owned());
                }
            }
        }
        let gone = |path: &BStr| self.new.entry_by_path(path).is_none();
        let tracked = self.old.entries().iter().map(|entry| entry.path(&self.old));
        let mut delete: Vec<BString> = tracked.filter(|path| gone(path)).map(ToOwned::to_owned).collect();
        delete.extend(changed.keys().filter(|path| gone(path.as_bstr())).cloned());
        delete.sort();
        delete.dedup();
        self.delete = delete;
    }

    /// Files on disk that git does not track, where new files or their directories must go.
    fn in_the_way(&self) -> Result<Vec<RepositoryPath>, GitError> {
        let is_tracked = |path: &BStr| self.old.entry_by_path(path).is_some();
        let mut found: Vec<BString> = Vec::new();
        for path in &self.write {
            let doing = || format!("looking at {path} in {}", self.root.display());
            if is_tracked(path.as_bstr()) {
                continue;
            }
            // A file where one of the parent directories must be.
            let mut blocked = false;
            for (end, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                let parent = path[..end].as_bstr();
                match std::fs::symlink_metadata(self.on_disk(parent)) {
                    Ok(metadata) if metadata.is_dir() => {}
                    Ok(_) => {
                        if !is_tracked(parent) {
                            found.push(parent.to_owned());
                        }
                        blocked = true;
                        break;
                    }
                    Err(error) if is_absent(&error) => {
                        blocked = true;
                        break;
                    }
                    Err(error) => return Err(error).doing(doing),
                }
            }
            if blocked {
                continue;
            }
            match std::fs::symlink_metadata(self.on_disk(path.as_bstr())) {
                Ok(metadata) if metadata.is_dir() => self.untracked_below(path.as_bstr(), &mut found).doing(doing)?,
                Ok(_) => found.push(path.clone()),
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(error).doing(doing),
            }
        }
        found.sort();
        found.dedup();
        Ok(found.iter().map(|path| RepositoryPath::from_git(path.as_bstr())).collect())
    }

    fn untracked_below(&self, directory: &BStr, found: &mut Vec<BString>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(self.on_disk(directory))? {
            let entry = entry?;
            let name = gix::path::into_bstr(PathBuf::from(entry.file_name())).map_err(std::io::Error::other)?;
            let mut path = directory.to_owned();
            path.push(b'/');
            path.extend_from_slice(&name);
            if entry.file_type()?.is_dir() {
                self.untracked_below(path.as_bstr(), found)?;
            } else if self.old.entry_by_path(path.as_bstr()).is_none() {
                found.push(path);
            }
        }
        Ok(())
    }

    fn on_disk(&self, path: &BStr) -> PathBuf {
        on_disk(&self.root, path)
    }

    /// Changes the files, moves HEAD from `expected` to `to`, and replaces the index.
    pub(crate) fn run(
        self,
        expected: CommitId,
        to: CommitId,
        by: &gix::actor::Signature,
        reason: String,
    ) -> Result<(), SwitchError> {
        let Self { git, root, lock, mut old, mut new, write, delete, new_tree, uncommitted } = self;
        let moved = Move { name: "HEAD", expected: Some(expected.git()), to: to.git(), reason };
        let prepared = if expected == to {
            None
        } else {
            Some(moved.prepare(git).map_err(|error| match error {
                MoveError::Moved { found } => SwitchError::Moved { expected, found: found.map(CommitId::from_git) },
                MoveError::Git(error) => error.into(),
            })?)
        };

        let discard = uncommitted == Uncommitted::Discard;
        let git_directory = lock.git_directory.clone();
        if !discard {
            // What is not committed is refused, so that what was there can be told from the old index.
            lock.announce(&Intent::Files { root: root.clone(), git_directory: git_directory.clone(), tree: new_tree })?;
        }
        step::reached("files are about to change");
        let done = change_files(git, &root, &mut new, &write, &delete, discard)
            .and_then(|()| index::stage(lock, &new, Some(new_tree)))
            .and_then(|staged| match prepared {
                None => Ok(staged),
                Some(prepared) => {
                    staged.announce(&Intent::Moving { git_directory, to: to.git() })?;
                    prepared.commit(by).map(|_| staged)
                }
            });
        match done {
            // Nothing but a rename is left to do.
            Ok(staged) => Ok(index::replace(staged)?),
            Err(cause) => {
                // With uncommitted changes refused, the old index says exactly what was there.
                let restored = uncommitted == Uncommitted::Refuse && {
                    let was_there = |path: &&BString| old.entry_by_path(path.as_bstr()).is_some();
                    let back: HashSet<BString> = write.iter().filter(was_there).chain(&delete).cloned().collect();
                    let away: Vec<BString> = write.iter().filter(|path| !was_there(path)).cloned().collect();
                    change_files(git, &root, &mut old, &back, &away, false).is_ok()
                };
                Err(SwitchError::Files { path: root, cause, restored })
            }
        }
    }
}

fn is_submodule(entry: &gix::index::Entry) -> bool {
    entry.mode == Mode::COMMIT
}
