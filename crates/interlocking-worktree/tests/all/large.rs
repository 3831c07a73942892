//! Trees that are compared on several threads, and the tree that an index says it is of.

use std::{collections::BTreeMap, path::Path};

use interlocking_worktree::{ChangeKind, Worktree};

use crate::judge::{Place, author, branch, git_in, path, run as git, write};

/// A repository with more files than one thread compares, such that the middle of the index is inside a directory.
fn large() -> Place {
    let place = Place::empty();
    for file in 0..1_130 {
        write(&place.project().join(format!("part{}/module{}/file{file:04}.rs", file / 400, file / 40)), "fn f() {}\n");
    }
    write(&place.project().join(".gitignore"), "target/\n*.log\n");
    write(&place.project().join("part1/module14.rs"), "mod module14;\n");
    place.git(&["add", "--all"]);
    place.git(&["commit", "--quiet", "--message", "Begin"]);
    place
}

/// The status by path in git's letters, from this crate and from git.
fn both(worktree: &Worktree) -> [BTreeMap<String, String>; 2] {
    let ours = worktree.status().unwrap();
    let ours = ours.into_iter().map(|change| {
        let word = match change.kind {
            ChangeKind::Untracked => "??",
            ChangeKind::Deleted => "D",
            ChangeKind::Modified => "M",
            ChangeKind::TypeChanged => "T",
            ChangeKind::Added => "A",
            _ => "?",
        };
        (change.path.to_string(), word.to_owned())
    });
    let status = git_in(worktree.path(), &["status", "--porcelain", "--untracked-files=all", "--no-renames"]);
    // Git's output was trimmed, so the first line may lack its first column.
    let gits = status.lines().map(|line| {
        let (word, path) = line.trim_start().split_once(' ').unwrap();
        (path.trim().trim_end_matches('/').to_owned(), word.to_owned())
    });
    [ours.collect(), gits.collect()]
}

#[track_caller]
fn assert_agrees(worktree: &Worktree, expected: usize) {
    let [ours, gits] = both(worktree);
    assert_eq!(ours, gits);
    assert_eq!(ours.len(), expected);
}

#[test]
fn a_large_tree_is_looked_at_as_git_does() {
    let place = large();
    let worktree = place.worktree("large");
    let root = worktree.path();
    assert_agrees(&worktree, 0);

    // Ignored files, in directories of every depth and in both halves.
    for file in ["target/debug/program", "part0/x.log", "part1/target/a", "part2/module28/target/b"] {
        write(&root.join(file), "ignored\n");
    }
    assert_agrees(&worktree, 0);
    for file in ["new.rs", "part0/new.rs", "part1/module14/new.rs", "part1/module14x", "part2/new/deep/file.rs"] {
        write(&root.join(file), "new\n");
    }
    assert_agrees(&worktree, 5);

    let remove = |file: &str| std::fs::remove_file(root.join(file)).unwrap();
    write(&root.join("part0/module0/file0000.rs"), "changed\n");
    remove("part1/module14/file0567.rs");
    // A file in place of a directory, a directory in place of a file, and a link in place of a directory.
    std::fs::remove_dir_all(root.join("part2/module20")).unwrap();
    write(&root.join("part2/module20"), "a file\n");
    remove("part0/module1/file0040.rs");
    write(&root.join("part0/module1/file0040.rs/inside.rs"), "in a directory\n");
    std::fs::rename(root.join("part0/module2"), root.join("part0/moved")).unwrap();
    std::os::unix::fs::symlink("moved", root.join("part0/module2")).unwrap();
    let [ours, gits] = both(&worktree);
    assert_eq!(ours, gits);

    // More names than are looked up one by one.
    for file in 0..100 {
        write(&root.join(format!("part1/many{file}.rs")), "new\n");
    }
    let [ours, gits] = both(&worktree);
    assert_eq!(ours, gits);

    worktree.commit_all(&author(), "Everything").unwrap().unwrap();
    assert_agrees(&worktree, 0);
    assert_eq!(git_in(root, &["write-tree"]), git_in(root, &["rev-parse", "HEAD^{tree}"]));
    place.assert_git_agrees();
}

#[test]
fn a_repository_in_a_tracked_directory_is_found() {
    let place = large();
    let worktree = place.worktree("nested");
    git(worktree.path(), &["init", "--quiet", "part1/inner"]);
    write(&worktree.path().join("part1/inner/file"), "x\n");
    git(worktree.path(), &["init", "--quiet", "part0/module3"]);
    let found: Vec<_> = worktree.status().unwrap().iter().map(|change| change.path.to_string()).collect();
    assert!(found.iter().any(|path| path == "part1/inner"), "{found:?}");
    worktree.commit_all(&author(), "Everything").unwrap_err();
}

/// If something else is staged than was committed, the index must not say that it is of the commit's tree.
#[test]
fn an_index_says_which_tree_it_is_of_only_where_it_is() {
    let place = Place::with_files(&[("a.rs", "a\n"), ("b.rs", "b\n")]);
    for worktree in [place.worktree("task"), place.user()] {
        let root = worktree.path();
        let tree = |of: &str| git_in(root, &["rev-parse", of]);
        write(&root.join("a.rs"), "changed\n");
        write(&root.join("b.rs"), "staged\n");
        git_in(root, &["add", "b.rs"]);
        worktree.commit_paths(&[path("a.rs")], &author(), "One of two").unwrap().unwrap();
        assert_ne!(git_in(root, &["write-tree"]), tree("HEAD^{tree}"), "b.rs is still staged");
        assert_eq!(staged(root), "b.rs");
        assert_eq!(worktree.status().unwrap().len(), 1);
        worktree.commit_all(&author(), "The other").unwrap().unwrap();
        assert_eq!(git_in(root, &["write-tree"]), tree("HEAD^{tree}"));
        assert!(worktree.is_clean().unwrap());

        // What git changes in such an index is noticed.
        git_in(root, &["rm", "--quiet", "--cached", "a.rs"]);
        assert_eq!(staged(root), "a.rs");
        assert!(!worktree.is_clean().unwrap());
        git_in(root, &["reset", "--quiet"]);
        git_in(root, &["update-index", "--chmod=+x", "b.rs"]);
        assert!(!worktree.is_clean().unwrap());
        git_in(root, &["reset", "--quiet", "--hard", "HEAD~1"]);
        assert!(worktree.is_clean().unwrap());
        git_in(root, &["reset", "--quiet", "--soft", "HEAD~1"]);
        assert!(!worktree.is_clean().unwrap(), "HEAD has moved, the index has not");

        // An entry with "intent to add" is in the index, but in no tree.
        write(&root.join("later.rs"), "later\n");
        git_in(root, &["add", "--intent-to-add", "later.rs"]);
        worktree.commit_paths(&[path("a.rs")], &author(), "Without it").unwrap().unwrap();
        let left: Vec<_> = worktree.status().unwrap().iter().map(|change| change.path.to_string()).collect();
        assert_eq!(left, ["later.rs"]);
        worktree.commit_all(&author(), "With it").unwrap().unwrap();
        assert_eq!(git_in(root, &["write-tree"]), tree("HEAD^{tree}"));
    }
    let made = place.worktree_from("made", place.main());
    let staged_tree = git_in(made.path(), &["write-tree"]);
    assert_eq!(staged_tree, git_in(made.path(), &["rev-parse", "HEAD^{tree}"]));
    assert_eq!(made.branch(), Some(&branch("made")));
    place.assert_git_agrees();
}

fn staged(root: &Path) -> String {
    git_in(root, &["diff", "--cached", "--name-only"])
}
