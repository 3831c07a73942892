use interlocking_worktree::{FastForwardError, SwitchError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, write};

/// Advances a branch in a worktree by a change, a new file, a deletion and a move into a directory.
fn advanced(place: &Place) -> interlocking_worktree::CommitId {
    let worktree = place.worktree("feature");
    std::fs::remove_file(worktree.path().join("README.md")).unwrap();
    commit_with_git(worktree.path(), &[("src/lib.rs", "new\n"), ("docs/new.md", "new\n")], "feature")
}

#[test]
fn the_branch_and_the_tree_that_is_on_it_advance() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    write(&place.project().join("notes.txt"), "the user's own\n");
    place.repository.fast_forward(&branch("main"), to, from).unwrap();
    assert_eq!(place.main(), to);
    assert_eq!(place.git(&["status", "--porcelain"]), "?? notes.txt");
    assert!(place.project().join("docs/new.md").exists() && !place.project().join("README.md").exists());
    std::fs::remove_file(place.project().join("notes.txt")).unwrap();
    place.assert_git_agrees();
    let reflog = place.git(&["reflog", "--format=%gs", "-1"]);
    assert_eq!(reflog, format!("merge {to}: Fast-forward"));
    // Doing it again changes nothing.
    place.repository.fast_forward(&branch("main"), to, to).unwrap();
}

#[test]
fn a_branch_that_is_checked_out_nowhere_advances() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    place.git(&["branch", "release"]);
    let files = place.git(&["ls-files", "--stage"]);
    place.repository.fast_forward(&branch("release"), to, from).unwrap();
    assert_eq!(place.git(&["rev-parse", "release"]), to.to_string());
    assert_eq!(place.git(&["ls-files", "--stage"]), files);
    place.assert_git_agrees();
}

#[test]
fn a_branch_that_is_checked_out_in_a_linked_worktree_advances_there() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    let release = place.worktree_from("release", from);
    place.repository.fast_forward(&branch("release"), to, from).unwrap();
    assert_eq!(release.head().unwrap(), to);
    assert!(release.path().join("docs/new.md").exists());
    place.assert_git_agrees();
}

#[test]
fn a_branch_that_moved_is_left_alone() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    let found = commit_with_git(&place.project(), &[("users.txt", "work\n")], "meanwhile");
    let before = place.snapshot();
    let error = place.repository.fast_forward(&branch("main"), to, from).unwrap_err();
    assert_eq!(error, FastForwardError::Moved { branch: branch("main"), expected: from, found: Some(found) });
    let error = place.repository.fast_forward(&branch("none"), to, from).unwrap_err();
    assert_eq!(error, FastForwardError::Moved { branch: branch("none"), expected: from, found: None });
    let error = place.repository.fast_forward(&branch("main"), to, found).unwrap_err();
    assert_eq!(error, FastForwardError::NotFastForward { branch: branch("main"), from: found, to });
    assert_eq!(place.snapshot(), before);
}

#[test]
fn a_dirty_tree_is_left_alone() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    let attempt = |what: &str| {
        let before = place.snapshot();
        let error = place.repository.fast_forward(&branch("main"), to, from).unwrap_err();
        assert_eq!(place.snapshot(), before, "{what}");
        match error {
            FastForwardError::CheckedOut { problem, .. } => problem,
            other => panic!("{what}: {other}"),
        }
    };
    let is_dirty = |problem: &SwitchError, at: &str| match problem {
        SwitchError::Dirty { changes, .. } => changes.len() == 1 && changes[0].path == at,
        _ => false,
    };

    write(&place.project().join("src/lib.rs"), "uncommitted\n");
    assert!(is_dirty(&attempt("a changed file"), "src/lib.rs"));
    place.git(&["add", "--all"]);
    assert!(is_dirty(&attempt("a staged change"), "src/lib.rs"));
    place.git(&["reset", "--quiet", "--hard"]);
    std::fs::remove_file(place.project().join("README.md")).unwrap();
    assert!(is_dirty(&attempt("a deleted file"), "README.md"));
    place.git(&["reset", "--quiet", "--hard"]);

    let in_the_way = |problem: SwitchError| match problem {
        SwitchError::InTheWay { paths, .. } => paths,
        other => panic!("{other}"),
    };
    write(&place.project().join("docs/new.md"), "the user's own\n");
    assert_eq!(in_the_way(attempt("an untracked file")), [path("docs/new.md")]);
    write(&place.project().join(".git/info/exclude"), "docs/\n");
    assert_eq!(in_the_way(attempt("an ignored file")), [path("docs/new.md")]);
    std::fs::remove_dir_all(place.project().join("docs")).unwrap();
    write(&place.project().join("docs"), "a file where a directory must be\n");
    assert_eq!(in_the_way(attempt("a file")), [path("docs")]);
    std::fs::remove_file(place.project().join("docs")).unwrap();
    write(&place.project().join("docs/new.md/deep/file"), "a directory where a file must be\n");
    assert_eq!(in_the_way(attempt("a directory")), [path("docs/new.md/deep/file")]);
    std::fs::remove_dir_all(place.project().join("docs")).unwrap();
    // An empty directory may be deleted.
    std::fs::create_dir_all(place.project().join("docs")).unwrap();
    place.repository.fast_forward(&branch("main"), to, from).unwrap();
    place.assert_git_agrees();
}

#[test]
fn a_branch_that_two_worktrees_are_on_is_left_alone() {
    let place = Place::new();
    let (from, to) = (place.main(), advanced(&place));
    git_in(&place.project(), &["worktree", "add", "--quiet", "--force", "../second", "main"]);
    let before = place.snapshot();
    let error = place.repository.fast_forward(&branch("main"), to, from).unwrap_err();
    assert!(matches!(&error, FastForwardError::CheckedOutTwice { places, .. } if places.len() == 2), "{error}");
    assert_eq!(place.snapshot(), before);
}

/// A file becomes a directory, a directory becomes a file, and a script loses its executable bit.
#[test]
fn shapes_change_on_the_way() {
    let place = Place::with_files(&[("file", "f\n"), ("directory/a/b.txt", "b\n"), ("run.sh", "#!/bin/sh\n")]);
    place.git(&["update-index", "--chmod=+x", "run.sh"]);
    place.git(&["commit", "--quiet", "--message", "bit"]);
    place.git(&["reset", "--quiet", "--hard"]);
    let from = place.main();
    let worktree = place.worktree("feature");
    let root = worktree.path();
    std::fs::remove_file(root.join("file")).unwrap();
    std::fs::remove_dir_all(root.join("directory")).unwrap();
    write(&root.join("file/inside.txt"), "x\n");
    std::os::unix::fs::symlink("file/inside.txt", root.join("directory")).unwrap();
    std::fs::remove_file(root.join("run.sh")).unwrap();
    write(&root.join("run.sh"), "#!/bin/sh\n");
    let to = worktree.commit_all(&author(), "shapes").unwrap().unwrap();
    place.repository.fast_forward(&branch("main"), to, from).unwrap();
    place.assert_git_agrees();
    // And back again, in the worktree.
    worktree.reset_to(from).unwrap();
    place.assert_git_agrees();
    assert_eq!(std::fs::read_to_string(root.join("directory/a/b.txt")).unwrap(), "b\n");
}
