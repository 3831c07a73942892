//! Attribute and ignore files that an agent writes.

use super::*;

/// As in git, and unlike in gix, where a pattern for directories matches the root too.
#[test]
fn a_pattern_for_directories_does_not_hide_what_is_at_the_top() {
    for pattern in ["/**/", "*/", "**/"] {
        let place = project();
        write(&place.project().join(".git/info/exclude"), format!("{pattern}\n"));
        let worktree = place.worktree("one");
        write(&worktree.path().join("new.rs"), "new\n");
        write(&worktree.path().join("hidden/new.rs"), "new\n");
        let gits = git_in(worktree.path(), &["status", "--porcelain", "--untracked-files=all"]);
        assert_eq!(gits, "?? new.rs");
        assert_eq!(kinds(&worktree.status().unwrap()), [("new.rs".to_owned(), ChangeKind::Untracked)]);
    }
}

/// Git checks whether line endings survive when a file is added, not when it is compared.
#[test]
fn line_ends_that_would_not_survive_do_not_hinder_a_look() {
    let place = Place::with_files(&[("a.txt", "1\n22\n"), (".gitattributes", "*.txt text\n")]);
    place.git(&["config", "core.safecrlf", "true"]);
    let worktree = place.worktree("one");
    // The same length as before.
    write(&worktree.path().join("a.txt"), "1\r\n2\n");
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), " M a.txt");
    assert_eq!(kinds(&worktree.status().unwrap()), [("a.txt".to_owned(), ChangeKind::Modified)]);
    worktree.reset_to(place.main()).unwrap();
    place.assert_git_agrees();
}

#[test]
fn an_executable_attributes_file_counts() {
    let place = Place::with_files(&[("a.txt", "a\n"), (".gitattributes", "*.txt eol=crlf\n")]);
    place.git(&["update-index", "--chmod=+x", ".gitattributes"]);
    place.git(&["commit", "--quiet", "--message", "executable"]);
    place.git(&["reset", "--quiet", "--hard"]);
    let worktree = place.worktree("one");
    assert_eq!(std::fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "a\r\n");
    assert_eq!(git_in(worktree.path(), &["status", "--porcelain"]), "");
    // Written again.
    std::fs::remove_file(worktree.path().join("a.txt")).unwrap();
    worktree.reset_to(place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(worktree.path().join("a.txt")).unwrap(), "a\r\n");
    place.assert_git_agrees();
    let clone = place.repository.create_clone(place.path().join("run/clone"), &branch("clone"), place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(clone.path().join("a.txt")).unwrap(), "a\r\n");
    assert_eq!(clone.status().unwrap(), []);
}

/// Git writes files by the attributes of the new commit, and if that has none, by those in the working tree.
#[test]
fn an_untracked_attributes_file_counts_when_files_are_written() {
    let place = project();
    let to = commit_with_git(place.worktree("one").path(), &[("docs/a.txt", "1\n")], "new");
    write(&place.project().join("docs/.gitattributes"), "*.txt eol=crlf\n");
    place.repository.fast_forward(&branch("main"), to, place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(place.project().join("docs/a.txt")).unwrap(), "1\r\n");
    assert_eq!(place.git(&["status", "--porcelain", "--untracked-files=all"]), "?? docs/.gitattributes");
}
