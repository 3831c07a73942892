//! What an agent can do to its worktree, on purpose or not.

use std::os::unix::fs::symlink;

use interlocking_worktree::{ChangeKind, CommitError, Force, RemoveError, ResetError, SwitchError, WorktreeError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, write};

#[test]
fn an_agent_that_left_its_branch_is_found_out() {
    let place = Place::new();
    let worktree = place.worktree("one");
    git_in(worktree.path(), &["switch", "--quiet", "--create", "mine"]);
    write(&worktree.path().join("new.txt"), "new\n");
    let before = place.snapshot();
    let expected = WorktreeError::HeadElsewhere {
        path: worktree.path().to_owned(),
        expected: Some(branch("one")),
        found: "the branch mine".to_owned(),
    };
    assert_eq!(worktree.status(), Err(expected.clone()));
    assert_eq!(worktree.commit_all(&author(), "x"), Err(CommitError::Worktree(expected.clone())));
    assert_eq!(worktree.reset_to(place.main()), Err(ResetError::Switch(SwitchError::Worktree(expected))));
    assert_eq!(place.snapshot(), before);

    git_in(worktree.path(), &["switch", "--quiet", "--detach"]);
    assert!(matches!(worktree.head(), Err(WorktreeError::HeadElsewhere { .. })));
}

#[test]
fn a_rewritten_link_leads_nowhere() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let other = Place::new();
    let link = worktree.path().join(".git");
    let genuine = std::fs::read(&link).unwrap();
    let before = other.snapshot();

    let other_git = other.project().join(".git");
    for (forged, is_file) in
        [(format!("gitdir: {}\n", other_git.display()), true), (String::new(), true), (String::new(), false)]
    {
        std::fs::remove_file(&link).unwrap();
        if is_file {
            std::fs::write(&link, &forged).unwrap();
        } else {
            symlink(&other_git, &link).unwrap();
        }
        let error = worktree.commit_all(&author(), "x").unwrap_err();
        assert!(matches!(error, CommitError::Worktree(WorktreeError::Diverted { .. })), "{error}");
        let error = place.repository.remove_worktree(&worktree, Force::EvenIfLocked).unwrap_err();
        assert!(matches!(error, RemoveError::Worktree(WorktreeError::Diverted { .. })), "{error}");
    }
    assert_eq!(other.snapshot(), before);
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, genuine).unwrap();
    assert!(worktree.is_clean().unwrap());
}

/// The temporary file of a rename is created anew: an agent can have put a link there.
#[test]
fn repairs_do_not_write_through_a_link() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let victim = place.path().join("victim");
    write(&victim, "victim\n");
    let link = worktree.path().join(".git");
    std::fs::remove_file(&link).unwrap();
    symlink(&victim, worktree.path().join(".git.interlocking-new")).unwrap();
    assert_eq!(place.repository.repair_worktrees().unwrap().len(), 1);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "victim\n");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_file());
    assert!(worktree.is_clean().unwrap());
}

/// A tracked directory is replaced with a link to a directory outside: nothing is read, written or deleted through it.
#[test]
fn a_link_out_of_the_worktree_is_not_followed() {
    let place = Place::with_files(&[("data/keep.txt", "tracked\n"), ("data/more.txt", "tracked\n"), ("a.txt", "a\n")]);
    let base = place.main();
    let worktree = place.worktree("one");
    let later = commit_with_git(
        place.worktree("two").path(),
        &[("data/keep.txt", "later\n"), ("data/new.txt", "new\n")],
        "later",
    );
    let outside = place.path().join("outside");
    let secret = |name: &str| std::fs::read_to_string(outside.join(name)).unwrap();
    write(&outside.join("keep.txt"), "outside\n");
    write(&outside.join("more.txt"), "outside\n");

    let replace = || {
        std::fs::remove_dir_all(worktree.path().join("data")).unwrap();
        symlink(&outside, worktree.path().join("data")).unwrap();
    };
    replace();
    // It is committed as a link, not as the files of its target.
    let commit = worktree.commit_all(&author(), "link").unwrap().unwrap();
    assert_eq!(place.git(&["ls-tree", "-r", "--name-only", &commit.to_string()]), "a.txt\ndata");
    place.assert_sound();

    worktree.reset_to(base).unwrap();
    assert_eq!(std::fs::read_to_string(worktree.path().join("data/keep.txt")).unwrap(), "tracked\n");
    replace();
    worktree.reset_to(later).unwrap();
    assert_eq!(std::fs::read_to_string(worktree.path().join("data/keep.txt")).unwrap(), "later\n");
    assert!(worktree.is_clean().unwrap());
    replace();
    place.repository.remove_worktree(&worktree, Force::DiscardChanges).unwrap().delete().unwrap();

    assert_eq!((secret("keep.txt"), secret("more.txt")), ("outside\n".to_owned(), "outside\n".to_owned()));
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 2);
    place.assert_git_agrees();
}

