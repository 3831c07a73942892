//! Worktrees that are taken away before the end: afterwards nobody can tell.

mod again;

use super::{Place, Places};
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

    fn places(&self, keep: bool) -> Places {
        let (main, run) = (BranchName::new("main").unwrap(), "r1".parse().unwrap());
        let worktrees = self.directory.path().join("worktrees");
        Places::new(self.repository.clone(), main, run, worktrees, author(), keep).unwrap()
    }

    /// The same in a process that takes the run up, and has opened the repository afresh.
    fn taken_up(&self) -> Places {
        let (main, run) = (BranchName::new("main").unwrap(), "r1".parse().unwrap());
        let worktrees = self.directory.path().join("worktrees");
        let repository = self.directory.path().join("repository");
        let repository = Repository::open_with(repository, Configuration::RepositoryOnly).unwrap();
        Places::taken_up(self.base, repository, main, run, worktrees, author(), false)
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
    places.open(Place::Tests, stage.base).await.unwrap();
    places.retire([Place::Tests]);
    places.close(true).await.unwrap();
    assert_eq!(stage.worktrees(), ["tests-r1"]);
}

/// As where the run ends before it could be done.
#[tokio::test]
async fn one_that_is_not_what_it_was_is_left_to_the_end_which_says_so() {
    let stage = Stage::new();
    let places = stage.places(false);
    let worktree = places.open(Place::Tests, stage.base).await.unwrap();
    std::fs::write(worktree.path().join(".git"), "gitdir: /elsewhere\n").unwrap();
    places.retire([Place::Tests]);
    places.settle().await;
    assert_eq!(stage.worktrees(), ["tests-r1"]);
    let refused = places.close(false).await.unwrap_err();
    assert!(matches!(refused, super::PlaceError::Worktree(_)), "{refused}");
    // And after the end, nothing is begun.
    places.retire([Place::Tests]);
    places.settle().await;
    assert_eq!(stage.worktrees(), ["tests-r1"]);
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
