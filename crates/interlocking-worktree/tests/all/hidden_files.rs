//! Files that the user has told git not to look at, and files outside a sparse checkout.

use interlocking_worktree::{CherryPickError, CommitId, FastForwardError, SwitchError};

use crate::{
    judge::{Place, author, branch, commit_with_git, git_in, path, run, write},
    processes::start,
};

/// Advances a branch by a change to `changed.txt` and the deletion of `deleted.txt`.
fn advanced(place: &Place) -> CommitId {
    let worktree = place.worktree("feature");
    std::fs::remove_file(worktree.path().join("deleted.txt")).unwrap();
    commit_with_git(worktree.path(), &[("changed.txt", "new\n")], "feature")
}

fn with_two_files() -> Place {
    Place::with_files(&[("changed.txt", "old\n"), ("deleted.txt", "old\n"), ("other.txt", "old\n")])
}

#[test]
fn a_change_that_git_is_told_not_to_look_at_is_not_overwritten() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        for file in ["changed.txt", "deleted.txt"] {
            let place = with_two_files();
            let (from, to) = (place.main(), advanced(&place));
            place.git(&["update-index", flag, "changed.txt", "deleted.txt", "other.txt"]);
            write(&place.project().join("other.txt"), "the user's, which no operation needs\n");
            write(&place.project().join(file), "the user's\n");
            let before = place.snapshot();
            let git = run(&place.project(), &["merge", "--ff-only", &to.to_string()]);
            assert!(!git.status.success(), "git refuses {flag} {file}");
            for error in [
                place.repository.fast_forward(&branch("main"), to, from).map_err(|error| match error {
                    FastForwardError::CheckedOut { problem, .. } => problem,
                    other => panic!("{flag} {file}: {other}"),
                }),
                place.user().cherry_pick(from..to, &author()).map(drop).map_err(|error| match error {
                    CherryPickError::Switch(problem) => problem,
                    other => panic!("{flag} {file}: {other}"),
                }),
            ] {
                match error.unwrap_err() {
                    SwitchError::Dirty { changes, .. } => {
                        assert_eq!(changes.len(), 1, "{flag} {file}");
                        assert_eq!(changes[0].path, path(file), "{flag}");
                    }
                    other => panic!("{flag} {file}: {other}"),
                }
            }
            assert_eq!(place.snapshot(), before, "{flag} {file}");
            write(&place.project().join(file), "old\n");
            place.repository.fast_forward(&branch("main"), to, from).unwrap();
            assert_eq!(std::fs::read_to_string(place.project().join("changed.txt")).unwrap(), "new\n");
            assert!(!place.project().join("deleted.txt").exists());
            // As after `git merge`.
            let kept =
                if flag == "--skip-worktree" { "S changed.txt\nS other.txt" } else { "H changed.txt\nh other.txt" };
            assert_eq!(place.git(&["ls-files", "-v"]), kept);
            assert_eq!(place.git(&["status", "--porcelain"]), "", "{flag} {file}");
        }
    }
}

const SET: &[&str] = &["sparse-checkout", "set", "in"];

/// A sparse checkout of `in`, and the branch `side` with changes inside and outside.
fn sparse(set: &[&str]) -> (Place, CommitId) {
    let place = Place::with_files(&[
        ("in/a.txt", "old\n"),
        ("out/changed.txt", "old\n"),
        ("out/deleted.txt", "old\n"),
        ("top.txt", "old\n"),
    ]);
    let worktree = place.worktree("side");
    std::fs::remove_file(worktree.path().join("out/deleted.txt")).unwrap();
    let files = ["in/a.txt", "in/new/b.txt", "new.txt", "out/changed.txt", "out/new/b.txt"].map(|file| (file, "new\n"));
    let to = commit_with_git(worktree.path(), &files, "side");
    place.git(set);
    (place, to)
}

