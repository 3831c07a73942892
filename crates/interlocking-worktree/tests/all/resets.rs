use interlocking_worktree::{ArchiveName, ResetError, UnlockError};

use crate::judge::{Place, author, commit_with_git, git_in, path, write};

/// CON-74: the tests branch is reset to the skeleton commit, and the rejected head is kept.
#[test]
fn a_reset_worktree_is_as_the_commit_and_the_old_head_is_kept() {
    let place = Place::with_files(&[
        ("README.md", "# Project\n"),
        ("src/lib.rs", "one\n"),
        ("becomes-directory", "file\n"),
        ("was/deep/file.txt", "deep\n"),
        (".gitignore", "target/\n"),
    ]);
    let skeleton = place.main();
    let worktree = place.worktree("tests-r1");
    let root = worktree.path();
    std::fs::remove_file(root.join("becomes-directory")).unwrap();
    std::fs::remove_dir_all(root.join("was")).unwrap();
    let rejected = commit_with_git(
        root,
        &[
            ("tests/a.rs", "rejected\n"),
            ("becomes-directory/inside.txt", "x\n"),
            ("src/lib.rs", "two\n"),
            ("was", "now a file\n"),
        ],
        "tests: rejected",
    );
    let name = ArchiveName::new("r1/1").unwrap();
    place.repository.archive(&name, rejected).unwrap();

    // And more uncommitted changes, staged or not.
    write(&root.join("src/lib.rs"), "uncommitted\n");
    write(&root.join("untracked/file.txt"), "untracked\n");
    write(&root.join("staged.txt"), "staged\n");
    git_in(root, &["add", "staged.txt"]);
    git_in(root, &["rm", "--quiet", "--force", "README.md"]);
    write(&root.join("target/debug/x"), "ignored\n");
    write(&root.join("nested/file.txt"), "nested\n");
    git_in(&root.join("nested"), &["init", "--quiet"]);
    commit_with_git(&root.join("nested"), &[], "nested");

    worktree.reset_to(skeleton).unwrap();
    assert_eq!(worktree.status().unwrap(), []);
    assert_eq!(git_in(root, &["rev-parse", "tests-r1"]), skeleton.to_string());
    assert_eq!(git_in(root, &["status", "--porcelain", "--untracked-files=all"]), "");
    assert_eq!(git_in(root, &["ls-files"]), git_in(&place.project(), &["ls-files"]));
    assert_eq!(std::fs::read_to_string(root.join("was/deep/file.txt")).unwrap(), "deep\n");
    assert!(!root.join("target").exists(), "ignored files go too");
    assert!(!root.join("untracked").exists() && !root.join("nested").exists() && !root.join("tests").exists());
    assert_eq!(place.repository.archived().unwrap(), [(name, rejected)]);
    assert_eq!(place.git(&["log", "-1", "--format=%s", "refs/interlocking/archive/r1/1"]), "tests: rejected");
    place.assert_git_agrees();
}

#[test]
fn what_is_spared_stays_with_the_directories_above_it() {
    let place = Place::with_files(&[(".gitignore", "*.log\n/target/\n.env\n"), ("src/lib.rs", "lib\n"), ("a", "a\n")]);
    let worktree = place.worktree("one");
    let root = worktree.path();
    for file in
        [".env", "target/debug/x", "target/other", "conf/local/.env", "conf/local/x.log", "src/x.log", "target2"]
    {
        write(&root.join(file), "left\n");
    }
    write(&root.join("a"), "changed\n");
    let spared = [".env", "target/debug", "conf/local/.env", "src/lib.rs", "a", "none/at/all"].map(path);
    worktree.reset_to_except(place.main(), &spared).unwrap();
    let expected = [
        ".env",
        ".git",
        ".gitignore",
        "a",
        "conf",
        "conf/local",
        "conf/local/.env",
        "src",
        "src/lib.rs",
        "target",
        "target/debug",
        "target/debug/x",
    ];
    assert_eq!(crate::hostile_files::names_below(root), expected);
    assert_eq!(std::fs::read_to_string(root.join("a")).unwrap(), "a\n", "a file of the commit is not spared");
    place.assert_git_agrees();
}

