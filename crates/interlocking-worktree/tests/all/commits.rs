use std::os::unix::fs::{PermissionsExt as _, symlink};

use interlocking_worktree::{ChangeKind, CommitError, MessageError, WorktreeError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, run, write};

fn kinds(worktree: &interlocking_worktree::Worktree) -> Vec<(String, ChangeKind)> {
    let changes = worktree.status().unwrap();
    changes.into_iter().map(|change| (change.path.to_string(), change.kind)).collect()
}

#[test]
fn the_first_commit_of_a_new_repository() {
    let place = Place::empty();
    let user = place.user();
    assert!(matches!(user.head(), Err(WorktreeError::NoCommitYet { .. })));
    assert_eq!(user.commit_all(&author(), "Nothing").unwrap(), None);
    write(&place.project().join("a/b.txt"), "b\n");
    let commit = user.commit_all(&author(), "Begin").unwrap().unwrap();
    assert_eq!(place.git(&["rev-parse", "main"]), commit.to_string());
    assert_eq!(place.git(&["ls-files"]), "a/b.txt");
    place.assert_git_agrees();
}

/// The same edits in two worktrees, committed by this crate and by git, give the same commit.
#[test]
fn a_commit_is_the_one_git_makes() {
    let place = Place::with_files(&[
        ("keep.txt", "keep\n"),
        ("change.txt", "old\n"),
        ("delete.txt", "gone\n"),
        ("directory/deep/delete.txt", "gone\n"),
        ("script.sh", "#!/bin/sh\n"),
        ("was-script.sh", "#!/bin/sh\n"),
        ("becomes-link", "text\n"),
        ("becomes-directory", "text\n"),
        ("becomes-file/a.txt", "a\n"),
        (".gitignore", "*.log\n/target/\n"),
    ]);
    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    for root in [ours.path(), gits.path()] {
        let at = |name: &str| root.join(name);
        let mode = |name: &str, mode| {
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        write(&at("change.txt"), "new\n");
        std::fs::remove_file(at("delete.txt")).unwrap();
        std::fs::remove_dir_all(at("directory")).unwrap();
        mode("script.sh", 0o755);
        std::fs::remove_file(at("becomes-link")).unwrap();
        symlink("keep.txt", at("becomes-link")).unwrap();
        std::fs::remove_file(at("becomes-directory")).unwrap();
        write(&at("becomes-directory/inside.txt"), "inside\n");
        std::fs::remove_dir_all(at("becomes-file")).unwrap();
        write(&at("becomes-file"), "file\n");
        write(&at("ünïcode name.txt"), "spaces\n");
        write(&at("new/deep/file.txt"), "new\n");
        symlink("../nowhere", at("new/dangling")).unwrap();
        write(&at("ignored.log"), "log\n");
        write(&at("target/debug/x"), "x\n");
        std::fs::create_dir_all(at("empty")).unwrap();
        // Some changes are staged already, as agents do.
        write(&at("staged.txt"), "staged\n");
        git_in(root, &["add", "staged.txt", "change.txt"]);
        write(&at("change.txt"), "newer\n");
        git_in(root, &["rm", "--quiet", "--cached", "was-script.sh"]);
        mode("was-script.sh", 0o755);
    }
    let message = "tests: a property\n\nNames: a, b\n\nSession: r1\nNode: hTests\n";
    let commit = ours.commit_all(&author(), message).unwrap().unwrap();
    git_in(gits.path(), &["add", "--all"]);
    git_in(gits.path(), &["commit", "--quiet", "--message", message]);
    assert_eq!(commit.to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
    assert_eq!(git_in(ours.path(), &["ls-files", "--stage"]), git_in(gits.path(), &["ls-files", "--stage"]));
    assert!(ours.path().join("ignored.log").exists());
    assert_eq!(ours.status().unwrap(), []);
    assert_eq!(place.repository.branch_head(ours.branch().unwrap()).unwrap(), Some(commit));
    place.assert_git_agrees();

    // Git continues with the index that this crate wrote.
    let next = commit_with_git(ours.path(), &[("next.txt", "next\n")], "Next");
    assert_eq!(place.git(&["diff", "--name-only", &commit.to_string(), &next.to_string()]), "next.txt");
    place.assert_git_agrees();
}

/// Git writes the tree of each directory into the index, and trusts it the next time.
#[test]
fn git_and_this_crate_take_turns_with_one_index() {
    let place = Place::with_files(&[("one/a.txt", "a\n"), ("two/b.txt", "b\n")]);
    let worktree = place.worktree("turns");
    for round in 0..3 {
        commit_with_git(worktree.path(), &[("two/b.txt", &format!("git {round}\n"))], "git's turn");
        let ours = format!("ours {round}\n");
        write(&worktree.path().join("one/a.txt"), &ours);
        worktree.commit_all(&author(), "our turn").unwrap().unwrap();
        place.assert_git_agrees();
        write(&worktree.path().join("two/b.txt"), &ours);
        git_in(worktree.path(), &["commit", "--quiet", "--all", "--message", "git's turn again"]);
        assert_eq!(git_in(worktree.path(), &["show", "HEAD:one/a.txt"]), ours.trim_end());
        place.assert_git_agrees();
    }
}

#[test]
fn nothing_changed_makes_no_commit() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let before = place.snapshot();
    assert_eq!(worktree.commit_all(&author(), "Nothing").unwrap(), None);
    assert_eq!(place.snapshot(), before);

    // Staged and undone again: the index follows.
    write(&worktree.path().join("new.txt"), "new");
    git_in(worktree.path(), &["add", "new.txt"]);
    std::fs::remove_file(worktree.path().join("new.txt")).unwrap();
    assert_eq!(kinds(&worktree), [("new.txt".to_owned(), ChangeKind::Deleted)]);
    assert_eq!(worktree.commit_all(&author(), "Nothing").unwrap(), None);
    assert_eq!(place.snapshot(), before);
}

#[test]
fn a_commit_may_say_something_and_change_nothing() {
    let place = Place::new();
    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    for root in [ours.path(), gits.path()] {
        write(&root.join("src/lib.rs"), "uncommitted\n");
        write(&root.join("new.txt"), "untracked\n");
    }
    let status = git_in(gits.path(), &["status", "--porcelain"]);
    let commit = ours.commit_empty(&author(), "merge: both").unwrap();
    git_in(gits.path(), &["commit", "--quiet", "--allow-empty", "--message", "merge: both"]);
    assert_eq!(commit.to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
    assert_eq!(ours.head().unwrap(), commit);
    assert_eq!(git_in(ours.path(), &["status", "--porcelain"]), status);
    place.assert_sound();
}

#[test]
fn the_status_names_each_path_once() {
    let place = Place::with_files(&[("a", "a\n"), ("b", "b\n"), ("c", "c\n"), ("d", "d\n"), (".gitignore", "*.log\n")]);
    let worktree = place.worktree("one");
    let at = |name: &str| worktree.path().join(name);
    write(&at("a"), "changed\n");
    std::fs::remove_file(at("b")).unwrap();
    std::fs::remove_file(at("c")).unwrap();
    symlink("a", at("c")).unwrap();
    git_in(worktree.path(), &["rm", "--quiet", "--cached", "d"]);
    write(&at("e"), "staged\n");
    git_in(worktree.path(), &["add", "e"]);
    write(&at("e"), "and changed\n");
    write(&at("new/f"), "untracked\n");
    write(&at("g.log"), "ignored\n");
    let expected = [
        ("a", ChangeKind::Modified),
        ("b", ChangeKind::Deleted),
        ("c", ChangeKind::TypeChanged),
        ("d", ChangeKind::Modified),
        ("e", ChangeKind::Added),
        ("new/f", ChangeKind::Untracked),
    ];
    assert_eq!(kinds(&worktree), expected.map(|(path, kind)| (path.to_owned(), kind)));
}

#[test]
fn some_paths_alone() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&worktree.path().join("tests/a.rs"), "a\n");
    write(&worktree.path().join("tests.rs"), "not in tests\n");
    write(&worktree.path().join("src/lib.rs"), "changed\n");
    let commit = worktree.commit_paths(&[path("tests")], &author(), "tests: a").unwrap().unwrap();
    assert_eq!(place.git(&["show", "--format=", "--name-only", &commit.to_string()]), "tests/a.rs");
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), " M src/lib.rs\n?? tests.rs");
    place.assert_sound();
}

