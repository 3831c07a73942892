//! One retired worktree in a pool: a directory with the files, the note of what they are, and what decided how they look.
//!
//! | name | is |
//! |---|---|
//! | `….draft` | being cleaned; a leftover if nobody has its note locked |
//! | `….ready` | ready; in use if somebody has its note locked |
//!
//! A process that is killed loses its locks, so what it left is found out.

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
    filesystem::{clean_up::strip, own_paths, trash::delete_tree},
    pool::{
        lock,
        rewrite::look_again,
        written_files::{self, Pristine},
    },
    recovery::{intent_log::unique_name, process_lock::Held, step},
    untrusted::{
        file::{Kind as FileKind, create_new, open_with},
        program,
    },
    values::git_error::{Doing as _, GitError},
};

/// An item that is being made.
pub(crate) struct Draft {
    directory: PathBuf,
    _lock: Held,
    is_done: bool,
}

/// An item that is about to be used.
pub(crate) struct Claim {
    directory: PathBuf,
    _lock: Held,
    pub(crate) noted: Pristine,
}

impl Draft {
    /// Begins one, unless there are enough.
    pub(crate) fn begin(pool: &Path, limit: usize) -> Result<Option<Self>, GitError> {
        let doing = || format!("adding to the pool in {}", pool.display());
        let _counting = lock(pool)?;
        if items(pool)?.len() >= limit {
            return Ok(None);
        }
        let directory = pool.join(format!("{}.draft", unique_name()));
        own_paths::create_dir(&directory).doing(doing)?;
        let file = create_new(&directory.join("lock")).doing(doing)?;
        let lock = Held::wait_for(file).doing(doing)?;
        Ok(Some(Self { directory, _lock: lock, is_done: false }))
    }

    /// Writes the files of a tree, and takes them in. `form` is what decides how they look.
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

    /// Cleans `files` and takes them in. `noted_at` is where what is noted of them comes from.
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
        let mut kept = strip(files, &noted.index, &keep, &self.directory, false).doing(doing)?;
        step::reached("retired files are cleaned");
        look_again(git, files, &noted.index, &mut kept, when)?;
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

    /// Has it be used from here on.
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
    /// Takes one that is ready and that nobody else takes.
    pub(crate) fn any(git: &gix::Repository, pool: &Path) -> Result<Option<Self>, GitError> {
        for directory in ready(pool)? {
            let Ok(Some(file)) = open_lock(&directory) else { continue };
            let Ok(lock) = Held::take(file) else { continue };
            if !directory.join("files").is_dir() {
                continue;
            }
            match Pristine::read(git, &directory) {
                Ok(noted) => return Ok(Some(Self { directory, _lock: lock, noted })),
                // Whatever happened to it, it is of no use.
                Err(_) => drop(delete_tree(&directory)),
            }
        }
        Ok(None)
    }

    /// The files, until they are moved to their new place.
    pub(crate) fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// A directory as a new one is.
    pub(crate) fn model(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Once the files are in their place, nothing is left but what is made here.
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

/// The ready ones.
pub(crate) fn ready(pool: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut ready = items(pool)?;
    ready.retain(|item| item.extension() == Some("ready".as_ref()));
    Ok(ready)
}

/// Deletes what killed processes have left.
pub(crate) fn sweep(pool: &Path) -> Result<(), GitError> {
    let _counting = lock(pool)?;
    for item in items(pool)? {
        let is_abandoned = match open_lock(&item) {
            // Killed before it was there; nobody begins one while we count.
            Err(_) | Ok(None) => true,
            Ok(Some(file)) => Held::take(file).is_ok(),
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

/// All of them, by names that only this crate gives.
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
