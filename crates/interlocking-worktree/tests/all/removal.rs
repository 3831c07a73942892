use std::path::Path;

use interlocking_worktree::{
    ChangeKind, DeleteBranchError, Force, ImportError, Pool, RemoveError, RenameBranchError, WorktreeError,
};

use crate::judge::{Place, branch, commit_with_git, git_in, path, run, text, write};

#[test]
fn a_removed_worktree_leaves_no_trace_but_its_branch() {
    let place = Place::new();
    let kept = place.worktree("kept");
    let before = place.snapshot();
    let worktree = place.worktree("one");
    let head = commit_with_git(worktree.path(), &[("new.txt", "new\n")], "new");
    let discarded = place.repository.remove_worktree(&worktree, Force::No).unwrap();
    assert!(!worktree.path().exists(), "it is out of its place at once");
    assert_eq!(place.repository.worktrees().unwrap().len(), 1);
    discarded.delete().unwrap();
    assert_eq!(place.repository.branch_head(&branch("one")).unwrap(), Some(head));

    place.repository.delete_branch(&branch("one"), head).unwrap();
    assert_eq!(place.snapshot(), before);
    assert!(!place.project().join(".git/worktrees/one").exists());
    assert!(!place.project().join(".git/logs/refs/heads/one").exists());
    place.assert_git_agrees();

    // The same path and name can be used again.
    place.worktree("one");
    drop(place.repository.remove_worktree(&kept, Force::No).unwrap());
    let leftovers = std::fs::read_dir(place.path().join("run")).unwrap().count();
    assert_eq!(leftovers, 1, "dropping deletes too");
    let trash = std::fs::read_dir(place.project().join(".git")).unwrap();
    assert!(trash.flatten().all(|entry| !entry.file_name().to_string_lossy().starts_with(".interlocking")));
}

#[test]
fn uncommitted_work_is_not_removed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&worktree.path().join("new.txt"), "new\n");
    write(&worktree.path().join("README.md"), "changed\n");
    let before = place.snapshot();
    match place.repository.remove_worktree(&worktree, Force::No).unwrap_err() {
        RemoveError::Dirty { path, changes } => {
            assert_eq!(path, worktree.path());
            let kinds: Vec<_> = changes.iter().map(|change| change.kind).collect();
            assert_eq!(kinds, [ChangeKind::Modified, ChangeKind::Untracked]);
        }
        other => panic!("{other}"),
    }
    assert_eq!(place.snapshot(), before);
    place.repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap().delete().unwrap();
    assert!(!worktree.path().exists());
    place.assert_git_agrees();
}

/// What is changed or committed in a submodule is in no other place.
#[test]
fn a_submodule_that_is_checked_out_is_not_removed() {
    let place = Place::new();
    let project = place.project();
    place.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--", "./", "sub"]);
    place.git(&["commit", "--quiet", "--message", "submodule"]);
    let pool = Pool::open(&place.repository, place.path().join("pool"), 1).unwrap();
    let linked = pool.create_worktree(place.path().join("run/linked"), branch("linked"), place.main()).unwrap();
    git_in(&project, &["clone", "--quiet", ".", &linked.path().join("sub").to_string_lossy()]);
    write(&linked.path().join("sub/new.txt"), "new\n");
    assert!(linked.is_clean().unwrap());
    let before = place.snapshot();
    for (error, of) in [
        (place.repository.remove_worktree(&linked, Force::No).unwrap_err(), &linked),
        (pool.retire(&linked, Force::No).unwrap_err(), &linked),
    ] {
        let expected = RemoveError::Submodules { path: of.path().to_owned(), submodules: vec![path("sub")] };
        assert_eq!(error, expected);
    }
    assert_eq!(place.snapshot(), before);
    std::fs::remove_dir_all(linked.path().join("sub")).unwrap();
    std::fs::create_dir(linked.path().join("sub")).unwrap();
    place.repository.remove_worktree(&linked, Force::No).unwrap().delete().unwrap();
}

#[test]
fn a_locked_worktree_needs_more_force() {
    let place = Place::new();
    let worktree = place.worktree("one");
    git_in(worktree.path(), &["worktree", "lock", "--reason", "mine", "."]);
    let before = place.snapshot();
    for force in [Force::No, Force::DiscardChanges] {
        let error = place.repository.remove_worktree(&worktree, force).unwrap_err();
        assert_eq!(error, RemoveError::Locked { path: worktree.path().to_owned(), reason: "mine".to_owned() });
    }
    assert_eq!(place.snapshot(), before);
    place.repository.remove_worktree(&worktree, Force::EvenIfLocked).unwrap().delete().unwrap();
    place.assert_git_agrees();
}