/// CON-76: the runtime commits, and an agent's own commits are folded in.
#[test]
fn stray_commits_are_folded_into_one() {
    let place = Place::new();
    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    let base = place.main();
    for root in [ours.path(), gits.path()] {
        commit_with_git(root, &[("one.txt", "1\n")], "stray");
        commit_with_git(root, &[("two.txt", "2\n"), ("one.txt", "1.1\n")], "stray again");
        std::fs::remove_file(root.join("README.md")).unwrap();
        write(&root.join("three.txt"), "3\n");
    }
    let commit = ours.squash_since(base, &author(), "impl: all of it").unwrap().unwrap();
    git_in(gits.path(), &["reset", "--quiet", "--soft", &base.to_string()]);
    git_in(gits.path(), &["add", "--all"]);
    git_in(gits.path(), &["commit", "--quiet", "--message", "impl: all of it"]);
    assert_eq!(commit.to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
    assert_eq!(ours.head().unwrap(), commit);
    place.assert_git_agrees();

    // Undone: the branch is at its base, and there is no commit.
    git_in(ours.path(), &["rm", "--quiet", "one.txt", "two.txt", "three.txt"]);
    write(&ours.path().join("README.md"), "# Project\n");
    assert_eq!(ours.squash_since(base, &author(), "nothing").unwrap(), None);
    assert_eq!(ours.head().unwrap(), base);
    place.assert_git_agrees();
}

#[test]
fn squashing_onto_a_commit_that_is_not_behind_is_refused() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let other = commit_with_git(place.worktree("two").path(), &[("x", "x")], "other");
    write(&worktree.path().join("new.txt"), "new\n");
    let before = place.snapshot();
    let error = worktree.squash_since(other, &author(), "no").unwrap_err();
    assert_eq!(error, CommitError::NotAnAncestor { base: other, head: place.main() });
    assert_eq!(place.snapshot(), before);
}

