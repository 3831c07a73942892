//! Fresh checkouts: what is built and tested, in place of what an agent has been at.
//!
//! **Invariant:** a checkout has the files of one commit and no others, each object of it hashed again when it was copied, in a
//! directory that no agent is given.

use super::{Place, PlaceError, Places};
use interlocking::toolchain::Checkout;
use interlocking::worktree::{BranchName, CommitId, Worktree};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// The files of a commit. They are deleted when this is dropped.
#[derive(Debug)]
pub struct FreshCheckout {
    checkout: Checkout,
    commit: CommitId,
    number: u32,
    places: Places,
}

impl FreshCheckout {
    /// Where they are.
    pub fn checkout(&self) -> &Checkout {
        &self.checkout
    }

    /// The commit.
    pub fn commit(&self) -> CommitId {
        self.commit
    }
}

impl Drop for FreshCheckout {
    fn drop(&mut self) {
        // What cannot be deleted is in the way of the next one with its number, which says so.
        let _ = clear(self.checkout.path());
        self.places.free(self.number);
    }
}

impl Places {
    /// The directory that the checkouts of a run lie in, given the one that all its places lie in.
    pub fn checkouts_in(directory: &Path) -> PathBuf {
        directory.join("verdicts")
    }

    /// Checks out a commit of the user's repository.
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; nothing is left behind.
    pub async fn check_out(&self, commit: CommitId) -> Result<FreshCheckout, PlaceError> {
        let places = self.clone();
        self.blocking(move || places.check_out_now(commit)).await
    }

    /// Checks out what a [commit](Self::commit_examined) of a place's changes since `since` will hold. The user's repository has no
    /// branch of it yet.
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; nothing is left behind.
    pub async fn check_out_work(&self, place: Place, since: CommitId) -> Result<FreshCheckout, PlaceError> {
        let (places, worktree) = (self.clone(), self.worktree(place)?);
        self.blocking(move || {
            let proposed = worktree.squash_since(since, &places.0.author, "Under examination")?;
            let Some(proposed) = proposed else { return places.check_out_now(since) };
            if !place.is_clone() {
                return places.check_out_now(proposed);
            }
            let branch = places.branch_of_examined(place)?;
            places.forget_examined(place)?;
            let taken_in = places.0.repository.take_in(&worktree.export_since(since)?, &branch, None)?;
            let checked_out = places.check_out_now(taken_in);
            places.0.repository.delete_branch(&branch, taken_in)?;
            checked_out
        })
        .await
    }

    /// [Commits](Self::commit) what was examined in a checkout: the same files.
    ///
    /// # Errors
    ///
    /// [`PlaceError::ChangedMeanwhile`] where somebody has changed them since.
    pub async fn commit_examined(
        &self,
        place: Place,
        since: CommitId,
        examined: CommitId,
        message: String,
    ) -> Result<Option<CommitId>, PlaceError> {
        let committed = self.commit(place, since, message).await?;
        let (places, after) = (self.clone(), committed.unwrap_or(since));
        self.blocking(move || {
            let changes = places.0.repository.diff(examined, after)?;
            match changes.first() {
                None => Ok(committed),
                Some(change) => {
                    Err(PlaceError::ChangedMeanwhile { place: place.name(), path: change.path.to_text().into_owned() })
                }
            }
        })
        .await
    }

    /// Takes a commit back that was made of a place's changes since `since`. Its branch and files are as they were.
    ///
    /// # Errors
    ///
    /// [`PlaceError`].
    pub async fn take_back_commit(&self, place: Place, since: CommitId) -> Result<(), PlaceError> {
        let (places, worktree) = (self.clone(), self.worktree(place)?);
        self.blocking(move || {
            worktree.reset_to(since)?;
            places.moved(place, since);
            Ok(())
        })
        .await
    }

    /// The paths in which two commits differ; of a renamed file both.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] where the repository cannot be read.
    pub async fn changed(&self, from: CommitId, to: CommitId) -> Result<Vec<String>, PlaceError> {
        let places = self.clone();
        self.blocking(move || {
            let changes = places.0.repository.diff(from, to)?;
            let paths = changes.iter().flat_map(|change| change.touched().map(|path| path.to_text().into_owned()));
            Ok(paths.collect())
        })
        .await
    }

    /// Which of these paths are there in a place although `since` has nothing there, whether git shows them or not.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] where the repository cannot be read.
    pub async fn unseen(
        &self,
        place: Place,
        since: CommitId,
        paths: BTreeSet<String>,
    ) -> Result<Vec<String>, PlaceError> {
        let (places, root) = (self.clone(), self.path(place)?);
        self.blocking(move || {
            let mut unseen = Vec::new();
            for path in paths.into_iter().filter(|path| fs::symlink_metadata(root.join(path)).is_ok()) {
                if places.0.repository.read_file(since, &path.parse()?)?.is_none() {
                    unseen.push(path);
                }
            }
            Ok(unseen)
        })
        .await
    }

    /// A file as the run found it; none if it was not there.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] where the repository cannot be read.
    pub async fn file_at_base(&self, path: &str) -> Result<Option<Vec<u8>>, PlaceError> {
        let (places, path) = (self.clone(), path.parse()?);
        self.blocking(move || Ok(places.0.repository.read_file(places.0.base, &path)?)).await
    }

    fn check_out_now(&self, commit: CommitId) -> Result<FreshCheckout, PlaceError> {
        let number = self.take_number();
        let at = Self::checkouts_in(&self.0.directory).join(number.to_string());
        match self.make_checkout(&at, commit) {
            Ok(worktree) => {
                // As it really lies, for that is how others name it.
                let checkout = Checkout::at(worktree.path());
                Ok(FreshCheckout { checkout, commit, number, places: self.clone() })
            }
            Err(error) => {
                self.free(number);
                Err(error)
            }
        }
    }

    fn make_checkout(&self, at: &Path, commit: CommitId) -> Result<Worktree, PlaceError> {
        // Of a process that was killed.
        clear(at).map_err(|error| PlaceError::Leftover { path: at.to_owned(), reason: error.to_string() })?;
        Ok(self.0.repository.create_clone(at, &BranchName::new("checkout")?, commit)?)
    }

    /// Deletes the branch that an examination had for a moment, if its process was killed at that. Git work.
    pub(super) fn forget_examined(&self, place: Place) -> Result<(), PlaceError> {
        let branch = self.branch_of_examined(place)?;
        match self.0.repository.branch_head(&branch)? {
            Some(head) => Ok(self.0.repository.delete_branch(&branch, head)?),
            None => Ok(()),
        }
    }

    fn branch_of_examined(&self, place: Place) -> Result<BranchName, PlaceError> {
        Ok(BranchName::new(format!("examined-{}", self.branch_name(place)))?)
    }

    /// The smallest number that no other checkout has: builds know a checkout by its path, and use again what they know.
    fn take_number(&self) -> u32 {
        let mut taken = self.0.checkouts.lock().unwrap_or_else(PoisonError::into_inner);
        let free = (1..).find(|number| !taken.contains(number)).unwrap_or_default();
        taken.insert(free);
        free
    }

    fn free(&self, number: u32) {
        self.0.checkouts.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }
}

fn clear(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
