//! Pools of retired worktrees, from which new worktrees are made.
//!
//! Most of the time to make a worktree goes into writing its files. So a worktree that is no longer needed is taken out
//! of git's list as in a removal, cleaned of everything that its user left or touched, and kept. A new worktree gets
//! this directory and those of its files that are the same, and nothing else: entry, HEAD, branch, index and
//! configuration are made as for any new worktree.

pub(crate) mod item;
pub(crate) mod owned_directory;
pub(crate) mod rewrite;
pub(crate) mod written_files;
pub(crate) mod written_files_note;

use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice as _;

use crate::{
    filesystem::own_paths,
    pool::{
        item::{Claim, Draft},
        owned_directory::claim,
        written_files::Pristine,
    },
    recovery::process_lock::LockedFile,
    repository::{Repository, current_configuration::has_filters},
    values::{git_error::GitError, id::CommitId, name::BranchName},
    worktrees::{
        make::FileSource,
        new_worktree::{CreateError, NewHead, missing_parents, resolve, tree_at},
        register::is_ordinary,
        remove::{Discarded, Force, RemoveError},
        worktree::Worktree,
    },
};

/// A directory of retired worktrees to be reused. A cheap handle; several processes may have handles of the same
/// directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    repository: Repository,
    directory: PathBuf,
    limit: usize,
}