#[test]
fn what_would_lose_something_is_refused() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let root = worktree.path();

    // A repository inside the worktree: git would record only its commit id.
    write(&root.join("vendor/nested/file.txt"), "lost\n");
    git_in(&root.join("vendor/nested"), &["init", "--quiet"]);
    commit_with_git(&root.join("vendor/nested"), &[], "nested");
    let before = place.snapshot();
    let error = worktree.commit_all(&author(), "x").unwrap_err();
    assert_eq!(error, CommitError::NestedRepository { paths: vec![path("vendor/nested")] });
    assert_eq!(place.snapshot(), before);
    std::fs::remove_dir_all(root.join("vendor")).unwrap();

    // A repository in the place of a tracked file.
    std::fs::remove_file(root.join("README.md")).unwrap();
    write(&root.join("README.md/file.txt"), "lost\n");
    git_in(&root.join("README.md"), &["init", "--quiet"]);
    commit_with_git(&root.join("README.md"), &[], "nested");
    let error = worktree.commit_all(&author(), "x").unwrap_err();
    assert_eq!(error, CommitError::NestedRepository { paths: vec![path("README.md")] });
    std::fs::remove_dir_all(root.join("README.md")).unwrap();
    git_in(root, &["checkout", "--quiet", "README.md"]);

    // A merge that conflicts and is left unresolved.
    let theirs = commit_with_git(place.worktree("two").path(), &[("README.md", "theirs\n")], "theirs");
    commit_with_git(root, &[("README.md", "ours\n")], "ours");
    assert!(!run(root, &["merge", "--quiet", &theirs.to_string()]).status.success());
    let before = place.snapshot();
    let error = worktree.commit_all(&author(), "x").unwrap_err();
    assert_eq!(error, CommitError::Unmerged { paths: vec![path("README.md")] });
    assert_eq!(kinds(&worktree), [("README.md".to_owned(), ChangeKind::Conflicted)]);
    assert_eq!(place.snapshot(), before);

    // Resolved, but the merge is not finished: the commit would lose its second parent.
    git_in(root, &["add", "README.md"]);
    let error = worktree.commit_all(&author(), "x").unwrap_err();
    assert!(matches!(error, CommitError::OperationInProgress { .. }), "{error}");
}

