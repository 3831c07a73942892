//! Taking worktrees away: once no node works in them any more, and what is left at the end.
//!
//! **Invariant:** a worktree that is taken away early keeps its branch until the end, where that is dealt with like the
//! others. The list of worktrees does not change while an agent is at work: whatever `git` the agent runs may read it.

use super::{Place, PlaceError, Places};
use interlocking::worktree::{BranchName, CommitId, Worktree};
use std::sync::PoisonError;

/// A worktree that was taken away early.
#[derive(Debug)]
pub(super) struct Retired {
    place: Place,
    branch: Option<BranchName>,
    /// None where nothing was brought back from a clone.
    head: Option<CommitId>,
    /// What kept its files from being deleted.
    problem: Option<PlaceError>,
}

impl Places {
    /// Begins to take worktrees away that no later node works in, and does not wait. Nothing happens if worktrees are to be
    /// kept.
    ///
    /// What goes wrong is reported by [`close`](Self::close).
    pub fn retire<const N: usize>(&self, places: [Place; N]) {
        if self.0.keep {
            return;
        }
        let here = self.clone();
        let retiring = tokio::spawn(async move {
            let inside = here.clone();
            let work = move || {
                places.into_iter().for_each(|place| inside.retire_one(place));
                Ok(())
            };
            // Once the run is over there is nothing to do: the end takes all of them away.
            let _ = here.blocking(work).await;
        });
        *self.0.retiring.lock().unwrap_or_else(PoisonError::into_inner) = Some(retiring);
    }

    /// Waits until the worktrees that are being taken away are gone: before an agent begins.
    pub async fn settle(&self) {
        let retiring = self.0.retiring.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(retiring) = retiring {
            // After a panic, what is left is left to the end.
            let _ = retiring.await;
        }
    }

    /// Removes a worktree that was made and not used, and its branch. Nothing happens if there is none.
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; the end takes away what is left.
    pub async fn take_back(&self, place: Place) -> Result<(), PlaceError> {
        let places = self.clone();
        self.blocking(move || {
            let Ok(worktree) = places.worktree(place) else { return Ok(()) };
            places.remove(place, &worktree, false)?;
            places.open_places().remove(&place);
            Ok(())
        })
        .await
    }

    fn retire_one(&self, place: Place) {
        // One that is not what it should be stays, and the end says so.
        let Ok(worktree) = self.worktree(place) else { return };
        let Ok((branch, head)) = self.kept(&worktree) else { return };
        let Ok(discarded) = self.discard(&worktree) else { return };
        self.open_places().remove(&place);
        let problem = discarded.delete().err().map(PlaceError::from);
        let retired = Retired { place, branch, head, problem };
        self.0.retired.lock().unwrap_or_else(PoisonError::into_inner).push(retired);
    }

    /// Ends the run. Removes all worktrees and their branches, unless they are to be kept. With `archive`, their heads stay
    /// reachable for whoever wants to see what a run that failed had got to, or takes it up again.
    ///
    /// # Errors
    ///
    /// The first [`PlaceError`]; the others are removed all the same.
    pub async fn close(&self, archive: bool) -> Result<(), PlaceError> {
        self.end(archive, self.0.keep).await
    }

    /// Removes all worktrees and their branches, whether they were to be kept or not: the run does not begin, or not again.
    ///
    /// # Errors
    ///
    /// As those of [`close`](Self::close).
    pub async fn give_up(&self) -> Result<(), PlaceError> {
        self.end(false, false).await
    }

    async fn end(&self, archive: bool, keep: bool) -> Result<(), PlaceError> {
        let places = self.clone();
        let removing = tokio::task::spawn_blocking(move || {
            places.shut();
            // Nothing of an agent's is in there.
            let _ = std::fs::remove_dir_all(Self::checkouts_in(&places.0.directory));
            if keep {
                return Ok(());
            }
            let (open, places) = (std::mem::take(&mut *places.open_places()), &places);
            let retired = std::mem::take(&mut *places.0.retired.lock().unwrap_or_else(PoisonError::into_inner));
            let is_left = |place: &Place| places.0.is_taken_up && !open.contains_key(place);
            let left: Vec<_> = Place::ALL.into_iter().filter(is_left).collect();
            // At once: what takes long is deleting files, and nobody's files are anybody else's.
            std::thread::scope(|scope| {
                let removals: Vec<_> = open
                    .into_iter()
                    .map(|(place, worktree)| scope.spawn(move || places.remove(place, &worktree, archive)))
                    .collect();
                let mut result = Ok(());
                for Retired { place, branch, head, problem } in retired {
                    let Some(head) = head else {
                        result = result.and(problem.map_or(Ok(()), Err));
                        continue;
                    };
                    let archived = places.archive_if(archive, place, head);
                    let removed = archived.and_then(|()| places.delete_branch(branch.as_ref(), head));
                    result = result.and(problem.map_or(removed, Err));
                }
                // What other processes have made or begun to take away; what this one has, is gone by now.
                for place in left {
                    result = result.and(places.clear(place, archive, None));
                }
                for removal in removals {
                    result = result.and(removal.join().unwrap_or(Err(PlaceError::Stopped)));
                }
                result
            })
        });
        removing.await.unwrap_or(Err(PlaceError::Stopped))
    }

    /// Lets nothing more begin. When this returns, nothing is under way any more.
    pub(super) fn shut(&self) {
        *self.0.closed.write().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn remove(&self, place: Place, worktree: &Worktree, archive: bool) -> Result<(), PlaceError> {
        let (branch, head) = self.kept(worktree)?;
        if let Some(head) = head {
            self.archive_if(archive, place, head)?;
        }
        self.discard(worktree)?.delete()?;
        head.map_or(Ok(()), |head| self.delete_branch(branch.as_ref(), head))
    }

    pub(super) fn archive_if(&self, archive: bool, place: Place, head: CommitId) -> Result<(), PlaceError> {
        if archive && place.has_branch() && head != self.0.base {
            self.0.repository.archive(&self.archive_name(place, head)?, head)?;
        }
        Ok(())
    }

    pub(super) fn delete_branch(&self, branch: Option<&BranchName>, head: CommitId) -> Result<(), PlaceError> {
        match branch {
            Some(branch) => Ok(self.0.repository.delete_branch(branch, head)?),
            None => Ok(()),
        }
    }
}
