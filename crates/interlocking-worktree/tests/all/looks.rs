//! Comparing a working tree: small ones are compared on one thread, large ones on several, and both must give the same
//! result.

use std::os::unix::fs::symlink;

use interlocking_worktree::{ChangeKind, CommitError, Worktree};

use crate::judge::{Place, author, commit_with_git, git_in, write};

/// More files than are compared on one thread.
const MANY: usize = 1_100;

fn kinds(worktree: &Worktree) -> Vec<(String, ChangeKind)> {
    let changes = worktree.status().unwrap();
    changes.into_iter().map(|change| (change.path.to_string(), change.kind)).collect()
}

/// A worktree with the files that the tests below change, and `others` more.
fn worktree(place: &Place, others: usize) -> Worktree {
    let project = place.project();
    for name in ["change.txt", "delete.txt", "becomes-link", "keep/keep.txt"] {
        write(&project.join(name), "text\n");
    }
    write(&project.join(".gitignore"), "*.log\n/target/\n");
    for number in 0..others {
        write(&project.join(format!("others/{}/{number}.txt", number % 7)), "text\n");
    }
    commit_with_git(&project, &[], "Files");
    place.worktree("agent")
}

#[test]
fn few_files_and_many_are_seen_alike() {
    for others in [0, MANY] {
        let place = Place::new();
        let worktree = worktree(&place, others);
        let at = |name: &str| worktree.path().join(name);
        assert_eq!(kinds(&worktree), []);
        // The same length as before, and within the resolution of the timestamps: only the contents differ.
        write(&at("change.txt"), "TEXT\n");
        std::fs::remove_file(at("delete.txt")).unwrap();
        std::fs::remove_file(at("becomes-link")).unwrap();
        symlink("keep", at("becomes-link")).unwrap();
        write(&at("new/a.txt"), "new\n");
        write(&at("new/a.log"), "ignored\n");
        write(&at("target/debug/build"), "ignored\n");
        write(&at("staged.txt"), "staged\n");
        git_in(worktree.path(), &["add", "staged.txt"]);
        let expected = [
            ("becomes-link", ChangeKind::TypeChanged),
            ("change.txt", ChangeKind::Modified),
            ("delete.txt", ChangeKind::Deleted),
            ("new/a.txt", ChangeKind::Untracked),
            ("staged.txt", ChangeKind::Added),
        ];
        assert_eq!(kinds(&worktree), expected.map(|(path, kind)| (path.to_owned(), kind)), "{others} others");

        git_in(worktree.path(), &["init", "--quiet", "nested"]);
        let refused = worktree.commit_all(&author(), "All").unwrap_err();
        assert!(matches!(refused, CommitError::NestedRepository { .. }), "{refused}");
        std::fs::remove_dir_all(at("nested")).unwrap();
        worktree.commit_all(&author(), "All").unwrap().unwrap();
        place.assert_git_agrees();
    }
}

#[test]
fn what_a_user_hides_from_their_status_is_not_hidden_from_us() {
    for others in [0, MANY] {
        let place = Place::new();
        place.git(&["config", "status.showUntrackedFiles", "no"]);
        // Opened again, because the configuration is read then.
        let worktree = worktree(&place, others);
        let again = interlocking_worktree::Repository::open(place.project()).unwrap();
        let worktree = again.open_worktree(worktree.path()).unwrap();
        write(&worktree.path().join("new.txt"), "new\n");
        assert_eq!(kinds(&worktree), [("new.txt".to_owned(), ChangeKind::Untracked)], "{others} others");
    }
}

/// The index is not changed, so anything that a commit must not lose has to be found in it.
#[test]
fn an_empty_commit_leaves_the_index_as_it_was_and_refuses_an_unfinished_merge() {
    let place = Place::new();
    let worktree = worktree(&place, 0);
    write(&worktree.path().join("staged.txt"), "staged\n");
    git_in(worktree.path(), &["add", "staged.txt"]);
    let before = git_in(worktree.path(), &["status", "--porcelain=v2"]);
    worktree.commit_empty(&author(), "A word").unwrap();
    let after = git_in(worktree.path(), &["status", "--porcelain=v2"]);
    assert_eq!(before, after);
    assert_eq!(git_in(worktree.path(), &["diff", "--stat", "HEAD~", "HEAD"]), "");

    let theirs = place.worktree("theirs");
    for (place, text) in [(&worktree, "ours\n"), (&theirs, "theirs\n")] {
        write(&place.path().join("change.txt"), text);
        place.commit_all(&author(), "Side").unwrap().unwrap();
    }
    crate::judge::run(worktree.path(), &["merge", "theirs"]);
    let head = worktree.head().unwrap();
    let refused = worktree.commit_empty(&author(), "A word").unwrap_err();
    assert!(matches!(&refused, CommitError::Unmerged { paths } if paths.len() == 1), "{refused}");
    assert_eq!(worktree.head().unwrap(), head);
    place.assert_sound();
}
