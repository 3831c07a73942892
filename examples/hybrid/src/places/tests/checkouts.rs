//! What is built and tested: the files of one commit, and no others.

use super::{Place, Stage};
use crate::places::PlaceError;
use std::fs;
use std::path::Path;
use std::process::Command;

fn files_of(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|name| name != ".git").collect();
    names.sort();
    names
}

/// What git does not show, because it was told not to, is in no checkout.
#[tokio::test]
async fn what_git_was_told_to_ignore_is_not_checked_out() {
    let stage = Stage::new();
    let places = stage.places(false);
    for place in [Place::Skeleton, Place::Tests] {
        let worktree = places.open(place, stage.base).await.unwrap();
        let at = worktree.path();
        fs::create_dir(at.join(".cargo")).unwrap();
        fs::write(at.join(".cargo/.gitignore"), "*\n").unwrap();
        fs::write(at.join(".cargo/config.toml"), "[build]\n").unwrap();
        fs::write(at.join("lib.rs"), "changed\n").unwrap();
        let checked_out = places.check_out_work(place, stage.base).await.unwrap();
        assert_eq!(files_of(checked_out.checkout().path()), ["lib.rs"]);
        assert_eq!(fs::read_to_string(checked_out.checkout().path().join("lib.rs")).unwrap(), "changed\n");
        let steering = [".cargo/config.toml", "build.rs", "lib.rs"].map(str::to_owned).into();
        assert_eq!(places.unseen(place, stage.base, steering).await.unwrap(), [".cargo/config.toml"]);
        let gone = checked_out.checkout().path().to_owned();
        drop(checked_out);
        assert!(!gone.exists());
    }
    places.close(false).await.unwrap();
    assert_eq!(stage.branches(), []);
}

/// The user's repository has no branch of what is only examined, and no worktree.
#[tokio::test]
async fn an_examination_leaves_no_trace() {
    let stage = Stage::new();
    let places = stage.places(false);
    let worktree = places.open(Place::Tests, stage.base).await.unwrap();
    fs::write(worktree.path().join("lib.rs"), "changed\n").unwrap();
    let checked_out = places.check_out_work(Place::Tests, stage.base).await.unwrap();
    assert_eq!((stage.branches(), stage.worktrees()), (vec![], vec![]));
    // One more beside it has a directory of its own.
    let other = places.check_out(stage.base).await.unwrap();
    assert_ne!(other.checkout(), checked_out.checkout());
    assert_eq!(fs::read_to_string(other.checkout().path().join("lib.rs")).unwrap(), "base\n");
    assert_eq!(stage.worktrees(), [""; 0]);
    let message = "tests".to_owned();
    let committed = places.commit_examined(Place::Tests, stage.base, checked_out.commit(), message).await.unwrap();
    assert_eq!(stage.branches(), [("tests-r1".to_owned(), committed.unwrap())]);
}

/// Whoever still is at work after an examination does not get what was not examined past it.
#[tokio::test]
async fn what_changes_after_an_examination_is_not_committed_for_it() {
    let stage = Stage::new();
    let places = stage.places(false);
    let worktree = places.open(Place::Implementation, stage.base).await.unwrap();
    fs::write(worktree.path().join("lib.rs"), "examined\n").unwrap();
    let examined = places.check_out_work(Place::Implementation, stage.base).await.unwrap().commit();
    fs::write(worktree.path().join("lib.rs"), "something else\n").unwrap();
    let error =
        places.commit_examined(Place::Implementation, stage.base, examined, "impl".to_owned()).await.unwrap_err();
    let PlaceError::ChangedMeanwhile { place, path } = &error else { panic!("{error}") };
    assert_eq!((*place, path.as_str()), ("impl", "lib.rs"));
}

/// Whoever shares the object store can write other contents under an object's id; that is not checked out.
#[tokio::test]
async fn an_object_with_other_contents_is_refused() {
    let stage = Stage::new();
    let places = stage.places(false);
    let repository = stage.directory.path().join("repository");
    let blob = |content: &str| {
        let file = stage.directory.path().join("content");
        fs::write(&file, content).unwrap();
        let git = Command::new("git").args(["hash-object", "-w"]).arg(&file).current_dir(&repository).output().unwrap();
        let id = String::from_utf8(git.stdout).unwrap();
        repository.join(".git/objects").join(&id[..2]).join(id[2..].trim())
    };
    let (real, forged) = (blob("base\n"), blob("weak\n"));
    fs::remove_file(&real).unwrap();
    fs::copy(forged, real).unwrap();
    let error = places.check_out(stage.base).await.unwrap_err().to_string();
    assert!(error.contains("is forged: its contents have the id"), "{error}");
}
