//! Random edits, committed by this crate and by git.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use interlocking_worktree::CherryPickError;
use proptest::prelude::*;

use crate::{
    judge::{Place, author, git_in, write},
    sample,
};

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, u8),
    Delete(usize),
    Executable(usize, bool),
    Link(usize, usize),
    Stage(usize),
    Unstage(usize),
}

/// Names that clash: files in place of directories, ignored files, unusual names.
const PATHS: [&str; 12] = [
    "a",
    "a/b",
    "a/b/c",
    "a.txt",
    "a-b",
    "dir/x.rs",
    "dir/y.rs",
    "dir/sub/z.rs",
    "noise.log",
    "dir/noise.log",
    "out/binary",
    "ü b",
];

fn edit() -> impl Strategy<Value = Edit> {
    let path = 0..PATHS.len();
    prop_oneof![
        5 => (path.clone(), any::<u8>()).prop_map(|(path, contents)| Edit::Write(path, contents % 4)),
        3 => path.clone().prop_map(Edit::Delete),
        2 => (path.clone(), any::<bool>()).prop_map(|(path, set)| Edit::Executable(path, set)),
        2 => (path.clone(), path.clone()).prop_map(|(path, target)| Edit::Link(path, target)),
        1 => path.clone().prop_map(Edit::Stage),
        1 => path.prop_map(Edit::Unstage),
    ]
}

/// Makes room by force, so that every edit does something.
fn clear(root: &Path, path: &str) {
    let mut at = root.to_owned();
    let parts: Vec<_> = path.split('/').collect();
    for (position, part) in parts.iter().enumerate() {
        at.push(part);
        let Ok(metadata) = std::fs::symlink_metadata(&at) else { return };
        let is_last = position + 1 == parts.len();
        if metadata.is_dir() && is_last {
            std::fs::remove_dir_all(&at).unwrap();
        } else if !metadata.is_dir() {
            std::fs::remove_file(&at).unwrap();
            return;
        }
    }
}

