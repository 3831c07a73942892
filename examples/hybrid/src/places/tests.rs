//! Worktrees that are taken away before the end: afterwards nobody can tell.

mod again;
mod checkouts;

use super::{Ground, Known, Place, Places};
use interlocking::runtime::workspaces::{Moment, Workspaces};
use interlocking::worktree::{BranchName, CommitId, Configuration, Repository, Signature};
use tempfile::TempDir;

struct Stage {
    directory: TempDir,
    repository: Repository,
    base: CommitId,
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("repository");
        let repository = Repository::init_with(&root, Configuration::RepositoryOnly).unwrap();
        let user = repository.main_worktree().unwrap().unwrap();
        std::fs::write(root.join("lib.rs"), "base\n").unwrap();
        let base = user.commit_all(&author(), "base").unwrap().unwrap();
        Self { directory, repository, base }
    }

    fn ground(&self, run: &str, keep: bool) -> Ground {
        Ground {
            repository: self.repository.clone(),
            main: BranchName::new("main").unwrap(),
            land_on: None,
            run: run.parse().unwrap(),
            directory: self.directory.path().join("worktrees"),
            author: author(),
            keep,
        }
    }

    fn places(&self, keep: bool) -> Places {
        Places::new(self.ground("r1", keep)).unwrap()
    }

    /// The same in a process that takes the run up, and has opened the repository afresh.
    fn taken_up(&self) -> Places {
        self.taken_up_as("r1", false)
    }

    fn taken_up_as(&self, run: &str, is_merged: bool) -> Places {
        let repository = self.directory.path().join("repository");
        let repository = Repository::open_with(repository, Configuration::RepositoryOnly).unwrap();
        let ground = Ground { repository, ..self.ground(run, false) };
        Places::taken_up(ground, Known { base: self.base, skeleton: None, is_merged })
    }

    fn branches(&self) -> Vec<(String, CommitId)> {
        let branches = self.repository.branches().unwrap().into_iter();
        branches.map(|(name, at)| (name.to_string(), at)).filter(|(name, _)| name != "main").collect()
    }

    fn worktrees(&self) -> Vec<String> {
        self.repository.worktrees().unwrap().into_iter().map(|entry| entry.name).collect()
    }

    fn archived(&self) -> Vec<String> {
        let archived = self.repository.archived().unwrap().into_iter();
        archived.map(|(name, _)| name.to_string()).collect()
    }
}

fn author() -> Signature {
    Signature::new("A test", "test@interlocking.invalid").unwrap()
}

#[tokio::test]
async fn a_worktree_taken_away_early_keeps_its_branch_until_the_end_and_its_head_in_the_archive() {
    for archive in [false, true] {
        let stage = Stage::new();
        let places = stage.places(false);
        let worktree = places.open(Place::Tests, stage.base).await.unwrap();
        places.open(Place::TypesReview, stage.base).await.unwrap();
        std::fs::write(worktree.path().join("tests.rs"), "tests\n").unwrap();
        let head = places.commit(Place::Tests, stage.base, "tests".to_owned()).await.unwrap().unwrap();
        places.retire([Place::Tests, Place::TypesReview]);
        places.settle().await;
        assert_eq!(stage.worktrees(), [""; 0]);
        assert!(places.worktree(Place::Tests).is_err());
        assert_eq!(stage.branches(), [("tests-r1".to_owned(), head)]);
        places.close(archive).await.unwrap();
        assert_eq!(stage.branches(), []);
        let expected = if archive { vec![format!("r1/tests-{}", head.short())] } else { Vec::new() };
        assert_eq!(stage.archived(), expected);
        assert!(!worktree.path().exists());
    }
}

#[tokio::test]
async fn nothing_is_taken_away_early_that_is_to_be_kept() {
    let stage = Stage::new();
    let places = stage.places(true);
    places.open(Place::Skeleton, stage.base).await.unwrap();
    let clone = places.open(Place::Tests, stage.base).await.unwrap();
    places.retire([Place::Skeleton, Place::Tests]);
    places.close(true).await.unwrap();
    assert_eq!(stage.worktrees(), ["skeleton-r1"]);
    assert_eq!(clone.head().unwrap(), stage.base);
}

