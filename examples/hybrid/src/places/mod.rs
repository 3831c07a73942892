//! The worktrees and clones of one run: where each node works, and the only code of this example that touches git.
//!
//! | place | branch | starts at | used by |
//! |---|---|---|---|
//! | `skeleton` | `skeleton-{run}` | `main` | types, types fix, skeleton |
//! | `types-review` | none, detached | the types commit | the type adversary, read-only |
//! | `tests`, a clone | `tests-{run}` | the skeleton commit | tests, red check |
//! | `impl`, a clone | `impl-{run}` | the skeleton commit | implementation |
//! | `merge` | `merge-{run}` | the skeleton commit | merge, validate, fix |
//!
//! The two blind sides have a repository each with the skeleton commit and nothing else, so that git there shows nothing of
//! the other. What is committed in a clone is brought back to the user's repository at once, to a branch of the same name.
//!
//! Nothing is built or tested in any of them, but in a fresh checkout of the commit that is judged ([`FreshCheckout`]).
//!
//! What a run's places are is found again by another process: their names and branches bear the run's name, and the commits
//! they stand at are in its journal. Where they lie, and where `main` was, whoever takes the run up has to say. Where there are none any
//! more, or a fork has none yet, they are made at those commits.
//!
//! **Invariant:** `main` moves once, forward, at the very end of a run that succeeded, and only if it still is where the
//! run started.

mod again;
mod checkouts;
mod clones;
mod landing;
mod leaving;
mod problem;
mod workspaces;
#[cfg(test)]
mod tests;

pub use self::checkouts::FreshCheckout;
use self::leaving::Retired;
pub use self::problem::PlaceError;
use interlocking::run_id::RunId;
use interlocking::worktree::{self, ArchiveName, BranchName, CommitId, NameError, Repository, Signature, Worktree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::task::JoinHandle;

/// One of a run's worktrees and clones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Types and stubs.
    Skeleton,
    /// The types commit, for the adversary to read.
    TypesReview,
    /// The properties, without any implementation.
    Tests,
    /// The implementation, without any properties.
    Implementation,
    /// Both, picked onto the skeleton.
    Merge,
}

/// Where the places of a run are, and what they are for.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The user's repository.
    pub repository: Repository,
    /// The branch that the run starts from, and advances unless another one is named.
    pub main: BranchName,
    /// The branch that the run advances in place of `main`. One that is not there is made.
    pub land_on: Option<BranchName>,
    /// The run's name.
    pub run: RunId,
    /// The places lie below it: outside the repository.
    pub directory: PathBuf,
    /// Who commits.
    pub author: Signature,
    /// Whether they are left there when the run is over.
    pub keep: bool,
}

/// What a process that takes a run up must know of its places, beside what lies there.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Where `main` was when the run started.
    pub base: CommitId,
    /// The commit that both blind sides begin at, if the run has come to that: the skeleton keeps it.
    pub skeleton: Option<CommitId>,
    /// Whether both sides are merged: nobody works anywhere but in the merge again.
    pub is_merged: bool,
}

/// The worktrees of one run.
#[derive(Clone, Debug)]
pub struct Places(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    repository: Repository,
    run: RunId,
    main: BranchName,
    land_on: Option<BranchName>,
    base: CommitId,
    directory: PathBuf,
    author: Signature,
    open: Mutex<BTreeMap<Place, Worktree>>,
    /// What an agent that begins to work in them must find.
    handed_over: Mutex<BTreeMap<Place, worktree::Place>>,
    /// The numbers of the checkouts that there are.
    checkouts: Mutex<BTreeSet<u32>>,
    /// The worktrees that were taken away before the end.
    retired: Mutex<Vec<Retired>>,
    /// The ones that are being taken away.
    retiring: Mutex<Option<JoinHandle<()>>>,
    /// Whether worktrees are left in place at the end.
    keep: bool,
    /// Whether another process began the run: there may be worktrees and branches of its that are not known here.
    is_taken_up: bool,
    /// What a clone that is made again need not keep.
    skeleton: Option<CommitId>,
    /// Whether all places but the merge have been taken away because nobody works there again.
    is_merged: bool,
    /// Whether the run is over. Held for reading during git work: a run that is cancelled does not wait
    /// for it, and what it makes must be removed with the rest.
    closed: RwLock<bool>,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Skeleton, Self::TypesReview, Self::Tests, Self::Implementation, Self::Merge];

    /// The name that the graph's table uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Skeleton => "skeleton",
            Self::TypesReview => "types-review",
            Self::Tests => "tests",
            Self::Implementation => "impl",
            Self::Merge => "merge",
        }
    }

    /// The place that the table calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|place| place.name() == name)
    }

    /// Whether it is a repository of its own, in which git shows nothing of the others.
    pub fn is_clone(self) -> bool {
        matches!(self, Self::Tests | Self::Implementation)
    }

    /// Whether it has a branch of its own. The review is nobody's to commit to.
    fn has_branch(self) -> bool {
        self != Self::TypesReview
    }
}