/// For read-only agents: changes are found and reverted in place.
#[test]
fn resetting_to_the_same_commit_reverts_what_is_not_committed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let before = place.snapshot();
    write(&worktree.path().join("src/lib.rs"), "tampered\n");
    write(&worktree.path().join("src/new.rs"), "new\n");
    assert_eq!(worktree.status().unwrap().len(), 2);
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(place.snapshot(), before);
    place.assert_git_agrees();
}

#[test]
fn an_unfinished_merge_is_reset_too() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let theirs = commit_with_git(place.worktree("two").path(), &[("README.md", "theirs\n")], "theirs");
    commit_with_git(worktree.path(), &[("README.md", "ours\n")], "ours");
    assert!(!crate::judge::run(worktree.path(), &["merge", &theirs.to_string()]).status.success());
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain=v2"]), "");
    assert!(!git_in(worktree.path(), &["status"]).contains("merging"));
    write(&worktree.path().join("new.txt"), "new\n");
    let commit = worktree.commit_all(&author(), "after").unwrap().unwrap();
    assert_eq!(place.repository.commit(commit).unwrap().parents, [place.main()]);
}

/// Nothing is left that would prevent commits.
#[test]
fn an_unfinished_bisection_and_rebases_are_reset_too() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let private = std::path::PathBuf::from(git_in(worktree.path(), &["rev-parse", "--absolute-git-dir"]));
    for (file, operation) in
        [("BISECT_LOG", "bisection"), ("rebase-merge/done", "rebase"), ("rebase-apply/applying", "run of `git am`")]
    {
        write(&private.join(file), "");
        write(&worktree.path().join("new.txt"), file);
        let error = worktree.commit_all(&author(), "during").unwrap_err();
        assert!(error.to_string().starts_with(&format!("a {operation} was begun in ")), "{error}");
        worktree.reset_to(place.main()).unwrap();
        write(&worktree.path().join("new.txt"), file);
        worktree.commit_all(&author(), "after").unwrap().unwrap();
    }
    place.assert_git_agrees();
}

#[test]
fn the_users_own_tree_is_never_reset() {
    let place = Place::new();
    write(&place.project().join("README.md"), "work in progress\n");
    let before = place.snapshot();
    let error = place.user().reset_to(place.main()).unwrap_err();
    assert!(matches!(error, ResetError::Main { .. }), "{error}");
    assert_eq!(place.snapshot(), before);
}

#[test]
fn a_recycled_worktree_keeps_what_did_not_change() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let file = worktree.path().join("README.md");
    let touched = std::fs::metadata(&file).unwrap().modified().unwrap();
    let later = commit_with_git(place.worktree("two").path(), &[("src/lib.rs", "later\n")], "later");
    std::thread::sleep(std::time::Duration::from_millis(20));
    worktree.reset_to(later).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().modified().unwrap(), touched);
    assert_eq!(std::fs::read_to_string(worktree.path().join("src/lib.rs")).unwrap(), "later\n");
    place.assert_git_agrees();
}

/// `kill -9` during a commit leaves locks that stay until a caller that knows better removes them.
#[test]
fn the_locks_of_a_killed_process_are_deleted_for_whoever_knows_that_it_is_dead() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&worktree.path().join("src/new.rs"), "half done\n");
    let of_the_worktree = place.project().join(".git/worktrees/one");
    let locks = [
        of_the_worktree.join("index.lock"),
        of_the_worktree.join("HEAD.lock"),
        place.project().join(".git/refs/heads/one.lock"),
    ];
    locks.iter().for_each(|lock| write(lock, ""));
    let refused = worktree.reset_to(place.main()).unwrap_err().to_string();
    assert!(refused.contains("is locked by another git process"), "{refused}");

    let canonical =
        |path: &std::path::PathBuf| path.parent().unwrap().canonicalize().unwrap().join(path.file_name().unwrap());
    let deleted = worktree.unlock().unwrap();
    assert_eq!(deleted.iter().map(canonical).collect::<Vec<_>>(), locks.iter().map(canonical).collect::<Vec<_>>());
    assert_eq!(worktree.unlock().unwrap(), Vec::<std::path::PathBuf>::new());
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(worktree.status().unwrap(), []);
    place.assert_git_agrees();

    let main = place.repository.main_worktree().unwrap().unwrap();
    write(&place.project().join(".git/index.lock"), "");
    assert!(matches!(main.unlock(), Err(UnlockError::Main { .. })));
    assert!(place.project().join(".git/index.lock").exists(), "the user may be at work");
}
