//! The differences from git that the crate's documentation lists, so that the list stays true when gix changes.

use interlocking_worktree::{CommitId, FileChangeKind, MergeError};

use crate::judge::{Place, author, commit_with_git, git_in, run, text, write};

fn lines(name: &str) -> String {
    (0..20).map(|line| format!("{name} {line}\n")).collect()
}

/// One side moves all of `old/` to `new/`, and the other adds a file to `old/`. Some files exist before.
fn moved_and_added(before: &[(&str, &str)]) -> (Place, CommitId, CommitId) {
    let (a, b) = (lines("a"), lines("b"));
    let place = Place::with_files(&[&[("old/a.txt", a.as_str()), ("old/b.txt", b.as_str())], before].concat());
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    std::fs::create_dir_all(one.path().join("new")).unwrap();
    git_in(one.path(), &["mv", "old/a.txt", "old/b.txt", "new"]);
    let ours = commit_with_git(one.path(), &[], "moved");
    let theirs = commit_with_git(two.path(), &[("old/added.txt", "added\n")], "added");
    (place, ours, theirs)
}

fn files(place: &Place, tree: &str) -> String {
    place.git(&["ls-tree", "-r", "--name-only", tree])
}

fn gits(place: &Place, setting: &str, ours: CommitId, theirs: CommitId) -> (bool, String) {
    let setting = format!("merge.directoryRenames={setting}");
    let arguments =
        ["-c", &setting, "merge-tree", "--write-tree", "--no-messages", &ours.to_string(), &theirs.to_string()];
    let output = run(&place.project(), &arguments);
    (output.status.success(), text(&output.stdout).lines().next().unwrap().to_owned())
}

#[test]
fn a_new_file_follows_its_directory_to_a_new_place() {
    let (place, ours, theirs) = moved_and_added(&[]);
    let merged = place.repository.squash_onto(ours, theirs, &author(), "m").unwrap().unwrap();
    assert_eq!(files(&place, &merged.to_string()), "new/a.txt\nnew/added.txt\nnew/b.txt");
    assert_eq!(gits(&place, "true", ours, theirs), (true, place.git(&["rev-parse", &format!("{merged}^{{tree}}")])));
    let (is_clean, _) = gits(&place, "conflict", ours, theirs);
    assert!(!is_clean, "git asks, unless it is set otherwise");
}

#[test]
fn a_new_file_stays_where_the_new_place_was_there_before() {
    let (place, ours, theirs) = moved_and_added(&[("new/c.txt", "c\n")]);
    let merged = place.repository.squash_onto(ours, theirs, &author(), "m").unwrap().unwrap();
    assert_eq!(files(&place, &merged.to_string()), "new/a.txt\nnew/b.txt\nnew/c.txt\nold/added.txt");
    assert_eq!(gits(&place, "false", ours, theirs), (true, place.git(&["rev-parse", &format!("{merged}^{{tree}}")])));
    let (is_clean, tree) = gits(&place, "true", ours, theirs);
    assert!(is_clean);
    assert_eq!(files(&place, &tree), "new/a.txt\nnew/added.txt\nnew/b.txt\nnew/c.txt");
}

#[test]
fn a_binary_file_that_was_renamed_and_changed_is_another_file() {
    let data: String = (0..200).map(|byte| format!("\0{byte}")).collect();
    let place = Place::with_files(&[("data", &data)]);
    let from = place.main();
    let worktree = place.worktree("one");
    git_in(worktree.path(), &["mv", "data", "moved"]);
    let to = commit_with_git(worktree.path(), &[("moved", &format!("{data}\0more"))], "moved");
    let kinds: Vec<_> = place.repository.diff(from, to).unwrap().into_iter().map(|change| change.kind).collect();
    assert_eq!(kinds, [FileChangeKind::Deleted, FileChangeKind::Added]);
    let status = place.git(&["diff", "--name-status", "--find-renames", &from.to_string(), &to.to_string()]);
    assert!(status.starts_with('R'), "{status}");
}

/// A conflict where git finds none, which is the safe error.
#[test]
fn an_empty_file_in_a_new_directory_may_count_as_renamed() {
    let place = Place::with_files(&[("old/empty", ""), ("other.txt", "other\n")]);
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    git_in(one.path(), &["rm", "--quiet", "old/empty"]);
    let ours = commit_with_git(one.path(), &[], "gone");
    git_in(two.path(), &["rm", "--quiet", "old/empty"]);
    write(&two.path().join("new/empty"), "");
    let theirs = commit_with_git(two.path(), &[], "another");
    let error = place.repository.squash_onto(ours, theirs, &author(), "m").unwrap_err();
    assert!(matches!(error, MergeError::Conflict { .. }), "{error}");
    assert!(gits(&place, "true", ours, theirs).0);
}

/// The setting has no effect, as with git 2.47: how renames are shown does not affect merges.
#[test]
fn renames_are_followed_whatever_the_configuration_says() {
    let text = lines("a");
    for setting in ["diff.renames", "merge.renames"] {
        let place = Place::with_files(&[("a.txt", &text)]);
        let (one, two) = (place.worktree("one"), place.worktree("two"));
        git_in(one.path(), &["mv", "a.txt", "b.txt"]);
        let ours = commit_with_git(one.path(), &[], "moved");
        let theirs = commit_with_git(two.path(), &[("a.txt", &text.replace("a 7", "seven"))], "changed");
        place.git(&["config", setting, "false"]);
        let merged = place.repository.squash_onto(ours, theirs, &author(), "m").unwrap().unwrap();
        let tree = place.git(&["rev-parse", &format!("{merged}^{{tree}}")]);
        assert_eq!(files(&place, &tree), "b.txt");
        assert_eq!(gits(&place, "false", ours, theirs), (true, tree), "{setting}");
    }
}

/// In a merge, git never treats an empty file as renamed, and finds a conflict. Here it is a conflict if the file's
/// directory stays.
#[test]
fn an_empty_file_that_was_moved_here_and_filled_there() {
    for (to, is_conflict) in [("old/moved", true), ("new/empty", false), ("new/moved", false)] {
        let place = Place::with_files(&[("old/empty", ""), ("other.txt", "other\n")]);
        let (one, two) = (place.worktree("one"), place.worktree("two"));
        std::fs::create_dir_all(one.path().join("new")).unwrap();
        git_in(one.path(), &["mv", "old/empty", to]);
        let ours = commit_with_git(one.path(), &[], "moved");
        let theirs = commit_with_git(two.path(), &[("old/empty", "filled\n")], "filled");
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            assert!(!gits(&place, "false", ours, theirs).0);
            let merged = place.repository.squash_onto(ours, theirs, &author(), "m");
            let found = matches!(merged, Err(MergeError::Conflict { .. }));
            assert_eq!(found, is_conflict, "{to}: {merged:?}");
            if let Ok(Some(merged)) = merged {
                // The contents that were written are not lost.
                assert_eq!(place.git(&["show", &format!("{merged}:{to}")]), "filled");
            }
        }
    }
}
