use interlocking_worktree::{ArchiveError, ArchiveName, DeleteBranchError, Force, RenameBranchError};

use crate::judge::{Place, branch, commit_with_git};

#[test]
fn an_archive_keeps_commits_and_is_never_overwritten() {
    let place = Place::new();
    let base = place.main();
    let other = commit_with_git(place.worktree("one").path(), &[("a", "a")], "a");
    let name = ArchiveName::new("r1/1").unwrap();
    place.repository.archive(&name, base).unwrap();
    place.repository.archive(&name, base).unwrap();
    let before = place.snapshot();
    let error = place.repository.archive(&name, other).unwrap_err();
    assert_eq!(error, ArchiveError::Taken { name: name.clone(), found: base });
    let nothing = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let error = place.repository.archive(&ArchiveName::new("r1/2").unwrap(), nothing).unwrap_err();
    assert_eq!(error, ArchiveError::NoSuchCommit { commit: nothing });
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.repository.archived().unwrap(), [(name, base)]);
    assert_eq!(place.git(&["rev-parse", "refs/interlocking/archive/r1/1"]), base.to_string());
    let branches: Vec<_> = place.repository.branches().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(branches, [branch("main"), branch("one")]);
    place.assert_git_agrees();
}

/// Objects in packs and references in `packed-refs`, as after `git gc`.
#[test]
fn a_packed_repository_is_as_good() {
    let place = Place::new();
    let worktree = place.worktree("one");
    let one = commit_with_git(worktree.path(), &[("a", "a")], "a");
    place.git(&["gc", "--quiet", "--prune=now"]);
    assert!(!place.project().join(".git/refs/heads/one").exists());
    crate::judge::write(&worktree.path().join("b"), "b");
    let two = worktree.commit_all(&crate::judge::author(), "b").unwrap().unwrap();
    place.repository.fast_forward(&branch("main"), one, place.main()).unwrap();
    place.git(&["pack-refs", "--all"]);
    place.repository.fast_forward(&branch("main"), two, one).unwrap();
    place.repository.remove_worktree(&worktree, interlocking_worktree::Force::No).unwrap().delete().unwrap();
    place.repository.delete_branch(&branch("one"), two).unwrap();
    assert_eq!(place.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    place.assert_git_agrees();
}

#[test]
fn a_branch_is_renamed_unless_that_would_lose_something() {
    let place = Place::new();
    let base = place.main();
    let worktree = place.worktree("one");
    let one = commit_with_git(worktree.path(), &[("a", "a")], "a");
    let (from, to) = (branch("one"), branch("archive/one"));

    let before = place.snapshot();
    let error = place.repository.rename_branch(&from, &to, one).unwrap_err();
    assert!(matches!(error, RenameBranchError::Old(DeleteBranchError::CheckedOut { .. })), "{error}");
    assert_eq!(place.snapshot(), before);

    place.repository.remove_worktree(&worktree, Force::No).unwrap().delete().unwrap();
    let before = place.snapshot();
    let error = place.repository.rename_branch(&from, &to, base).unwrap_err();
    assert!(matches!(error, RenameBranchError::Old(DeleteBranchError::Moved { .. })), "{error}");
    let error = place.repository.rename_branch(&from, &branch("main"), one).unwrap_err();
    assert_eq!(error, RenameBranchError::Taken { to: branch("main"), found: base });
    assert_eq!(place.snapshot(), before);

    for clash in ["main/one", "one/two"] {
        let error = place.repository.rename_branch(&from, &branch(clash), one).unwrap_err();
        let existing = branch(clash.split_once('/').unwrap().0);
        assert_eq!(error, RenameBranchError::Clash { to: branch(clash), existing });
        assert_eq!(place.snapshot(), before);
    }

    // As left by a process that ended between the two steps.
    place.git(&["branch", "archive/one", "one"]);
    place.repository.rename_branch(&from, &to, one).unwrap();
    assert_eq!(place.repository.branches().unwrap(), [(to.clone(), one), (branch("main"), base)]);
    place.repository.rename_branch(&to, &to, one).unwrap();
    assert_eq!(place.repository.branch_head(&to).unwrap(), Some(one), "its own name is not another one");
    place.assert_git_agrees();
}

/// An operation on a symbolic reference does not affect the branch that it points to, whose worktrees were not checked.
#[test]
fn a_branch_that_is_a_symbolic_reference_is_not_moved_and_goes_alone() {
    let place = Place::new();
    let (from, to) = (place.main(), commit_with_git(place.worktree("one").path(), &[("a", "a")], "a"));
    place.git(&["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let before = place.snapshot();
    let error = place.repository.fast_forward(&branch("alias"), to, from).unwrap_err();
    let reason = "refs/heads/alias is a symbolic reference: name the one that it leads to";
    assert!(error.to_string().contains(reason), "{error}");
    assert_eq!(place.snapshot(), before);
    place.repository.delete_branch(&branch("alias"), from).unwrap();
    assert_eq!(place.repository.branches().unwrap(), [(branch("main"), from), (branch("one"), to)]);
    place.assert_git_agrees();
}
