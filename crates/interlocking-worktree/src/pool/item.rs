//! One retired worktree in a pool: a directory with the files, the note of what was written, and the configuration that
//! decided how they were written.
//!
//! | name | state |
//! |---|---|
//! | `….draft` | being made; a leftover if no process has its lock file locked |
//! | `….ready` | ready; in use if a process has its lock file locked |
//!
//! A killed process loses its locks, so its leftovers can be detected.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::Stat,
};

use crate::{
    checkout::files::write_all_files,
    filesystem::{clean_up::keep_untouched, deletion::delete_tree, own_paths},
    pool::{
        lock,
        rewrite::recheck_racy,
        written_files::{self, Pristine},
    },
    recovery::{intent_log::unique_name, process_lock::LockedFile, step},
    untrusted::{
        file::{Kind as FileKind, create_new, open_with},
        program,
    },
    values::git_error::{Doing as _, GitError},
};

/// An item that is being made.
pub(crate) struct Draft {
    directory: PathBuf,
    _lock: LockedFile,
    is_done: bool,
}

/// An item that this process has taken for a new worktree.
pub(crate) struct Claim {
    directory: PathBuf,
    _lock: LockedFile,
    pub(crate) noted: Pristine,
}

impl Draft {
    /// Begins an item, unless the pool is full.
    pub(crate) fn begin(pool: &Path, limit: usize) -> Result<Option<Self>, GitError> {
        let doing = || format!("adding to the pool in {}", pool.display());
        let _counting = lock(pool)?;
        if items(pool)?.len() >= limit {
            return Ok(None);
        }
        let directory = pool.join(format!("{}.draft", unique_name()));
        own_paths::create_dir(&directory).doing(doing)?;
        let file = create_new(&directory.join("lock")).doing(doing)?;
        let lock = LockedFile::wait_for(file).doing(doing)?;
        Ok(Some(Self { directory, _lock: lock, is_done: false }))
    }

    /// Writes the files of a tree and finishes the item. `form` is the configuration that decides how they are written.
    pub(crate) fn write(self, git: &gix::Repository, tree: ObjectId, form: &BStr) -> Result<(), GitError> {
        let files = self.directory.join("files");
        let doing = || format!("writing {}", files.display());
        own_paths::create_dir(&files).doing(doing)?;
        program::check(git, &files)?;
        let mut index = git.index_from_tree(&tree).doing(doing)?;
        write_all_files(git, &files, &mut index)?;
        written_files::save(&self.directory, &index, tree, form)?;
        step::reached("files are written into the pool");
        self.finish()
    }

    /// Cleans `files`, moves them into the item and finishes it. `noted` was read from the note in the directory
    /// `noted_at`.
    pub(crate) fn fill(
        self,
        git: &gix::Repository,
        files: &Path,
        noted_at: &Path,
        mut noted: Pristine,
    ) -> Result<(), GitError> {
        let doing = || format!("cleaning {}", files.display());
        let keep = vec![true; noted.index.entries().len()];
        let when =
            std::fs::metadata(noted_at.join(written_files::NOTE)).and_then(|note| note.modified()).doing(doing)?;
        let mut kept = keep_untouched(files, &noted.index, &keep, &self.directory, false).doing(doing)?;
        step::reached("retired files are cleaned");
        recheck_racy(git, files, &noted.index, &mut kept, when)?;
        let attributes: Vec<BString> =
            written_files::attributes(&noted.index).into_iter().map(|(path, _)| path.to_owned()).collect();
        for (number, (entry, path)) in noted.index.entries_mut_with_paths().enumerate() {
            if !kept[number] {
                if attributes.iter().any(|attributes| attributes == path) {
                    return Err(GitError::new(doing(), "its attributes were changed"));
                }
                entry.stat = Stat::default();
            }
        }
        written_files::save(&self.directory, &noted.index, noted.tree, noted.form.as_bstr())?;
        own_paths::rename(files, self.directory.join("files")).doing(doing)?;
        step::reached("retired files are in the pool");
        self.finish()
    }

    /// Renames the item to ready: from here on, a new worktree can take it.
    fn finish(mut self) -> Result<(), GitError> {
        let ready = self.directory.with_extension("ready");
        own_paths::rename(&self.directory, &ready).doing(|| format!("naming {}", ready.display()))?;
        self.is_done = true;
        step::reached("a retired worktree is ready");
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = delete_tree(&self.directory);
        }
    }
}

impl Claim {
    /// Takes a ready item that no other process has taken.
    pub(crate) fn any(git: &gix::Repository, pool: &Path) -> Result<Option<Self>, GitError> {
        for directory in ready(pool)? {
            let Ok(Some(file)) = open_lock(&directory) else { continue };
            let Ok(lock) = LockedFile::take(file) else { continue };
            if !directory.join("files").is_dir() {
                continue;
            }
            match Pristine::read(git, &directory) {
                Ok(noted) => return Ok(Some(Self { directory, _lock: lock, noted })),
                // Without a valid note it is useless.
                Err(_) => drop(delete_tree(&directory)),
            }
        }
        Ok(None)
    }

    /// The directory of the files, until it is moved to its new place.
    pub(crate) fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// A directory with the permissions of a new one.
    pub(crate) fn model(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Once the files have been moved, only the note and the lock file are left.
        if !self.files().exists() {
            for name in [written_files::NOTE, "lock"] {
                let _ = own_paths::remove_file(self.directory.join(name));
            }
            if own_paths::remove_dir(&self.directory).is_ok() {
                return;
            }
        }
        let _ = delete_tree(&self.directory);
    }
}

/// The ready items.
pub(crate) fn ready(pool: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut ready = items(pool)?;
    ready.retain(|item| item.extension() == Some("ready".as_ref()));
    Ok(ready)
}

/// Deletes items that killed processes have left.
pub(crate) fn sweep(pool: &Path) -> Result<(), GitError> {
    let _counting = lock(pool)?;
    for item in items(pool)? {
        let is_abandoned = match open_lock(&item) {
            // The process was killed before the lock file existed. No process begins an item while this one holds the
            // pool's lock.
            Err(_) | Ok(None) => true,
            Ok(Some(file)) => LockedFile::take(file).is_ok(),
        };
        let is_whole = item.extension() == Some("ready".as_ref()) && item.join("files").is_dir();
        if is_abandoned && !is_whole {
            delete_tree(&item).doing(|| format!("deleting {}", item.display()))?;
        }
    }
    Ok(())
}

fn open_lock(item: &Path) -> Result<Option<File>, GitError> {
    open_with(&item.join("lock"), FileKind::Link, File::options().write(true))
}

/// All items, by names that only this crate gives.
fn items(pool: &Path) -> Result<Vec<PathBuf>, GitError> {
    let doing = || format!("reading the pool in {}", pool.display());
    let mut items = Vec::new();
    for entry in own_paths::read_dir(pool).doing(doing)? {
        let entry = entry.doing(doing)?;
        let name = entry.file_name();
        let Some((number, kind)) = name.to_str().and_then(|name| name.split_once('.')) else { continue };
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_number && ["draft", "ready"].contains(&kind) && entry.file_type().doing(doing)?.is_dir() {
            items.push(entry.path());
        }
    }
    items.sort();
    Ok(items)
}
