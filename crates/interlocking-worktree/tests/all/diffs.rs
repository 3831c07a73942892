use std::{io::Write as _, os::unix::fs::PermissionsExt as _, process::Stdio};

use interlocking_worktree::FileChangeKind;

use crate::judge::{Place, author, commit_with_git, git_in, path, write};

/// The changes in the format of `git diff --name-status`, for comparison.
fn name_status(changes: &[interlocking_worktree::FileChange]) -> Vec<String> {
    changes
        .iter()
        .map(|change| match &change.kind {
            FileChangeKind::Added => format!("A\t{}", change.path),
            FileChangeKind::Modified => format!("M\t{}", change.path),
            FileChangeKind::Deleted => format!("D\t{}", change.path),
            FileChangeKind::Renamed { from } => format!("R\t{from}\t{}", change.path),
        })
        .collect()
}

fn gits(place: &Place, from: &str, to: &str) -> Vec<String> {
    let text = place.git(&["diff", "--name-status", "--find-renames", from, to]);
    let mut lines: Vec<_> = text
        .lines()
        .map(|line| {
            let (kind, rest) = line.split_once('\t').unwrap();
            format!("{}\t{rest}", kind[..1].replace('T', "M"))
        })
        .collect();
    lines.sort_by_key(|line| line.rsplit('\t').next().unwrap().to_owned());
    lines
}

fn edit(root: &std::path::Path) {
    std::fs::rename(root.join("moved.txt"), root.join("elsewhere.txt")).unwrap();
    std::fs::remove_file(root.join("README.md")).unwrap();
    write(&root.join("src/lib.rs"), "one\n2\nthree\nfour\nfive\nsix");
    write(&root.join("new/deep.txt"), "new\n");
    write(&root.join("empty.txt"), "");
    write(&root.join("no-end.txt"), "a\nb\n");
    write(&root.join("binary"), b"\0\x01\x02");
    write(&root.join("na\"me ü.txt"), "odd name\n");
    std::fs::set_permissions(root.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_file(root.join("link")).unwrap();
    std::os::unix::fs::symlink("src/lib.rs", root.join("link")).unwrap();
}

fn start() -> Place {
    let lines: String = (0..30).map(|line| format!("line {line}\n")).collect();
    Place::with_files(&[
        ("README.md", "# Project\n"),
        ("src/lib.rs", "one\ntwo\nthree\nfour\nfive\n"),
        ("moved.txt", &lines),
        ("run.sh", "#!/bin/sh\n"),
        ("no-end.txt", "a\nb"),
        ("link", "a file\n"),
        (".gitignore", "*.log\n"),
    ])
}

#[test]
fn the_files_that_differ_are_gits() {
    let place = start();
    let from = place.main();
    let worktree = place.worktree("one");
    edit(worktree.path());
    let uncommitted = worktree.diff_since(from).unwrap();
    let to = worktree.commit_all(&author(), "edit").unwrap().unwrap();
    let committed = place.repository.diff(from, to).unwrap();
    place.git(&["config", "core.quotePath", "false"]);
    let expected: Vec<_> = gits(&place, &from.to_string(), &to.to_string())
        .into_iter()
        .map(|line| line.replace("\"na\\\"me ü.txt\"", "na\"me ü.txt"))
        .collect();
    let mut found = name_status(&committed);
    found.sort_by_key(|line| line.rsplit('\t').next().unwrap().to_owned());
    let mut expected = expected;
    expected.sort_by_key(|line| line.rsplit('\t').next().unwrap().to_owned());
    assert_eq!(found, expected);
    assert_eq!(uncommitted, committed, "an audit before the commit sees what a diff after it sees");
    assert_eq!(place.repository.diff(to, to).unwrap(), []);
}

/// The paths that an agent touched, with its own commits, staged, unstaged and untracked files.
#[test]
fn an_audit_sees_everything_since_a_commit_and_writes_nothing() {
    let place = start();
    let from = place.main();
    let worktree = place.worktree("impl-r1");
    let root = worktree.path();
    commit_with_git(root, &[("tests/stray.rs", "stray\n")], "stray");
    write(&root.join("tests/untracked.rs"), "untracked\n");
    write(&root.join("staged.rs"), "staged\n");
    git_in(root, &["add", "staged.rs"]);
    write(&root.join("build.log"), "ignored\n");
    std::fs::rename(root.join("moved.txt"), root.join("tests/moved.txt")).unwrap();
    let before = place.snapshot();
    let objects = place.git(&["count-objects", "-v"]);
    let changes = worktree.diff_since(from).unwrap();
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["count-objects", "-v"]), objects);
    let touched: Vec<_> = changes.iter().flat_map(|change| change.touched()).map(ToString::to_string).collect();
    assert_eq!(touched, ["staged.rs", "moved.txt", "tests/moved.txt", "tests/stray.rs", "tests/untracked.rs"]);
    let forbidden = changes.iter().filter(|change| change.touched().any(|at| at.is_in(&path("tests"))));
    assert_eq!(forbidden.count(), 3);
    // For read-only agents: nothing has changed since their head.
    assert_eq!(place.worktree("clean").diff_since(from).unwrap(), []);
}

/// Applying the patch with git gives the other tree.
#[test]
fn git_applies_the_patch() {
    let place = start();
    let from = place.main();
    let worktree = place.worktree("one");
    edit(worktree.path());
    std::fs::remove_file(worktree.path().join("binary")).unwrap();
    let before_commit = worktree.unified_diff_since(from).unwrap();
    let to = worktree.commit_all(&author(), "edit").unwrap().unwrap();
    for (from, to) in [(from, to), (to, from)] {
        let patch = place.repository.unified_diff(from, to).unwrap();
        let at = place.path().join(from.short());
        place.repository.create_detached_worktree(&at, from).unwrap();
        let mut apply = std::process::Command::new("git")
            .args(["apply", "--index", "--whitespace=nowarn", "-"])
            .current_dir(&at)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        apply.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
        assert!(apply.wait().unwrap().success(), "{patch}");
        assert_eq!(git_in(&at, &["write-tree"]), place.git(&["rev-parse", &format!("{to}^{{tree}}")]), "{patch}");
    }
    assert_eq!(before_commit, place.repository.unified_diff(from, to).unwrap());
}

#[test]
fn binary_files_are_named_and_not_shown() {
    let place = start();
    let from = place.main();
    let to = commit_with_git(place.worktree("one").path(), &[("data", "\0\u{1}secret")], "binary");
    let patch = place.repository.unified_diff(from, to).unwrap();
    assert!(patch.ends_with("Binary files /dev/null and b/data differ\n"), "{patch}");
    assert!(!patch.contains("secret"));
}
