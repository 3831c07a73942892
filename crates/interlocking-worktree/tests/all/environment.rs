//! A process that a git hook starts inherits variables that name another index and working tree.

use interlocking_worktree::Repository;

use crate::judge::{Place, author, write};

/// Without these variables when the tests are run, and with them when the test below runs it.
#[test]
fn a_commit_goes_to_its_own_repository() {
    let place = Place::new();
    // With the whole configuration of the user, as a runtime opens it.
    let repository = Repository::open(place.project()).unwrap();
    let user = repository.main_worktree().unwrap().unwrap();
    write(&place.project().join("new.txt"), "new\n");
    let commit = user.commit_all(&author(), "New").unwrap().unwrap();
    assert_eq!(place.git(&["ls-files"]), "README.md\nnew.txt\nsrc/lib.rs");
    assert_eq!(place.git(&["rev-parse", "main"]), commit.to_string());
    place.assert_git_agrees();
}

#[test]
fn variables_that_name_another_repository_are_not_followed() {
    let other = Place::new();
    let before = other.snapshot();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "environment::a_commit_goes_to_its_own_repository"])
        .env("GIT_INDEX_FILE", other.project().join(".git/index"))
        .env("GIT_WORK_TREE", other.project())
        .env("GIT_OBJECT_DIRECTORY", other.project().join(".git/objects"))
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && report.contains("1 passed"), "{report}");
    assert_eq!(other.snapshot(), before);
}