impl Places {
    /// The places of a run that starts at `main`; none is made yet.
    ///
    /// # Errors
    ///
    /// [`PlaceError::NoMain`] where the branch has no commit, [`PlaceError::RunTaken`] where a branch bears the run's name,
    /// [`PlaceError::CannotLand`] where the branch to land on is elsewhere.
    pub fn new(ground: Ground) -> Result<Self, PlaceError> {
        let Ground { repository, main, .. } = &ground;
        let base = repository.branch_head(main)?.ok_or_else(|| PlaceError::NoMain { branch: main.clone() })?;
        let places = Self::at(ground, Known { base, skeleton: None, is_merged: false }, false);
        places.refuse_taken()?;
        places.refuse_moved()?;
        Ok(places)
    }

    fn at(ground: Ground, known: Known, is_taken_up: bool) -> Self {
        let Ground { repository, main, land_on, run, directory, author, keep } = ground;
        let Known { base, skeleton, is_merged } = known;
        let (open, handed_over, checkouts, retired, retiring, closed) = Default::default();
        Self(Arc::new(Inner {
            repository,
            run,
            main,
            land_on,
            base,
            directory,
            author,
            open,
            handed_over,
            checkouts,
            retired,
            retiring,
            keep,
            is_taken_up,
            skeleton,
            is_merged,
            closed,
        }))
    }

    /// Refuses a run's name that a branch bears: the places that are made would be another run's.
    ///
    /// # Errors
    ///
    /// [`PlaceError::RunTaken`].
    pub fn refuse_taken(&self) -> Result<(), PlaceError> {
        for place in Place::ALL.into_iter().filter(|place| place.has_branch()) {
            let branch = BranchName::new(self.branch_name(place))?;
            if let Some(at) = self.0.repository.branch_head(&branch)? {
                return Err(PlaceError::RunTaken { branch, at });
            }
        }
        Ok(())
    }

    /// The run's name.
    pub fn run(&self) -> &RunId {
        &self.0.run
    }

    /// Where `main` was when the run started.
    pub fn base(&self) -> CommitId {
        self.0.base
    }

    /// The name of a place's worktree and branch: `tests-{run}`.
    pub fn branch_name(&self, place: Place) -> String {
        format!("{}-{}", place.name(), self.0.run)
    }

    /// The worktree, if it has been made.
    ///
    /// # Errors
    ///
    /// [`PlaceError::NotOpen`].
    pub fn worktree(&self, place: Place) -> Result<Worktree, PlaceError> {
        self.open_places().get(&place).cloned().ok_or(PlaceError::NotOpen { place: place.name() })
    }

