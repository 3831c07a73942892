//! No operation runs a hook of the user.

use std::os::unix::fs::PermissionsExt as _;

use interlocking_worktree::{ArchiveName, Force};

use crate::judge::{Place, author, branch, commit_with_git, run, write};

/// All hooks of git for local work, and the one that it starts as a monitor of the file system.
const HOOKS: [&str; 17] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
];

/// Installs hooks that fail and leave their name behind.
fn install(place: &Place) -> std::path::PathBuf {
    let (hooks, ran) = (place.path().join("hooks"), place.path().join("ran"));
    for hook in HOOKS {
        write(&hooks.join(hook), format!("#!/bin/sh\necho {hook} >> '{}'\nexit 1\n", ran.display()));
        std::fs::set_permissions(hooks.join(hook), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.git(&["config", "core.hooksPath", hooks.to_str().unwrap()]);
    place.git(&["config", "core.fsmonitor", hooks.join("fsmonitor-watchman").to_str().unwrap()]);
    ran
}

/// The operations, in an order in which each has something to do. After each, no hook has run.
#[test]
fn no_operation_runs_a_hook() {
    let place = Place::new();
    let repository = &place.repository;
    let base = place.main();
    let [side, other, third] = ["side", "other", "third"]
        .map(|name| commit_with_git(place.worktree(name).path(), &[(&format!("{name}.txt"), name)], name));
    let conflicting =
        commit_with_git(place.worktree("conflicting").path(), &[("README.md", "theirs\n")], "conflicting");
    let ran = install(&place);
    let none_after = |operation: &str| {
        assert!(!ran.exists(), "{operation}: {}", std::fs::read_to_string(&ran).unwrap_or_default());
    };

    let worktree = repository.create_worktree(place.path().join("run/one"), branch("one"), base).unwrap();
    none_after("create");
    let detached = repository.create_detached_worktree(place.path().join("run/two"), base).unwrap();
    none_after("create detached");
    repository.create_branch(&branch("free"), base).unwrap();
    none_after("create branch");
    let attached = repository.create_worktree_on(place.path().join("run/three"), branch("free")).unwrap();
    none_after("create on a branch");
    write(&worktree.path().join("new.txt"), "new\n");
    worktree.status().unwrap();
    worktree.diff_since(base).unwrap();
    worktree.unified_diff_since(base).unwrap();
    none_after("status and diff");
    let first = worktree.commit_all(&author(), "all").unwrap().unwrap();
    none_after("commit all");
    write(&worktree.path().join("more.txt"), "more\n");
    worktree.commit_paths(&[crate::judge::path("more.txt")], &author(), "some").unwrap().unwrap();
    none_after("commit by path");
    worktree.commit_empty(&author(), "a word").unwrap();
    none_after("commit nothing");
    worktree.squash_since(first, &author(), "squashed").unwrap().unwrap();
    none_after("squash since");
    worktree.merge(side, &author(), "merged").unwrap().unwrap();
    none_after("merge");
    worktree.squash_merge(other, &author(), "squashed").unwrap().unwrap();
    none_after("squash");
    worktree.cherry_pick(base..third, &author()).unwrap();
    none_after("cherry-pick");
    assert_eq!(attached.pick_for_resolution(conflicting).unwrap(), []);
    none_after("pick for resolution");
    attached.reset_to(base).unwrap();
    none_after("reset");
    write(&attached.path().join("task.txt"), "task\n");
    attached.commit_all(&author(), "task").unwrap().unwrap();
    attached.rebase(base, side, &author()).unwrap();
    none_after("rebase");
    let merged = repository.merge_onto(side, other, &author(), "merged").unwrap().unwrap();
    repository.squash_onto(side, other, &author(), "squashed").unwrap().unwrap();
    repository.cherry_pick_onto(side, base..other, &author()).unwrap();
    repository.rebase_onto(side, base..other, &author()).unwrap();
    none_after("merges in the database");
    repository.fast_forward(&branch("main"), merged, base).unwrap();
    none_after("fast-forward with a working tree");
    repository.archive(&ArchiveName::new("r1/1").unwrap(), first).unwrap();
    none_after("archive");
    let clone = repository.create_clone(place.path().join("run/clone"), &branch("clone"), base).unwrap();
    for hook in HOOKS {
        let own = clone.path().join(".git/hooks").join(hook);
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::copy(place.path().join("hooks").join(hook), own).unwrap();
    }
    write(&clone.path().join("cloned.txt"), "cloned\n");
    clone.commit_all(&author(), "in a clone").unwrap().unwrap();
    let fetched = repository.fetch_from_clone(&clone, base, None).unwrap();
    clone.reset_to(base).unwrap();
    clone.cherry_pick(base..fetched, &author()).unwrap();
    interlocking_worktree::delete_directory(clone.path()).unwrap();
    none_after("a clone's life");
    repository.lock_worktree(&detached, "locked").unwrap();
    repository.unlock_worktree(&detached).unwrap();
    repository.repair_worktrees().unwrap();
    none_after("lock, unlock and repair");
    let head = attached.head().unwrap();
    for worktree in [worktree, detached, attached] {
        repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap().delete().unwrap();
    }
    none_after("remove");
    repository.move_branch(&branch("free"), base, head).unwrap();
    none_after("move a branch");
    repository.delete_branch(&branch("free"), base).unwrap();
    repository.prune_worktrees().unwrap();
    none_after("delete a branch and prune");

    // The hooks work: git runs them.
    write(&place.project().join("by-git.txt"), "git\n");
    run(&place.project(), &["add", "--all"]);
    assert!(!run(&place.project(), &["commit", "--message", "by git"]).status.success());
    assert!(std::fs::read_to_string(&ran).unwrap().contains("pre-commit"));
}
