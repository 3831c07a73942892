//! What a process finds of a run that another one began, and how it puts it right.

use super::Stage;
use crate::places::{Ground, Known, Place, Places};
use interlocking::runtime::workspaces::{Moment, Workspaces};
use interlocking::worktree::{BranchName, CommitId};
use std::fs;
use std::path::PathBuf;

/// A place with a commit of its own, as the journal knows it.
async fn with_work(places: &Places, place: Place) -> CommitId {
    let worktree = places.open(place, places.base()).await.unwrap();
    fs::write(worktree.path().join("work.rs"), "done\n").unwrap();
    places.commit(place, places.base(), format!("work in {}", place.name())).await.unwrap().unwrap()
}

/// The place is known, and at the commit, with its files, on its branch.
#[track_caller]
fn assert_put_back(stage: &Stage, places: &Places, place: Place, commit: CommitId) {
    let worktree = places.worktree(place).unwrap();
    assert_eq!(worktree.head().unwrap(), commit);
    assert_eq!(worktree.status().unwrap(), []);
    assert_eq!(fs::read_to_string(worktree.path().join("work.rs")).unwrap(), "done\n");
    assert!(stage.branches().contains(&(places.branch_name(place), commit)), "{:?}", stage.branches());
    let listed = if place.is_clone() { Vec::new() } else { vec![places.branch_name(place)] };
    assert_eq!(stage.worktrees(), listed);
}

type Disturb = fn(&Stage, PathBuf);

/// What a node that was cut off may have left in a worktree, or a process that was killed.
const DISTURBANCES: [(&str, Disturb); 7] = [
    ("nothing", |_, _| {}),
    ("files", |_, at| {
        fs::write(at.join("work.rs"), "half").unwrap();
        fs::write(at.join("new.rs"), "new").unwrap();
        fs::remove_file(at.join("lib.rs")).unwrap();
    }),
    ("a commit", |stage, at| {
        fs::write(at.join("work.rs"), "more").unwrap();
        let worktree = stage.repository.open_worktree(&at).unwrap();
        worktree.commit_all(&super::author(), "more").unwrap().unwrap();
    }),
    ("locks", |stage, at| {
        let git = stage.repository.common_directory();
        let name = at.file_name().unwrap();
        fs::write(at.join("work.rs"), "half").unwrap();
        fs::write(git.join("worktrees").join(name).join("index.lock"), "").unwrap();
        fs::write(git.join("refs/heads").join(name).with_extension("lock"), "").unwrap();
    }),
    ("another branch", |stage, at| {
        let head = stage.repository.common_directory().join("worktrees").join(at.file_name().unwrap()).join("HEAD");
        fs::write(head, "ref: refs/heads/main\n").unwrap();
    }),
    ("a worktree half made", |stage, at| {
        let lock = stage.repository.common_directory().join("worktrees").join(at.file_name().unwrap()).join("locked");
        fs::write(lock, "initializing").unwrap();
        fs::remove_file(at.join("lib.rs")).unwrap();
    }),
    ("no directory", |_, at| fs::remove_dir_all(at).unwrap()),
];

/// The same in a clone, whose `.git` is within its agent's reach.
const DISTURBANCES_OF_CLONES: [(&str, Disturb); 8] = [
    ("nothing", |_, _| {}),
    ("files", |_, at| {
        fs::write(at.join("work.rs"), "half").unwrap();
        fs::write(at.join("new.rs"), "new").unwrap();
        fs::remove_file(at.join("lib.rs")).unwrap();
    }),
    ("a commit that was not brought back", |stage, at| {
        fs::write(at.join("work.rs"), "more").unwrap();
        let branch = BranchName::new(at.file_name().unwrap().to_str().unwrap()).unwrap();
        let clone = stage.repository.open_clone(&at, &branch).unwrap();
        clone.commit_all(&super::author(), "more").unwrap().unwrap();
    }),
    ("locks", |_, at| {
        fs::write(at.join("work.rs"), "half").unwrap();
        fs::write(at.join(".git/index.lock"), "").unwrap();
        fs::write(at.join(".git/refs/heads").join(at.file_name().unwrap()).with_extension("lock"), "").unwrap();
    }),
    ("another branch", |_, at| fs::write(at.join(".git/HEAD"), "ref: refs/heads/mine\n").unwrap()),
    ("objects of somebody else's", |stage, at| {
        let objects = stage.repository.common_directory().join("objects");
        fs::write(at.join(".git/objects/info/alternates"), objects.to_str().unwrap()).unwrap();
    }),
    ("no repository", |_, at| fs::remove_dir_all(at.join(".git")).unwrap()),
    ("no directory", |_, at| fs::remove_dir_all(at).unwrap()),
];