/// A crash during creation leaves a worktree locked with the reason "initializing", which `git worktree prune` skips.
#[test]
fn a_half_made_worktree_is_listed_and_removed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&place.project().join(".git/worktrees/one/locked"), "initializing\n");
    std::fs::remove_dir_all(worktree.path()).unwrap();
    let entry = place.repository.worktrees().unwrap().remove(0);
    assert_eq!(entry.locked.as_deref(), Some("initializing"));
    assert!(entry.is_missing);
    let found = place.repository.open_worktree(&entry.path).unwrap();
    place.repository.remove_worktree(&found, Force::EvenIfLocked).unwrap().delete().unwrap();
    assert_eq!(place.repository.worktrees().unwrap(), []);
    place.assert_git_agrees();
}

#[test]
fn the_users_own_tree_and_other_repositories_are_out_of_reach() {
    let (place, other) = (Place::new(), Place::new());
    let error = place.repository.remove_worktree(&place.user(), Force::EvenIfLocked).unwrap_err();
    assert_eq!(error, RemoveError::Main { path: place.user().path().to_owned() });
    let foreign = other.worktree("one");
    place.worktree("one");
    let error = place.repository.remove_worktree(&foreign, Force::EvenIfLocked).unwrap_err();
    assert_eq!(error, RemoveError::OtherRepository { path: foreign.path().to_owned() });
    assert!(foreign.is_clean().unwrap());
}

/// The directory was moved away and something else is in its place.
#[test]
fn what_took_a_worktrees_place_is_not_removed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    std::fs::rename(worktree.path(), place.path().join("moved")).unwrap();
    write(&worktree.path().join("precious.txt"), "mine\n");
    let error = place.repository.remove_worktree(&worktree, Force::EvenIfLocked).unwrap_err();
    assert!(matches!(error, RemoveError::Worktree(WorktreeError::Diverted { .. })), "{error}");
    assert!(worktree.path().join("precious.txt").exists());
}

#[test]
fn a_branch_is_deleted_only_where_it_was_seen_and_nobody_is_on_it() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let head = commit_with_git(worktree.path(), &[("new.txt", "new\n")], "new");
    let before = place.snapshot();
    let error = place.repository.delete_branch(&branch("one"), head).unwrap_err();
    let place_of = worktree.path().to_owned();
    assert_eq!(error, DeleteBranchError::CheckedOut { branch: branch("one"), place: place_of.clone() });
    let error = place.repository.delete_branch(&branch("main"), place.main()).unwrap_err();
    assert!(matches!(error, DeleteBranchError::CheckedOut { .. }), "{error}");
    assert_eq!(place.snapshot(), before);

    // Its disk may not be there now.
    let absent = place.path().join("absent");
    std::fs::rename(worktree.path(), &absent).unwrap();
    let on_one = |found: &Path| found == worktree.path();
    let error = place.repository.delete_branch(&branch("one"), head).unwrap_err();
    assert!(matches!(&error, DeleteBranchError::CheckedOut { place, .. } if on_one(place)), "{error}");
    let error = place.repository.rename_branch(&branch("one"), &branch("two"), head).unwrap_err();
    assert!(matches!(&error, RenameBranchError::Old(DeleteBranchError::CheckedOut { .. })), "{error}");
    let clone = place.repository.create_clone(place.path().join("clone"), &branch("one"), head).unwrap();
    let commits = clone.export_since(head).unwrap();
    let error = place.repository.import(&commits, &branch("one"), Some(head)).unwrap_err();
    assert!(matches!(&error, ImportError::CheckedOut { place, .. } if on_one(place)), "{error}");
    let error = run(&place.project(), &["branch", "-D", "one"]);
    assert!(text(&error.stderr).contains(&place_of.display().to_string()), "git refuses it, too");
    std::fs::rename(&absent, worktree.path()).unwrap();
    std::fs::remove_dir_all(clone.path()).unwrap();
    assert_eq!(place.snapshot(), before);

    place.repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap();
    let before = place.snapshot();
    let error = place.repository.delete_branch(&branch("one"), place.main()).unwrap_err();
    let expected = place.main();
    assert_eq!(error, DeleteBranchError::Moved { branch: branch("one"), expected, found: Some(head) });
    let error = place.repository.delete_branch(&branch("none"), head).unwrap_err();
    assert_eq!(error, DeleteBranchError::Moved { branch: branch("none"), expected: head, found: None });
    assert_eq!(place.snapshot(), before);
}
