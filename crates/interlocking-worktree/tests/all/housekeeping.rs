//! Locks, pruning and repair, as `git worktree` does them.

use std::{fs, path::Path};

use interlocking_worktree::{
    Configuration, LockError, OpenWorktreeError, RepairError, Repository, WorktreeError, WrongLink,
};

use crate::judge::{Place, git_in, run, write};

#[test]
fn a_lock_is_gits() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let path = worktree.path().to_owned();
    place.repository.lock_worktree(&worktree, "kept for\n a look").unwrap();
    assert!(place.git(&["worktree", "list", "--porcelain"]).ends_with("\nlocked kept for a look"));
    assert!(!run(&place.project(), &["worktree", "remove", "../run/one"]).status.success());
    let error = place.repository.lock_worktree(&worktree, "again").unwrap_err();
    assert_eq!(error, LockError::Locked { path: path.clone(), reason: "kept for a look".to_owned() });

    // As if on a disk that is not mounted.
    fs::rename(&path, place.path().join("away")).unwrap();
    assert_eq!(place.repository.prune_worktrees().unwrap(), []);
    place.repository.unlock_worktree(&worktree).unwrap();
    fs::rename(place.path().join("away"), &path).unwrap();
    let error = place.repository.unlock_worktree(&worktree).unwrap_err();
    assert_eq!(error, LockError::NotLocked { path: path.clone() });
    git_in(&path, &["worktree", "lock", "."]);
    place.repository.unlock_worktree(&worktree).unwrap();
    place.assert_git_agrees();

    let user = place.user();
    let error = place.repository.lock_worktree(&user, "no").unwrap_err();
    assert_eq!(error, LockError::NotLinked { path: user.path().to_owned() });
    let error = Place::new().repository.lock_worktree(&worktree, "no").unwrap_err();
    assert_eq!(error, LockError::OtherRepository { path });
}

/// What git would prune is pruned, and no file is deleted.
#[test]
fn what_is_gone_is_forgotten() {
    let place = Place::new();
    let [_kept, gone, locked, half, broken] =
        ["kept", "gone", "locked", "half", "broken"].map(|name| place.worktree(name));
    fs::remove_dir_all(gone.path()).unwrap();
    place.repository.lock_worktree(&locked, "away").unwrap();
    fs::remove_dir_all(locked.path()).unwrap();
    // Only the link was deleted.
    fs::remove_file(half.path().join(".git")).unwrap();
    fs::write(place.project().join(".git/worktrees/broken/gitdir"), "").unwrap();
    let gits = run(&place.project(), &["worktree", "prune", "--dry-run", "--verbose", "--expire=now"]);
    let gits = String::from_utf8(gits.stderr).unwrap();
    let gits: Vec<_> = gits.lines().map(|line| line.split(['/', ':']).nth(1).unwrap().to_owned()).collect();
    let pruned = place.repository.prune_worktrees().unwrap();
    let names: Vec<_> = pruned.iter().map(|pruned| pruned.name.clone()).collect();
    assert_eq!(names, ["broken", "gone", "half"]);
    assert_eq!(gits.into_iter().collect::<std::collections::BTreeSet<_>>(), names.into_iter().collect());
    let paths: Vec<_> = pruned.iter().map(|pruned| pruned.path.as_deref()).collect();
    assert_eq!(paths, [None, Some(gone.path()), Some(half.path())]);

    let left: Vec<_> = place.repository.worktrees().unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(left, ["kept", "locked"]);
    assert!(half.path().join("README.md").exists() && broken.path().join("README.md").exists());
    assert_eq!(place.repository.branches().unwrap().len(), 6, "branches stay");
    let trash = fs::read_dir(place.project().join(".git")).unwrap().flatten();
    assert!(trash.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".interlocking")));
    assert_eq!(place.repository.prune_worktrees().unwrap(), []);
    place.repository.unlock_worktree(&locked).unwrap();
    place.repository.prune_worktrees().unwrap();
    place.assert_git_agrees();
}