#[tokio::test]
async fn a_place_is_put_back_to_its_commit_whatever_was_left_in_it() {
    for (left, disturb) in DISTURBANCES {
        for restore in [false, true] {
            is_put_back(Place::Skeleton, left, disturb, restore).await;
        }
    }
}

#[tokio::test]
async fn a_clone_is_put_back_to_its_commit_whatever_was_left_in_it() {
    for (left, disturb) in DISTURBANCES_OF_CLONES {
        for restore in [false, true] {
            is_put_back(Place::Tests, left, disturb, restore).await;
        }
    }
}

async fn is_put_back(place: Place, left: &str, disturb: Disturb, restore: bool) {
    let (stage, name) = (Stage::new(), place.name());
    let first = stage.places(false);
    let commit = with_work(&first, place).await;
    disturb(&stage, first.path(place).unwrap());
    drop(first);
    let second = stage.taken_up();
    assert!(second.locate(name).is_err(), "nothing is known before the executor asks");
    let found = match restore {
        true => second.restore(name, &commit.to_string()).await,
        false => Workspaces::open(&second, name, &commit.to_string()).await,
    };
    found.unwrap_or_else(|error| panic!("{left}: {error}"));
    assert_put_back(&stage, &second, place, commit);
    for moment in [Moment::Before, Moment::After] {
        assert_eq!(second.verify(name, moment).await.unwrap(), [""; 0], "{left}");
    }
    // Whatever commit it had to be made again at, a new round begins where the first one did.
    assert_eq!(second.open(place, second.base()).await.unwrap().head().unwrap(), second.base());
    second.close(false).await.unwrap();
    assert_eq!((stage.worktrees(), stage.branches()), (Vec::new(), Vec::new()), "{left}");
    assert_eq!(stage.archived(), [format!("r1/{name}-{}", commit.short())], "{left}");
}

/// The process was killed after the commit had come back, and before the journal knew of it.
#[tokio::test]
async fn work_that_no_outcome_tells_of_is_done_again_and_brought_back_in_its_place() {
    let stage = Stage::new();
    let first = stage.places(false);
    let lost = with_work(&first, Place::Tests).await;
    drop(first);
    let second = stage.taken_up();
    second.restore("tests", &stage.base.to_string()).await.unwrap();
    let worktree = second.worktree(Place::Tests).unwrap();
    assert_eq!((worktree.head().unwrap(), worktree.path().join("work.rs").exists()), (stage.base, false));
    fs::write(worktree.path().join("work.rs"), "done otherwise\n").unwrap();
    let commit = second.commit(Place::Tests, stage.base, "again".to_owned()).await.unwrap().unwrap();
    assert_eq!(stage.branches(), [("tests-r1".to_owned(), commit)]);
    assert_eq!(stage.archived(), [format!("r1/tests-{}", lost.short())]);
}

/// The review has no branch: its commit is all there is.
#[tokio::test]
async fn a_detached_place_is_found_again() {
    let stage = Stage::new();
    let first = stage.places(false);
    let at = first.open(Place::TypesReview, stage.base).await.unwrap().path().to_owned();
    let second = stage.taken_up();
    Workspaces::open(&second, "types-review", &stage.base.to_string()).await.unwrap();
    assert_eq!(second.path(Place::TypesReview).unwrap(), at);
    second.close(false).await.unwrap();
    assert_eq!(stage.worktrees(), [""; 0]);
}

/// Once both sides are merged nobody works in them: what was taken away stays so, and its branch goes at the end.
#[tokio::test]
async fn a_place_that_was_taken_away_early_is_made_again_only_for_a_node_that_works_there() {
    for place in [Place::Skeleton, Place::Tests] {
        let (stage, name) = (Stage::new(), place.name());
        let first = stage.places(false);
        let commit = with_work(&first, place).await;
        let at = first.path(place).unwrap();
        first.retire([place]);
        first.settle().await;
        let second = stage.taken_up_as("r1", true);
        Workspaces::open(&second, name, &commit.to_string()).await.unwrap();
        assert_eq!(stage.worktrees(), [""; 0]);
        assert!(second.worktree(place).is_err() && !at.exists());
        second.restore(name, &commit.to_string()).await.unwrap();
        assert_put_back(&stage, &second, place, commit);
        second.retire([place]);
        second.settle().await;
        drop(second);
        let third = stage.taken_up_as("r1", true);
        Workspaces::open(&third, name, &commit.to_string()).await.unwrap();
        third.close(true).await.unwrap();
        assert_eq!((stage.worktrees(), stage.branches()), (Vec::new(), Vec::new()));
        assert_eq!(stage.archived(), [format!("r1/{name}-{}", commit.short())]);
    }
}