fn apply(root: &Path, edit: &Edit) {
    match edit {
        Edit::Write(path, contents) => {
            clear(root, PATHS[*path]);
            write(&root.join(PATHS[*path]), [*contents; 3]);
        }
        Edit::Delete(path) => clear(root, PATHS[*path]),
        Edit::Executable(path, set) => {
            let file = root.join(PATHS[*path]);
            if std::fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file()) {
                let mode = if *set { 0o755 } else { 0o644 };
                std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        Edit::Link(path, target) => {
            clear(root, PATHS[*path]);
            let file = root.join(PATHS[*path]);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(PATHS[*target], file).unwrap();
        }
        // These may name no file, or an ignored one: then git refuses, in both worktrees.
        Edit::Stage(path) => drop(crate::judge::run(root, &["add", "--", PATHS[*path]])),
        Edit::Unstage(path) => drop(crate::judge::run(root, &["rm", "-r", "--quiet", "--cached", "--", PATHS[*path]])),
    }
}

/// Files as lists of lines; an edit gives some files another list, or none.
fn tree_edit() -> impl Strategy<Value = Vec<(usize, Option<Vec<u8>>)>> {
    let lines = proptest::option::weighted(0.85, proptest::collection::vec(0..3u8, 0..6));
    proptest::collection::vec((0..4usize, lines), 1..4)
}

const FILES: [&str; 4] = ["a.txt", "b.txt", "src/c.rs", "src/d.rs"];

/// Lines far enough apart to merge, and near enough to conflict. No two files are alike, so that none counts as
/// renamed.
fn contents(file: usize, lines: &[u8]) -> String {
    let mut text = String::new();
    for position in 0..6 {
        let line = lines.get(position).copied().unwrap_or(0);
        text += &format!("{file} {position} {line}\n{file} between {position}\n");
    }
    text
}

fn commit_edit(root: &Path, edit: &[(usize, Option<Vec<u8>>)], message: &str) {
    for (file, lines) in edit {
        let at = root.join(FILES[*file]);
        match lines {
            Some(lines) => write(&at, contents(*file, lines)),
            None => drop(std::fs::remove_file(at)),
        }
    }
    git_in(root, &["add", "--all"]);
    git_in(root, &["commit", "--quiet", "--allow-empty", "--message", message]);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32 / sample::one_in::<u32>(6),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_commit_has_gits_tree_and_index(
        first in proptest::collection::vec(edit(), 1..12),
        second in proptest::collection::vec(edit(), 1..12),
        third in proptest::collection::vec(edit(), 1..12),
    ) {
        let place = Place::with_files(&[(".gitignore", "*.log\nout/\n"), ("dir/x.rs", "x\n")]);
        let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
        let start = ours.head().unwrap();
        let at = place.path().join("run/cloned");
        let cloned = place.repository.create_clone(at, &crate::judge::branch("cloned"), start).unwrap();
        for edits in [first, second] {
            for edit in &edits {
                apply(ours.path(), edit);
                apply(gits.path(), edit);
                apply(cloned.path(), edit);
            }
            let before = ours.head().unwrap();
            let touched = ours.diff_since(before).unwrap();
            let commit = ours.commit_all(&author(), "edit").unwrap();
            git_in(gits.path(), &["add", "--all"]);
            let is_changed = !crate::judge::run(gits.path(), &["diff", "--cached", "--quiet"]).status.success();
            prop_assert_eq!(commit.is_some(), is_changed);
            prop_assert_eq!(!touched.is_empty(), is_changed);
            if is_changed {
                git_in(gits.path(), &["commit", "--quiet", "--message", "edit"]);
            }
            prop_assert_eq!(ours.head().unwrap().to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
            prop_assert_eq!(
                git_in(ours.path(), &["ls-files", "--stage"]),
                git_in(gits.path(), &["ls-files", "--stage"])
            );
            prop_assert_eq!(ours.status().unwrap(), []);
            prop_assert_eq!(cloned.commit_all(&author(), "edit").unwrap(), commit);
            prop_assert_eq!(git_in(cloned.path(), &["status", "--porcelain"]), "");
        }
        prop_assert_eq!(place.repository.fetch_from_clone(&cloned, start, None).unwrap(), ours.head().unwrap());
        place.assert_git_agrees();

        // Switch there and back, with untracked files in between.
        let tip = ours.head().unwrap();
        ours.reset_to(start).unwrap();
        place.assert_git_agrees();
        for edit in &third {
            apply(ours.path(), edit);
            apply(gits.path(), edit);
        }
        write(&ours.path().join("stray/file"), "stray\n");
        ours.reset_to(tip).unwrap();
        git_in(gits.path(), &["reset", "--quiet", "--hard"]);
        git_in(gits.path(), &["clean", "--quiet", "-x", "-d", "--force", "--force"]);
        place.assert_git_agrees();
        prop_assert_eq!(crate::on_disk::files_of(ours.path()), crate::on_disk::files_of(gits.path()));
        prop_assert_eq!(
            git_in(ours.path(), &["ls-files", "--stage"]),
            git_in(gits.path(), &["ls-files", "--stage"])
        );
    }

    #[test]
    fn a_pick_has_gits_verdict_and_commits(
        theirs in proptest::collection::vec(tree_edit(), 1..3),
        ours in tree_edit(),
    ) {
        let all: Vec<_> = (0..3).map(|file| (FILES[file], contents(file, &[]))).collect();
        let files: Vec<_> = all.iter().map(|(path, text)| (*path, text.as_str())).collect();
        let place = Place::with_files(&files);
        let base = place.main();
        let source = place.worktree("source");
        for (position, edit) in theirs.iter().enumerate() {
            commit_edit(source.path(), edit, &format!("theirs {position}"));
        }
        let tip = source.head().unwrap();
        let (target, gits) = (place.worktree("target"), place.worktree("gits"));
        for worktree in [&target, &gits] {
            commit_edit(worktree.path(), &ours, "ours");
        }
        let start = target.head().unwrap();
        let picked = target.cherry_pick(base..tip, &author());
        let range = format!("{base}..{tip}");
        let git = crate::judge::run(gits.path(), &["cherry-pick", "--allow-empty", "--empty=drop", &range]);
        match picked {
            Ok(_) => {
                prop_assert!(git.status.success(), "git: {}", crate::judge::text(&git.stderr));
                prop_assert_eq!(target.head().unwrap().to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
                place.assert_git_agrees();
            }
            Err(CherryPickError::Conflict { commit, conflicts }) => {
                prop_assert!(!git.status.success());
                let stopped = git_in(gits.path(), &["rev-parse", "CHERRY_PICK_HEAD"]);
                prop_assert_eq!(commit.to_string(), stopped);
                let unmerged = git_in(gits.path(), &["diff", "--name-only", "--diff-filter=U"]);
                let paths: Vec<_> = conflicts.iter().map(|conflict| conflict.path.to_string()).collect();
                prop_assert_eq!(paths.join("\n"), unmerged);
                prop_assert_eq!(target.head().unwrap(), start);
                prop_assert_eq!(target.status().unwrap(), []);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
