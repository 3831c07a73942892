//! Finding a run's worktrees again, in a process that takes the run up.
//!
//! Nothing that the process before had in its memory is needed: a worktree and its branch bear the place's and the run's
//! name, git lists them (a clone lies where it was made), and the journal has the commit that each is to stand at. What is there and does not fit was left by a
//! node that was cut off, or by a process that was killed while it made or removed it; it is put right, or made anew. So is what is not
//! there: of a run that has failed, whose places were taken away, and of a fork.
//!
//! **Invariant:** this is done by the one executor of the run, as only it may: git's locks are taken for leftovers.

use super::{Ground, Inner, Known, Place, PlaceError, Places};
use interlocking::worktree::{BranchName, CommitId, Force, Worktree, WorktreeEntry};
use std::fs;
use std::io;

impl Places {
    /// The places of a run that another process began; nothing is touched yet. They lie where they did when it began.
    pub fn taken_up(ground: Ground, known: Known) -> Self {
        Self::at(ground, known, true)
    }

    /// Makes a place known that is to stand at `commit`, whether its own node was cut off or another one that puts places
    /// where it wants them. One that is not there is made, unless it was taken away because nobody works there again.
    pub(super) async fn find_again(&self, place: Place, commit: CommitId) -> Result<(), PlaceError> {
        let places = self.clone();
        self.blocking(move || if places.is_needed(place)? { places.lay_out(place, commit) } else { Ok(()) }).await
    }

    /// Makes a place that is to stand at `commit`, if it is not there: of a run that has another one's history.
    pub(super) async fn make_own(&self, place: Place, commit: CommitId) -> Result<(), PlaceError> {
        let places = self.clone();
        let make = move || if places.is_there(place)? { Ok(()) } else { places.lay_out(place, commit) };
        if self.0.is_merged && place != Place::Merge { Ok(()) } else { self.blocking(make).await }
    }

    fn is_needed(&self, place: Place) -> Result<bool, PlaceError> {
        Ok(!self.0.is_merged || place == Place::Merge || self.is_there(place)?)
    }

    fn is_there(&self, place: Place) -> Result<bool, PlaceError> {
        Ok(if place.is_clone() { self.directory_of(place).is_dir() } else { self.listed(place)?.is_some() })
    }

    /// The same for a place that a node is about to work in: it is made, if it is not there.
    pub(super) async fn put_back(&self, place: Place, commit: CommitId) -> Result<(), PlaceError> {
        let places = self.clone();
        self.blocking(move || places.lay_out(place, commit)).await
    }

    fn lay_out(&self, place: Place, commit: CommitId) -> Result<(), PlaceError> {
        let repository = &self.0.repository;
        if repository.resolve(&commit.to_string()).is_err() {
            let (place, repository) = (place.name(), repository.common_directory().to_owned());
            return Err(PlaceError::CommitGone { place, commit, repository });
        }
        if let Some(worktree) = self.as_it_was(place)?
            && reset(&worktree, commit).is_ok()
        {
            self.hand_over(place, &worktree, commit);
            self.open_places().insert(place, worktree);
            return Ok(());
        }
        // Half made, half removed, its directory lost, or led astray by an agent; all that counts is in the commit.
        self.create(place, commit)?;
        let branch = BranchName::new(self.branch_name(place))?;
        if place.is_clone() && self.0.skeleton != Some(commit) && repository.branch_head(&branch)?.is_none() {
            // What keeps the commit here: the clone is a repository of its own.
            repository.create_branch(&branch, commit)?;
        }
        Ok(())
    }

    /// The worktree, if it is whole and on its own branch.
    fn as_it_was(&self, place: Place) -> Result<Option<Worktree>, PlaceError> {
        if place.is_clone() {
            let branch = BranchName::new(self.branch_name(place))?;
            return Ok(self.0.repository.open_clone(self.directory_of(place), &branch).ok());
        }
        let Some(entry) = self.listed(place)? else { return Ok(None) };
        let is_whole = !entry.is_missing && entry.locked.is_none();
        let branch = entry.branch.as_ref().map(BranchName::as_str);
        if !is_whole || branch != place.has_branch().then(|| self.branch_name(place)).as_deref() {
            return Ok(None);
        }
        Ok(Some(self.0.repository.open_worktree(&entry.path)?))
    }

    /// As git lists it.
    fn listed(&self, place: Place) -> Result<Option<WorktreeEntry>, PlaceError> {
        let (at, name) = (self.directory_of(place), self.branch_name(place));
        let canonical = fs::canonicalize(&at).ok();
        let is_it = |entry: &WorktreeEntry| {
            let is_there = canonical.is_some() && fs::canonicalize(&entry.path).ok() == canonical;
            entry.path == at || is_there || (entry.is_missing && entry.name == name)
        };
        Ok(self.0.repository.worktrees()?.into_iter().find(is_it))
    }

    /// Removes what there is of a place that is not open here: worktree or clone, and branch; of a clone, not a branch that is
    /// at `kept`. Git work.
    pub(super) fn clear(&self, place: Place, archive: bool, kept: Option<CommitId>) -> Result<(), PlaceError> {
        let Inner { repository, .. } = &*self.0;
        let branch = BranchName::new(self.branch_name(place))?;
        self.forget_examined(place)?;
        let head = if place.has_branch() { repository.branch_head(&branch)? } else { None };
        if let Some(head) = head {
            self.archive_if(archive, place, head)?;
        }
        if let Some(entry) = self.listed(place)? {
            let worktree = repository.open_worktree(&entry.path)?;
            // The lock is that of a process which was killed while it made the worktree.
            repository.remove_worktree(&worktree, Force::EvenIfLocked)?.delete()?;
        }
        let at = self.directory_of(place);
        match fs::remove_dir_all(&at) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(PlaceError::Leftover { path: at, reason: error.to_string() });
            }
            _ => {}
        }
        match head {
            Some(_) if place.is_clone() && head == kept => Ok(()),
            Some(head) => self.delete_branch(Some(&branch), head),
            None => Ok(()),
        }
    }

    /// Lets nothing more begin, and waits for what is under way: the run stops, and will be taken up again.
    pub async fn leave(&self) {
        self.settle().await;
        let places = self.clone();
        let leaving = tokio::task::spawn_blocking(move || places.shut());
        // After a panic there is nothing to wait for.
        let _ = leaving.await;
    }
}

/// Puts a worktree where it should be. One that seems to be there may have files that git ignores.
fn reset(worktree: &Worktree, commit: CommitId) -> Result<(), PlaceError> {
    worktree.unlock()?;
    worktree.reset_to(commit)?;
    Ok(())
}