/// A run that has failed is over, and its places are gone. Whoever takes it up finds all of them where they were, whoever works there.
#[tokio::test]
async fn a_place_that_the_end_took_away_is_made_again_at_its_commit() {
    for place in [Place::Skeleton, Place::Tests] {
        for restore in [false, true] {
            let (stage, name) = (Stage::new(), place.name());
            let first = stage.places(false);
            let commit = with_work(&first, place).await;
            first.close(true).await.unwrap();
            assert_eq!((stage.worktrees(), stage.branches()), (Vec::new(), Vec::new()));
            let second = stage.taken_up();
            second.refuse_taken().unwrap();
            let made = match restore {
                true => second.restore(name, &commit.to_string()).await,
                false => Workspaces::open(&second, name, &commit.to_string()).await,
            };
            made.unwrap();
            assert_put_back(&stage, &second, place, commit);
            assert_eq!(second.verify(name, Moment::Before).await.unwrap(), [""; 0]);
            second.close(true).await.unwrap();
            assert_eq!((stage.worktrees(), stage.branches()), (Vec::new(), Vec::new()));
            assert_eq!(stage.archived(), [format!("r1/{name}-{}", commit.short())]);
        }
    }
}

/// A fork's places are its own: those of the run whose history it has stay as they are, and so does what it works on.
#[tokio::test]
async fn a_fork_has_places_of_its_own() {
    let stage = Stage::new();
    let first = stage.places(false);
    let mut commits = Vec::new();
    for place in [Place::Skeleton, Place::Implementation, Place::Tests] {
        commits.push((place, with_work(&first, place).await));
    }
    let before = (stage.branches(), stage.archived());
    for is_taken_up_again in [false, true] {
        let fork = stage.taken_up_as("r2", false);
        assert_eq!(fork.refuse_taken().is_err(), is_taken_up_again);
        for (place, commit) in &commits {
            fork.make(place.name(), &commit.to_string()).await.unwrap();
            Workspaces::open(&fork, place.name(), &commit.to_string()).await.unwrap();
            let worktree = fork.worktree(*place).unwrap();
            assert_ne!(worktree.path(), first.path(*place).unwrap());
            assert_eq!((worktree.head().unwrap(), worktree.status().unwrap()), (*commit, Vec::new()));
            assert!(stage.branches().contains(&(fork.branch_name(*place), *commit)), "it keeps the commit");
        }
    }
    let fork = stage.taken_up_as("r2", false);
    for (place, commit) in &commits {
        Workspaces::open(&fork, place.name(), &commit.to_string()).await.unwrap();
    }
    let at = fork.worktree(Place::Tests).unwrap();
    fs::write(at.path().join("more.rs"), "more\n").unwrap();
    let more = fork.commit(Place::Tests, commits[2].1, "more".to_owned()).await.unwrap().unwrap();
    fork.close(true).await.unwrap();
    assert_eq!(stage.branches(), before.0);
    assert!(stage.archived().contains(&format!("r2/tests-{}", more.short())), "{:?}", stage.archived());
    for (place, commit) in commits {
        assert_eq!(first.worktree(place).unwrap().head().unwrap(), commit);
    }
    // Once both sides are merged, only the merge is worked in.
    let merged = stage.taken_up_as("r3", true);
    merged.make("tests", &more.to_string()).await.unwrap();
    Workspaces::open(&merged, "tests", &more.to_string()).await.unwrap();
    assert!(merged.worktree(Place::Tests).is_err());
    merged.make("merge", &more.to_string()).await.unwrap();
    merged.give_up().await.unwrap();
    assert_eq!(stage.branches(), before.0);
}

/// Somebody has deleted what kept it.
#[tokio::test]
async fn a_commit_that_is_gone_is_told_before_anything_is_made() {
    let stage = Stage::new();
    let gone = "c0ffee0000000000000000000000000000000000";
    for is_fork in [false, true] {
        let places = stage.taken_up();
        let refused = match is_fork {
            true => places.make("tests", gone).await,
            false => places.restore("tests", gone).await,
        };
        let refused = refused.unwrap_err().to_string();
        let said = format!("the commit {gone}, which `tests` stood at, is not in ");
        assert!(refused.starts_with(&said) && refused.contains("bring the commit back"), "{refused}");
        assert_eq!((stage.worktrees(), stage.branches()), (Vec::new(), Vec::new()));
        assert!(!stage.directory.path().join("worktrees/tests-r1").exists());
    }
}