/// A pool could not be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The directory is not empty and not a pool of this repository.
    #[error("{} is not a pool of this repository and not empty: give a directory that is", directory.display())]
    NotAPool {
        /// The directory.
        directory: PathBuf,
    },
    /// The directory cannot be a pool, for example because it lies inside the repository.
    #[error(transparent)]
    Place(#[from] CreateError),
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// A retired worktree, whose files are still to be cleaned.
///
/// Dropping it cleans the files, which takes as long as a `git status`: send it to another thread to avoid waiting.
#[derive(Debug)]
#[must_use = "dropping it cleans the files on this thread"]
pub struct Retired {
    pool: Pool,
    discarded: Option<Discarded>,
}

/// The name of the file that says which repository the pool belongs to.
const MARKER: &str = ".interlocking-pool";

impl Pool {
    /// Opens the pool in `directory`, which is created if it does not exist. It holds at most `limit` worktrees;
    /// further retired worktrees are deleted.
    ///
    /// The directory must be outside the repository. It must be on the file system of the worktrees, or nothing is
    /// reused.
    ///
    /// # Errors
    ///
    /// [`PoolError::NotAPool`] if it holds something else, which is not touched.
    pub fn open(repository: &Repository, directory: impl AsRef<Path>, limit: usize) -> Result<Self, PoolError> {
        let directory = resolve(directory.as_ref())?;
        if !claim(repository, &directory, MARKER)? {
            return Err(PoolError::NotAPool { directory });
        }
        let pool = Self { repository: repository.clone(), directory, limit };
        item::sweep(&pool.directory)?;
        Ok(pool)
    }

    /// The directory of the retired worktrees.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How many worktrees are ready to be reused.
    pub fn ready(&self) -> Result<usize, GitError> {
        Ok(item::ready(&self.directory)?.len())
    }

    /// Writes the files of a commit into the pool, so that a worktree that is made later can use them. Returns whether
    /// it did: not if the pool is full, if nothing can be reused in this repository, or if filters are configured,
    /// which run in the worktree that they write for.
    ///
    /// # Errors
    ///
    /// [`CreateError::NoSuchCommit`], [`CreateError::Git`]; nothing is left behind.
    pub fn prepare(&self, from: CommitId) -> Result<bool, CreateError> {
        let git = self.repository.git();
        let tree = tree_at(&git, from)?;
        if !is_ordinary(&git) {
            return Ok(false);
        }
        let git = self.repository.git_as_configured()?;
        if has_filters(&git) {
            return Ok(false);
        }
        let Some(form) = written_files::form(&git)? else { return Ok(false) };
        let Some(draft) = Draft::begin(&self.directory, self.limit)? else { return Ok(false) };
        draft.write(&git, tree, form.as_bstr())?;
        Ok(true)
    }

    /// Like [`Repository::create_worktree`], from a retired worktree if there is one.
    ///
    /// # Errors
    ///
    /// See [`CreateError`]; nothing is left behind.
    pub fn create_worktree(
        &self,
        place: impl AsRef<Path>,
        branch: BranchName,
        from: CommitId,
    ) -> Result<Worktree, CreateError> {
        self.create(place.as_ref(), &NewHead::Branch(branch), from)
    }

    /// Like [`Repository::create_worktree_on`], from a retired worktree if there is one.
    ///
    /// # Errors
    ///
    /// See [`CreateError`]; nothing is left behind.
    pub fn create_worktree_on(&self, place: impl AsRef<Path>, branch: BranchName) -> Result<Worktree, CreateError> {
        let Some(from) = self.repository.branch_head(&branch)? else {
            return Err(CreateError::NoSuchBranch { branch });
        };
        self.create(place.as_ref(), &NewHead::Existing(branch), from)
    }

    /// Like [`Repository::create_detached_worktree`], from a retired worktree if there is one.
    ///
    /// # Errors
    ///
    /// See [`CreateError`]; nothing is left behind.
    pub fn create_detached_worktree(&self, place: impl AsRef<Path>, from: CommitId) -> Result<Worktree, CreateError> {
        self.create(place.as_ref(), &NewHead::Detached, from)
    }

    fn create(&self, place: &Path, head: &NewHead, from: CommitId) -> Result<Worktree, CreateError> {
        let mut git = self.repository.git();
        self.repository.recent_objects().attach(&mut git);
        let from = (from, tree_at(&git, from)?);
        let place = resolve(place)?;
        if !is_ordinary(&git) {
            return self.repository.create_at(&git, &place, head, from);
        }
        let missing_parents = missing_parents(&place);
        let mut made = Err(CreateError::Git(GitError::new("using a worktree again", "there is none")));
        while let Some(claim) = Claim::any(&git, &self.directory)? {
            made = self.repository.make(&git, &place, head, from, FileSource::Retired(Box::new(claim)));
            // A retired worktree that cannot be reused is deleted by now, so try the next. Any other error would occur
            // again.
            if !matches!(made, Err(CreateError::Git(_))) {
                break;
            }
        }
        if matches!(made, Err(CreateError::Git(_))) {
            made = self.repository.make(&git, &place, head, from, FileSource::Noted);
        }
        if made.is_err() {
            for parent in missing_parents.iter().rev() {
                // Only empty directories are removed.
                let _ = own_paths::remove_dir(parent);
            }
        }
        made
    }

    /// Retires a worktree: like [`Repository::remove_worktree`], but its files are cleaned and kept. Its directory and
    /// its entry are gone when this returns; its branch stays.
    ///
    /// A worktree that was not made by a pool is deleted, because there is no record of its files.
    ///
    /// # Errors
    ///
    /// See [`RemoveError`]; the worktree is unchanged.
    pub fn retire(&self, worktree: &Worktree, force: Force) -> Result<Retired, RemoveError> {
        let discarded = self.repository.remove_worktree(worktree, force)?;
        Ok(Retired { pool: self.clone(), discarded: Some(discarded) })
    }
}

impl Retired {
    /// Cleans the files on this thread. Returns whether they were kept: not if the pool is full, or if they cannot be
    /// reused.
    ///
    /// # Errors
    ///
    /// If something could not be deleted. The directory named in the error can be deleted by hand.
    pub fn clean(mut self) -> Result<bool, GitError> {
        self.clean_all()
    }

    fn clean_all(&mut self) -> Result<bool, GitError> {
        let Some(discarded) = self.discarded.take() else { return Ok(false) };
        // Why a worktree cannot be reused does not matter: it is deleted like any other.
        let is_kept = self.keep(&discarded).unwrap_or(false);
        discarded.delete()?;
        Ok(is_kept)
    }

    fn keep(&self, discarded: &Discarded) -> Result<bool, GitError> {
        let Pool { repository, directory, limit } = &self.pool;
        let git = repository.git();
        let (Some(files), Some(noted_at)) = (discarded.files(), discarded.pristine()) else { return Ok(false) };
        if !noted_at.is_dir() {
            return Ok(false);
        }
        let Some(draft) = Draft::begin(directory, *limit)? else { return Ok(false) };
        let noted = Pristine::read(&git, &noted_at)?;
        draft.fill(&git, files, &noted_at, noted)?;
        Ok(true)
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        let _ = self.clean_all();
    }
}

/// The lock that is held while items are counted, so that there are never more than the limit.
pub(crate) fn lock(directory: &Path) -> Result<LockedFile, GitError> {
    owned_directory::lock(directory, MARKER)
}