/// As where the run ends before it could be done.
#[tokio::test]
async fn one_that_is_not_what_it_was_is_left_to_the_end_which_says_so() {
    let stage = Stage::new();
    let places = stage.places(false);
    let worktree = places.open(Place::Skeleton, stage.base).await.unwrap();
    std::fs::write(worktree.path().join(".git"), "gitdir: /elsewhere\n").unwrap();
    places.retire([Place::Skeleton]);
    places.settle().await;
    assert_eq!(stage.worktrees(), ["skeleton-r1"]);
    let refused = places.close(false).await.unwrap_err();
    assert!(matches!(refused, super::PlaceError::Worktree(_)), "{refused}");
    // And after the end, nothing is begun.
    places.retire([Place::Skeleton]);
    places.settle().await;
    assert_eq!(stage.worktrees(), ["skeleton-r1"]);
}

/// What is nowhere but in a clone goes with it, and nothing of it was ever in the user's repository.
#[tokio::test]
async fn a_clone_leaves_nothing_that_was_not_brought_back() {
    for archive in [false, true] {
        let stage = Stage::new();
        let places = stage.places(false);
        let clone = places.open(Place::Implementation, stage.base).await.unwrap();
        std::fs::write(clone.path().join("code.rs"), "code\n").unwrap();
        let stray = clone.commit_all(&author(), "its agent's own").unwrap().unwrap();
        assert_eq!(stage.branches(), []);
        assert!(stage.repository.resolve(&stray.to_string()).is_err());
        places.close(archive).await.unwrap();
        assert!(!clone.path().exists());
        assert_eq!((stage.branches(), stage.archived()), (Vec::new(), Vec::new()));
    }
}

/// An agent that is led astray, or that another has led astray, is not started, and its work is not taken.
#[tokio::test]
async fn a_place_that_is_not_as_it_was_handed_over_is_found_out() {
    let stage = Stage::new();
    let places = stage.places(false);
    for place in [Place::Skeleton, Place::Implementation] {
        let worktree = places.open(place, stage.base).await.unwrap();
        std::fs::write(worktree.path().join("work.rs"), "work\n").unwrap();
        worktree.commit_all(&author(), "its agent's own is folded in later").unwrap().unwrap();
        assert_eq!(places.verify(place.name(), Moment::After).await.unwrap(), [""; 0]);
        let head = places.commit(place, stage.base, "work".to_owned()).await.unwrap().unwrap();
        assert_eq!(places.verify(place.name(), Moment::Before).await.unwrap(), [""; 0]);
        worktree.reset_to(stage.base).unwrap();
        assert_eq!(
            places.verify(place.name(), Moment::Before).await.unwrap(),
            [format!("its head was moved from {head} to {}, which does not descend from it", stage.base)]
        );
    }
    assert_eq!(places.verify("merge", Moment::Before).await.unwrap(), [""; 0], "it is not there yet");
}

#[tokio::test]
async fn a_worktree_that_was_not_used_is_taken_back_with_its_branch_and_can_be_made_again() {
    let stage = Stage::new();
    let places = stage.places(true);
    places.take_back(Place::Merge).await.unwrap();
    let path = places.open(Place::Merge, stage.base).await.unwrap().path().to_owned();
    assert_eq!(stage.worktrees(), ["merge-r1"]);
    places.take_back(Place::Merge).await.unwrap();
    assert_eq!((stage.worktrees(), stage.branches(), stage.archived()), (Vec::new(), Vec::new(), Vec::new()));
    assert!(!path.exists() && places.worktree(Place::Merge).is_err());
    places.open(Place::Merge, stage.base).await.unwrap();
    assert_eq!(stage.branches(), [("merge-r1".to_owned(), stage.base)]);
}