/// What a run makes is landed where the run began, or nowhere.
#[tokio::test]
async fn a_branch_that_has_moved_is_refused_and_another_one_is_made() {
    let stage = Stage::new();
    let first = stage.places(false);
    let merged = with_work(&first, Place::Merge).await;
    let other = with_work(&first, Place::Tests).await;
    first.land(other).await.unwrap();
    let landing_on = |name: Option<&str>| {
        let land_on = name.map(|name| BranchName::new(name).unwrap());
        Places::taken_up(
            Ground { land_on, ..stage.ground("r1", false) },
            Known { base: stage.base, skeleton: None, is_merged: true },
        )
    };
    let refused = landing_on(None).refuse_moved().unwrap_err().to_string();
    let said = format!("the run began at {}, and main is at {other} now: ", stage.base);
    assert!(refused.starts_with(&said), "{refused}");
    assert!(landing_on(Some("tests-r1")).refuse_moved().is_err(), "it is there, and elsewhere");
    let second = landing_on(Some("mine"));
    second.refuse_moved().unwrap();
    second.land(merged).await.unwrap();
    let head = |name: &str| stage.repository.branch_head(&BranchName::new(name).unwrap()).unwrap();
    assert_eq!((head("main"), head("mine")), (Some(other), Some(merged)));
    second.land(merged).await.unwrap();
    // A branch that others have advanced further has what was landed.
    let main = stage.repository.main_worktree().unwrap().unwrap();
    fs::write(main.path().join("later.rs"), "later\n").unwrap();
    let later = main.commit_all(&super::author(), "later").unwrap().unwrap();
    first.land(other).await.unwrap();
    assert_eq!(head("main"), Some(later));
}

/// A node that was cut off makes its places again; the end finds those that no node asks for any more.
#[tokio::test]
async fn a_place_that_no_outcome_tells_of_is_made_anew_or_cleared() {
    let stage = Stage::new();
    let first = stage.places(false);
    with_work(&first, Place::Merge).await;
    let second = stage.taken_up();
    let merge = second.open(Place::Merge, stage.base).await.unwrap();
    assert_eq!((merge.head().unwrap(), merge.path().join("work.rs").exists()), (stage.base, false));
    assert_eq!(stage.archived(), [""; 0], "what was cut off is nobody's work");
    with_work(&second, Place::Implementation).await;
    // Also where only files are left, of a worktree that was half removed.
    let remains = stage.directory.path().join("worktrees/skeleton-r1");
    fs::create_dir(&remains).unwrap();
    fs::write(remains.join("file"), "").unwrap();
    let third = stage.taken_up();
    third.open(Place::Skeleton, stage.base).await.unwrap();
    assert!(!remains.join("file").exists());
    third.close(false).await.unwrap();
    assert_eq!((stage.worktrees(), stage.branches(), stage.archived()), (Vec::new(), Vec::new(), Vec::new()));
}

/// The process was killed between the two: the next one closes the run.
#[tokio::test]
async fn main_is_advanced_once() {
    let stage = Stage::new();
    let first = stage.places(false);
    let merged = with_work(&first, Place::Merge).await;
    first.land(merged).await.unwrap();
    let second = stage.taken_up();
    second.land(merged).await.unwrap();
    let main = BranchName::new("main").unwrap();
    assert_eq!(stage.repository.branch_head(&main).unwrap(), Some(merged));
    let other = with_work(&second, Place::Tests).await;
    let refused = second.land(other).await.unwrap_err();
    assert!(refused.to_string().contains("main"), "{refused}");
}

/// The journal's first record says where `main` was.
#[tokio::test]
async fn only_the_skeleton_begins_at_main() {
    let stage = Stage::new();
    let places = stage.places(false);
    for place in Place::ALL {
        let expected = (place == Place::Skeleton).then(|| stage.base.to_string());
        assert_eq!(Workspaces::commit(&places, place.name()).await.unwrap(), expected);
    }
    assert!(places.restore("tests", "no commit").await.is_err());
    assert!(Workspaces::open(&places, "no place", &stage.base.to_string()).await.is_err());
}