/// As with `git merge --ff-only`, which makes the same index.
#[test]
fn a_sparse_checkout_stays_sparse() {
    for set in [SET, &["sparse-checkout", "set", "--no-cone", "in/", "top.txt"]] {
        let (place, to) = sparse(set);
        let from = place.main();
        let by_git = place.path().join("by-git");
        git_in(place.path(), &["clone", "--quiet", "--branch=side", "project", "by-git"]);
        git_in(&by_git, &["reset", "--quiet", "--hard", &from.to_string()]);
        git_in(&by_git, set);
        place.repository.fast_forward(&branch("main"), to, from).unwrap();
        git_in(&by_git, &["merge", "--quiet", "--ff-only", &to.to_string()]);
        let top = if set == SET { "H" } else { "S" };
        let expected =
            format!("H in/a.txt\nH in/new/b.txt\n{top} new.txt\nS out/changed.txt\nS out/new/b.txt\nH top.txt");
        for root in [place.project(), by_git] {
            assert_eq!(git_in(&root, &["ls-files", "-t"]), expected);
            assert_eq!(std::fs::read_to_string(root.join("in/a.txt")).unwrap(), "new\n");
            assert_eq!((root.join("out").exists(), root.join("new.txt").exists()), (false, top == "H"));
            assert_eq!(git_in(&root, &["status", "--porcelain"]), "");
        }
        place.assert_sound();
    }
}

/// What is in the place of a new file is not touched, even if that file would not be written.
#[test]
fn an_untracked_file_outside_a_sparse_checkout_is_in_the_way() {
    let (place, to) = sparse(SET);
    write(&place.project().join("out/new/b.txt"), "");
    match place.repository.fast_forward(&branch("main"), to, place.main()).unwrap_err() {
        FastForwardError::CheckedOut { problem: SwitchError::InTheWay { paths, .. }, .. } => {
            assert_eq!(paths, [path("out/new/b.txt")]);
        }
        other => panic!("{other}"),
    }
    assert!(place.project().join("out/new/b.txt").exists());
}

#[test]
fn recovery_leaves_a_sparse_checkout_sparse() {
    let (place, to) = sparse(SET);
    let mut step = 0;
    while place.main() != to {
        step += 1;
        let orders = [("VICTIM_OPERATION", "forward"), ("VICTIM_STEP", &step.to_string())];
        start("kills::victim", &place.project(), &orders).wait().unwrap();
        place.repository.recover().unwrap();
        assert!(!place.project().join("out").exists(), "killed at step {step}");
        assert_eq!(place.git(&["status", "--porcelain"]), "", "killed at step {step}");
    }
    assert!(step > 5, "it has but {step} steps");
}

/// A file that is not on disk is nobody's work, but what took its place is.
#[test]
fn a_hidden_file_that_is_gone_is_written_unless_something_took_its_place() {
    let place = Place::with_files(&[("a/file.txt", "old\n"), ("other.txt", "old\n")]);
    let from = place.main();
    let to = commit_with_git(place.worktree("feature").path(), &[("a/file.txt", "new\n")], "feature");
    place.git(&["update-index", "--assume-unchanged", "a/file.txt"]);
    std::fs::remove_dir_all(place.project().join("a")).unwrap();
    let attempt = || match place.repository.fast_forward(&branch("main"), to, from).unwrap_err() {
        FastForwardError::CheckedOut { problem: SwitchError::InTheWay { paths, .. }, .. } => paths,
        other => panic!("{other}"),
    };
    write(&place.project().join("a"), "the user's\n");
    assert_eq!(attempt(), [path("a")]);
    std::fs::remove_file(place.project().join("a")).unwrap();
    write(&place.project().join("a/file.txt/mine"), "the user's\n");
    assert_eq!(attempt(), [path("a/file.txt/mine")]);
    std::fs::remove_dir_all(place.project().join("a")).unwrap();
    place.repository.fast_forward(&branch("main"), to, from).unwrap();
    assert_eq!(std::fs::read_to_string(place.project().join("a/file.txt")).unwrap(), "new\n");
    place.assert_git_agrees();
}