#[test]
fn a_moved_worktree_is_registered_where_it_is() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let moved = place.path().join("moved");
    fs::rename(worktree.path(), &moved).unwrap();
    assert!(matches!(worktree.status(), Err(WorktreeError::Gone { .. })));
    assert!(matches!(place.repository.open_worktree(&moved), Err(OpenWorktreeError::NotRegistered { .. })));

    let repaired = place.repository.repair_moved_worktree(&moved).unwrap().unwrap();
    assert_eq!((repaired.name.as_str(), repaired.path.as_path()), ("one", moved.as_path()));
    assert_eq!(repaired.wrong, WrongLink::InRegistration);
    let found = place.repository.open_worktree(&moved).unwrap();
    assert_eq!(found.branch(), worktree.branch());
    assert!(found.is_clean().unwrap());
    assert_eq!(place.repository.repair_moved_worktree(&moved).unwrap(), None);
    // Git finds nothing left to repair.
    assert_eq!(place.git(&["worktree", "repair", "../moved"]), "");
    place.assert_git_agrees();
}

#[test]
fn after_the_repository_was_moved_its_worktrees_find_it_again() {
    let place = Place::new();
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    let elsewhere = place.path().join("elsewhere");
    fs::rename(place.project(), &elsewhere).unwrap();
    let gone = place.path().join("run/two-moved");
    fs::rename(two.path(), &gone).unwrap();
    assert!(!run(one.path(), &["status"]).status.success());

    let repository = Repository::open_with(&elsewhere, Configuration::RepositoryOnly).unwrap();
    let repaired = repository.repair_worktrees().unwrap();
    assert_eq!(repaired.len(), 1);
    assert_eq!((repaired[0].name.as_str(), repaired[0].wrong), ("one", WrongLink::InWorktree));
    // Both were moved: found by name.
    repository.repair_moved_worktree(&gone).unwrap().unwrap();
    for root in [one.path(), gone.as_path(), elsewhere.as_path()] {
        assert_eq!(git_in(root, &["status", "--porcelain"]), "");
        assert!(repository.worktrees().unwrap().iter().all(|entry| !entry.is_missing));
    }
    assert_eq!(git_in(&elsewhere, &["worktree", "repair", "../run/two-moved"]), "");
    assert_eq!(git_in(&elsewhere, &["worktree", "prune", "--dry-run", "--verbose", "--expire=now"]), "");
    git_in(&elsewhere, &["fsck", "--strict"]);
}

#[test]
fn a_damaged_link_is_written_again_and_a_repository_in_its_place_is_not() {
    let place = Place::new();
    let (one, two, three) = (place.worktree("one"), place.worktree("two"), place.worktree("three"));
    fs::write(one.path().join(".git"), "gitdir: /nowhere\n").unwrap();
    fs::remove_file(two.path().join(".git")).unwrap();
    fs::remove_file(three.path().join(".git")).unwrap();
    git_in(three.path(), &["init", "--quiet"]);
    let names: Vec<_> =
        place.repository.repair_worktrees().unwrap().into_iter().map(|repaired| repaired.name).collect();
    assert_eq!(names, ["one", "two"]);
    assert!(one.is_clean().unwrap() && two.is_clean().unwrap());
    assert!(three.path().join(".git/HEAD").exists());
    assert!(matches!(three.status(), Err(WorktreeError::Diverted { .. })));
    fs::remove_dir_all(three.path().join(".git")).unwrap();
    place.repository.repair_worktrees().unwrap();
    place.assert_git_agrees();
}

#[test]
fn what_is_no_moved_worktree_of_ours_is_refused() {
    let (place, other) = (Place::new(), Place::new());
    let worktree = place.worktree("one");
    let copy = place.path().join("copy");
    let copied = std::process::Command::new("cp").arg("-r").arg(worktree.path()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let before = place.snapshot();
    let error = place.repository.repair_moved_worktree(&copy).unwrap_err();
    assert_eq!(error, RepairError::Copied { path: copy.clone(), registered: worktree.path().to_owned() });
    let foreign = other.worktree("one");
    let error = place.repository.repair_moved_worktree(foreign.path()).unwrap_err();
    assert!(matches!(error, RepairError::NotRegistered { .. }), "{error}");
    let plain = place.path().join("run");
    for at in [plain.as_path(), Path::new("/nowhere"), &place.project()] {
        let error = place.repository.repair_moved_worktree(at).unwrap_err();
        assert_eq!(error, RepairError::NotAWorktree { path: at.to_owned() });
    }
    assert_eq!(place.snapshot(), before);

    // A pruned worktree has no registration to repair.
    let moved = place.path().join("moved");
    fs::rename(worktree.path(), &moved).unwrap();
    fs::remove_dir_all(&copy).unwrap();
    place.repository.prune_worktrees().unwrap();
    let error = place.repository.repair_moved_worktree(&moved).unwrap_err();
    assert!(matches!(error, RepairError::NotRegistered { .. }), "{error}");
    write(&moved.join("README.md"), "still there\n");
}