#[test]
fn a_message_is_needed() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&worktree.path().join("new.txt"), "new\n");
    let before = place.snapshot();
    assert_eq!(worktree.commit_all(&author(), " \n"), Err(MessageError::Empty.into()));
    assert_eq!(worktree.commit_all(&author(), "a\0b"), Err(MessageError::Nul.into()));
    assert_eq!(place.snapshot(), before);
}

#[test]
fn hooks_and_identities_of_the_user_play_no_part() {
    let place = Place::new();
    let hook = place.project().join(".git/hooks/pre-commit");
    write(&hook, "#!/bin/sh\nexit 1\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.git(&["config", "user.name", "Somebody else"]);
    place.git(&["config", "commit.gpgSign", "true"]);
    let worktree = place.worktree("one");
    write(&worktree.path().join("new.txt"), "new\n");
    let commit = worktree.commit_all(&author(), "New").unwrap().unwrap();
    let shown = place.git(&["show", "--no-patch", "--format=%an <%ae> %cn %at", &commit.to_string()]);
    assert_eq!(shown, "Ada <ada@example.org> Ada 1700000000");
    let raw = place.git(&["cat-file", "commit", &commit.to_string()]);
    assert!(!raw.contains("gpgsig"), "{raw}");
}

/// A repository without worktrees has no files of this crate, whatever is done in it.
#[test]
fn nothing_of_ours_stays_where_there_is_no_worktree() {
    let place = Place::new();
    let user = place.user();
    let ours = place.project().join(".git/interlocking");
    assert!(!ours.exists(), "the first commit");
    write(&place.project().join("more.txt"), "more\n");
    let second = user.commit_all(&author(), "More").unwrap().unwrap();
    assert!(!ours.exists(), "a commit");
    let third = user.commit_empty(&author(), "Nothing more").unwrap();
    assert!(!ours.exists(), "an empty commit");
    place.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    place.repository.fast_forward(&branch("main"), third, second).unwrap();
    assert!(!ours.exists(), "a branch that moves");
    assert_eq!(user.commit_all(&author(), "Nothing").unwrap(), None);
    assert!(!ours.exists(), "nothing to commit");
    let worktree = place.worktree("one");
    write(&worktree.path().join("one.txt"), "one\n");
    worktree.commit_all(&author(), "One").unwrap();
    assert!(ours.exists(), "as long as there is a worktree");
    place.assert_git_agrees();
}

/// The proposed commit is what a squash would make, and no reference or file changes.
#[test]
fn a_proposed_commit_moves_nothing() {
    let place = Place::new();
    let base = place.main();
    for worktree in [
        place.worktree("one"),
        place.repository.create_clone(place.path().join("run/two"), &branch("two"), base).unwrap(),
    ] {
        assert_eq!(worktree.propose_since(base, &author(), "Nothing").unwrap(), None);
        commit_with_git(worktree.path(), &[("own.txt", "its agent's own\n")], "Own");
        write(&worktree.path().join("src/lib.rs"), "changed\n");
        write(&worktree.path().join("new.txt"), "new\n");
        let before = (git_in(worktree.path(), &["status", "--porcelain"]), worktree.head().unwrap(), place.snapshot());
        let proposed = worktree.propose_since(base, &author(), "All").unwrap().unwrap();
        let after = (git_in(worktree.path(), &["status", "--porcelain"]), worktree.head().unwrap(), place.snapshot());
        assert_eq!(before, after);
        if worktree.is_clone() {
            let commits = worktree.export_up_to(base, proposed).unwrap();
            let before = place.snapshot();
            assert_eq!(place.repository.import_objects(&commits).unwrap(), proposed);
            assert_eq!(place.git(&["show", &format!("{proposed}:new.txt")]), "new");
            assert_eq!(place.snapshot(), before);
        }
        assert_eq!(worktree.squash_since(base, &author(), "All").unwrap(), Some(proposed));
    }
}
