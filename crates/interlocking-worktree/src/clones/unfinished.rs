//! The directory in which a clone is made, beside its place. If the process is killed, the next process that makes a
//! clone there deletes it.

use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
};

use crate::{
    filesystem::{
        deletion::{delete_named, delete_tree},
        directory::Directory,
        own_paths,
    },
    recovery::intent_log::unique_name,
    repository::registration_lock::private_directory,
    untrusted::file::{Kind, create_new, open_with},
    values::git_error::{Doing as _, GitError},
};

const PREFIX: &str = ".interlocking-making-";

/// A clone that is being made. Dropping it before it is put in its place deletes it.
pub(crate) struct UnfinishedClone {
    root: PathBuf,
    /// The lock, held as long as the process lives: if another process can take it, this one is dead.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is held, and never read"))]
    alive: File,
    is_in_place: bool,
}

impl UnfinishedClone {
    /// Deletes what dead processes have left in `parent`, and begins a clone.
    pub(crate) fn begin(parent: &Path) -> Result<Self, GitError> {
        own_paths::create_dir_all(parent).doing(|| format!("creating {}", parent.display()))?;
        sweep(parent);
        let root = parent.join(name());
        let doing = || format!("creating {}", root.display());
        own_paths::create_dir(&root).doing(doing)?;
        match lock(&root) {
            Ok(alive) => Ok(Self { root, alive, is_in_place: false }),
            Err(error) => {
                let _ = delete_tree(&root);
                Err(error).doing(doing)
            }
        }
    }

    /// Begins a clone with the files of one that is no longer needed, which stops being a clone.
    pub(crate) fn reusing(place: &Path, parent: &Path) -> Result<Self, GitError> {
        let doing = || format!("taking over the clone at {}", place.display());
        let directory = Directory::open(place).doing(doing)?;
        // The agent may have replaced it with anything.
        delete_named(&directory, b".git", &place.join(".git")).doing(doing)?;
        drop(directory);
        let root = parent.join(name());
        own_paths::rename(place, &root).doing(doing)?;
        match lock(&root) {
            Ok(alive) => Ok(Self { root, alive, is_in_place: false }),
            Err(error) => {
                let _ = delete_tree(&root);
                Err(error).doing(doing)
            }
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Renames the clone to its place, where an empty directory may be.
    pub(crate) fn put_in_place(mut self, place: &Path) -> std::io::Result<()> {
        // Not every system can rename over an empty directory.
        match own_paths::remove_dir(place) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        own_paths::rename(&self.root, place)?;
        self.is_in_place = true;
        Ok(())
    }
}

impl Drop for UnfinishedClone {
    fn drop(&mut self) {
        if !self.is_in_place {
            let _ = delete_tree(&self.root);
        }
    }
}

fn sweep(parent: &Path) {
    let Ok(entries) = own_paths::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Without a lock file, a running process has only just created the directory.
        let opened = open_with(&lock_file(&entry.path()), Kind::Link, File::options().write(true));
        let Ok(Some(found)) = opened else { continue };
        match found.try_lock() {
            Ok(()) => drop(delete_tree(&entry.path())),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

fn lock_file(root: &Path) -> PathBuf {
    private_directory(&root.join(".git")).join("making.lock")
}

/// The file is locked before it gets its name, so that no process finds it unlocked while its creator is alive.
fn lock(root: &Path) -> std::io::Result<File> {
    let lock = lock_file(root);
    let draft = lock.with_extension("draft");
    lock.parent().map_or(Ok(()), own_paths::create_dir_all)?;
    let file = create_new(&draft)?;
    file.lock()?;
    own_paths::rename(draft, lock)?;
    Ok(file)
}

fn name() -> String {
    format!("{PREFIX}{}", unique_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_process_left_is_deleted_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let alive = UnfinishedClone::begin(parent.path()).unwrap();
        let dead = UnfinishedClone::begin(parent.path()).unwrap();
        let left = dead.root().to_owned();
        std::fs::write(left.join("file"), "half").unwrap();
        // The process ends: its locks are released, without cleanup.
        let dead = std::mem::ManuallyDrop::new(dead);
        dead.alive.unlock().unwrap();
        let other = parent.path().join(".interlocking-making-by-hand");
        std::fs::create_dir(&other).unwrap();

        let next = UnfinishedClone::begin(parent.path()).unwrap();
        assert!(!left.exists());
        assert!(alive.root().exists() && next.root().exists() && other.exists());
        let (first, second) = (alive.root().to_owned(), next.root().to_owned());
        alive.put_in_place(&parent.path().join("place")).unwrap();
        drop(next);
        assert!(!first.exists() && !second.exists() && parent.path().join("place/.git").exists());
    }
}