/// If the link itself is ignored, only the check keeps a deletion from going through it.
#[test]
fn nothing_is_deleted_through_an_ignored_link() {
    let place = Place::with_files(&[("data/keep.txt", "tracked\n"), ("data/more.txt", "tracked\n")]);
    let worktree = place.worktree("one");
    let two = place.worktree("two");
    git_in(two.path(), &["rm", "--quiet", "data/more.txt"]);
    let later = commit_with_git(two.path(), &[("a.txt", "a\n")], "later");
    write(&place.project().join(".git/info/exclude"), "data\n");
    let outside = place.path().join("outside");
    write(&outside.join("more.txt"), "outside\n");
    write(&outside.join("keep.txt"), "outside\n");
    std::fs::remove_dir_all(worktree.path().join("data")).unwrap();
    symlink(&outside, worktree.path().join("data")).unwrap();
    worktree.reset_to(later).unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("more.txt")).unwrap(), "outside\n");
    assert_eq!(std::fs::read_to_string(outside.join("keep.txt")).unwrap(), "outside\n");
    assert_eq!(std::fs::read_to_string(worktree.path().join("data/keep.txt")).unwrap(), "tracked\n");
    assert!(!worktree.path().join("data/more.txt").exists());
    place.assert_git_agrees();
}

/// Found by a random edit: the system refuses to follow such a link at all.
#[test]
fn a_link_to_itself_in_a_directorys_place() {
    let place = Place::with_files(&[("data/keep.txt", "tracked\n"), ("a.txt", "a\n")]);
    let worktree = place.worktree("one");
    std::fs::remove_dir_all(worktree.path().join("data")).unwrap();
    symlink("data", worktree.path().join("data")).unwrap();
    let commit = worktree.commit_all(&author(), "loop").unwrap().unwrap();
    assert_eq!(place.git(&["ls-tree", "-r", "--name-only", &commit.to_string()]), "a.txt\ndata");
    place.assert_git_agrees();
    worktree.reset_to(place.main()).unwrap();
    place.assert_git_agrees();
}

/// Flags in the index that tell git not to compare a file, also with the setting under which git sets them itself. With
/// it, git too compares a file that is there.
#[test]
fn a_change_cannot_be_hidden_in_the_index() {
    for (is_clone, is_sparse) in [(false, false), (false, true), (true, false), (true, true)] {
        let place = Place::new();
        let worktree = if is_clone {
            place.repository.create_clone(place.path().join("run/one"), &branch("one"), place.main()).unwrap()
        } else {
            place.worktree("one")
        };
        let root = worktree.path();
        if is_sparse {
            git_in(root, &["config", "core.sparseCheckout", "true"]);
        }
        write(&root.join("README.md"), "hidden\n");
        write(&root.join("src/lib.rs"), "hidden too\n");
        git_in(root, &["update-index", "--assume-unchanged", "README.md"]);
        git_in(root, &["update-index", "--skip-worktree", "src/lib.rs"]);
        let seen_by_git = if is_sparse { " M src/lib.rs" } else { "" };
        assert_eq!(git_in(root, &["status", "--porcelain"]), seen_by_git);
        git_in(root, &["update-index", "--skip-worktree", "src/lib.rs"]);

        let changes = worktree.status().unwrap();
        let found: Vec<_> = changes.iter().map(|change| (change.path.to_string(), change.kind)).collect();
        let expected = ["README.md", "src/lib.rs"].map(|path| (path.to_owned(), ChangeKind::Modified));
        assert_eq!(found, expected, "{is_clone} {is_sparse}");
        assert_eq!(worktree.diff_since(place.main()).unwrap().len(), 2);
        let is_kept = if is_clone {
            !worktree.is_clean().unwrap()
        } else {
            matches!(place.repository.remove_worktree(&worktree, Force::No), Err(RemoveError::Dirty { .. }))
        };
        assert!(is_kept, "{is_clone} {is_sparse}");
        worktree.commit_all(&author(), "found").unwrap().unwrap();
        assert_eq!(git_in(root, &["show", "HEAD:README.md"]), "hidden");
        assert_eq!(git_in(root, &["show", "HEAD:src/lib.rs"]), "hidden too");
        assert_eq!(git_in(root, &["status", "--porcelain"]), "");
        place.assert_git_agrees();
    }
}