    /// Git work is synchronous: it runs where it may block, and not once the run is over.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, PlaceError> + Send + 'static,
    ) -> Result<T, PlaceError> {
        let places = self.clone();
        let working = tokio::task::spawn_blocking(move || {
            let closed = places.0.closed.read().unwrap_or_else(PoisonError::into_inner);
            if *closed { Err(PlaceError::Stopped) } else { work() }
        });
        working.await.unwrap_or(Err(PlaceError::Stopped))
    }

    /// Where the worktree is.
    ///
    /// # Errors
    ///
    /// [`PlaceError::NotOpen`].
    pub fn path(&self, place: Place) -> Result<PathBuf, PlaceError> {
        Ok(self.worktree(place)?.path().to_owned())
    }

    /// Makes the worktree at `from`. One that exists already is put there instead, and its head is kept in the
    /// archive: the work of a round that was rejected is out of the way, and not lost (CON-74).
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; nothing is left behind.
    pub async fn open(&self, place: Place, from: CommitId) -> Result<Worktree, PlaceError> {
        let places = self.clone();
        self.blocking(move || {
            let Ok(worktree) = places.worktree(place) else { return places.create(place, from) };
            if place.is_clone() {
                return places.start_over(place, worktree, from);
            }
            let head = worktree.head()?;
            if head != from {
                places.0.repository.archive(&places.archive_name(place, head)?, head)?;
            }
            worktree.reset_to(from)?;
            places.hand_over(place, &worktree, from);
            Ok(worktree)
        })
        .await
    }

    /// Makes a worktree that there is none of. Git work.
    fn create(&self, place: Place, from: CommitId) -> Result<Worktree, PlaceError> {
        if self.0.is_taken_up {
            // One that a node had made which was cut off before it had said so.
            self.clear(place, false, Some(from))?;
        }
        let (at, repository) = (self.directory_of(place), &self.0.repository);
        let branch = BranchName::new(self.branch_name(place))?;
        let worktree = match (place.is_clone(), place.has_branch()) {
            (true, _) => repository.create_clone(at, &branch, from)?,
            (false, true) => repository.create_worktree(at, branch, from)?,
            (false, false) => repository.create_detached_worktree(at, from)?,
        };
        self.open_places().insert(place, worktree.clone());
        self.hand_over(place, &worktree, from);
        Ok(worktree)
    }

    fn directory_of(&self, place: Place) -> PathBuf {
        self.0.directory.join(self.branch_name(place))
    }

    /// Commits everything in a place as one commit on top of `since`; commits that an agent made by itself are folded
    /// in (CON-76). None if the files are those of `since`.
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; nothing changed.
    pub async fn commit(&self, place: Place, since: CommitId, message: String) -> Result<Option<CommitId>, PlaceError> {
        let (places, worktree) = (self.clone(), self.worktree(place)?);
        self.blocking(move || {
            let committed = worktree.squash_since(since, &places.0.author, &message)?;
            if place.is_clone() {
                places.bring_back(place, &worktree, since)?;
            }
            places.moved(place, committed.unwrap_or(since));
            Ok(committed)
        })
        .await
    }

    /// Makes a commit that changes no file and says what the ones before it amount to.
    ///
    /// # Errors
    ///
    /// [`PlaceError`]; nothing changed.
    pub async fn commit_marker(&self, place: Place, message: String) -> Result<CommitId, PlaceError> {
        let (places, worktree) = (self.clone(), self.worktree(place)?);
        self.blocking(move || {
            let committed = worktree.commit_empty(&places.0.author, &message)?;
            places.moved(place, committed);
            Ok(committed)
        })
        .await
    }

    /// The paths that differ from `since`, committed or not; of a renamed file both.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] where the worktree cannot be read.
    pub async fn touched(&self, place: Place, since: CommitId) -> Result<Vec<String>, PlaceError> {
        let worktree = self.worktree(place)?;
        self.blocking(move || {
            let changes = worktree.diff_since(since)?;
            let paths = changes.iter().flat_map(|change| change.touched().map(|path| path.to_text().into_owned()));
            Ok(paths.collect())
        })
        .await
    }

    /// Where a place's head is.
    ///
    /// # Errors
    ///
    /// [`PlaceError`] where the worktree cannot be read.
    pub async fn head(&self, place: Place) -> Result<CommitId, PlaceError> {
        let worktree = self.worktree(place)?;
        self.blocking(move || Ok(worktree.head()?)).await
    }

    /// Picks `since..head` of each place onto the merge worktree, in the given order.
    ///
    /// # Errors
    ///
    /// [`PlaceError::CherryPick`] on a conflict; the merge worktree is then as it was before that place's commits.
    pub async fn pick(&self, picks: Vec<(CommitId, CommitId)>) -> Result<Vec<CommitId>, PlaceError> {
        let (places, worktree) = (self.clone(), self.worktree(Place::Merge)?);
        self.blocking(move || {
            let mut picked = Vec::new();
            for (since, head) in picks {
                picked.extend(worktree.cherry_pick(since..head, &places.0.author)?);
            }
            if let Some(head) = picked.last() {
                places.moved(Place::Merge, *head);
            }
            Ok(picked)
        })
        .await
    }

    /// `{run}/{place}-{commit}`: one name a head, however many rounds there are.
    fn archive_name(&self, place: Place, head: CommitId) -> Result<ArchiveName, NameError> {
        ArchiveName::new(format!("{}/{}-{}", self.0.run, place.name(), head.short()))
    }

    /// Notes what an agent that begins in a place must find there. It may commit by itself: that is folded in (CON-76).
    fn hand_over(&self, place: Place, worktree: &Worktree, at: CommitId) {
        let handed_over = worktree::Place::new(self.0.run.as_str(), worktree.clone(), at).with_own_commits();
        self.handed_over().insert(place, handed_over);
    }

    /// Notes that the runtime itself has moved a place.
    fn moved(&self, place: Place, to: CommitId) {
        let mut handed_over = self.handed_over();
        if let Some(known) = handed_over.remove(&place) {
            handed_over.insert(place, known.at(to));
        }
    }

    fn handed_over(&self) -> MutexGuard<'_, BTreeMap<Place, worktree::Place>> {
        self.0.handed_over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the map holds is whole between two statements, whoever panics.
    fn open_places(&self) -> MutexGuard<'_, BTreeMap<Place, Worktree>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