/// In a sparse checkout a file may be absent, but nothing else may be in its directory's place.
#[test]
fn what_an_ignored_link_replaces_cannot_be_hidden_in_the_index() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let root = worktree.path();
    git_in(root, &["config", "core.sparseCheckout", "true"]);
    write(&place.project().join(".git/info/exclude"), "src\n");
    git_in(root, &["update-index", "--skip-worktree", "src/lib.rs"]);
    std::fs::rename(root.join("src"), place.path().join("src")).unwrap();
    assert_eq!(worktree.status().unwrap(), [], "it is outside the sparse checkout");
    // Nor can a file be whose path the file system does not allow.
    let (long, blob) = (format!("{}/file", "a".repeat(1_000)), git_in(root, &["rev-parse", "HEAD:README.md"]));
    git_in(root, &["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{long}")]);
    git_in(root, &["update-index", "--skip-worktree", &long]);
    assert_eq!(worktree.status().unwrap().len(), 1, "it is staged");
    git_in(root, &["update-index", "--force-remove", &long]);
    symlink(place.path().join("src"), root.join("src")).unwrap();
    assert_eq!(git_in(root, &["status", "--porcelain"]), " D src/lib.rs");
    git_in(root, &["update-index", "--skip-worktree", "src/lib.rs"]);
    let changes = worktree.status().unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0].path, changes[0].kind), (&path("src/lib.rs"), ChangeKind::Deleted));
}

#[test]
fn another_process_that_holds_the_index_is_named() {
    let place = Place::new();
    let worktree = place.worktree("one");
    write(&worktree.path().join("new.txt"), "new\n");
    let lock = place.project().join(".git/worktrees/one/index.lock");
    write(&lock, "");
    let before = place.snapshot();
    let error = worktree.commit_all(&author(), "x").unwrap_err();
    match &error {
        CommitError::Worktree(WorktreeError::IndexBusy { lock: named, waited }) => {
            assert!(named.ends_with("worktrees/one/index.lock"));
            assert!(error.to_string().contains(&format!("still was after {:.1} s: wait for it", waited.as_secs_f32())));
        }
        other => panic!("{other}"),
    }
    assert_eq!(place.snapshot(), before);
    std::fs::remove_file(&lock).unwrap();
    worktree.commit_all(&author(), "x").unwrap().unwrap();
}

#[test]
fn a_worktree_that_is_gone_is_said_to_be() {
    let place = Place::new();
    let worktree = place.worktree("one");
    std::fs::remove_dir_all(worktree.path()).unwrap();
    let gone = WorktreeError::Gone { path: worktree.path().to_owned() };
    assert_eq!(worktree.status(), Err(gone.clone()));
    place.git(&["worktree", "prune"]);
    assert_eq!(worktree.head(), Err(gone));
}

#[test]
fn things_git_cannot_track_are_left_alone() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let socket = std::os::unix::net::UnixListener::bind(worktree.path().join("socket")).unwrap();
    assert_eq!(worktree.status().unwrap(), []);
    write(&worktree.path().join("new.txt"), "new\n");
    let commit = worktree.commit_all(&author(), "new").unwrap().unwrap();
    assert_eq!(place.repository.files(commit).unwrap(), [path("README.md"), path("new.txt"), path("src/lib.rs")]);
    drop(socket);
    place.assert_git_agrees();
}
