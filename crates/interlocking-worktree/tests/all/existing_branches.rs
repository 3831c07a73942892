//! Existing branches: worktrees on them, and moving them.

use interlocking_worktree::{CreateBranchError, CreateError, MoveBranchError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, run, write};

#[test]
fn a_worktree_takes_a_branch_that_is_there() {
    let place = Place::new();
    let head = commit_with_git(place.worktree("other").path(), &[("new.txt", "new\n")], "new");
    place.repository.create_branch(&branch("feature"), head).unwrap();
    let worktree = place.repository.create_worktree_on(place.path().join("run/one"), branch("feature")).unwrap();
    assert_eq!((worktree.head().unwrap(), worktree.branch()), (head, Some(&branch("feature"))));
    assert_eq!(git_in(worktree.path(), &["symbolic-ref", "HEAD"]), "refs/heads/feature");
    assert!(worktree.path().join("new.txt").exists());
    write(&worktree.path().join("more.txt"), "more\n");
    let next = worktree.commit_all(&author(), "more").unwrap();
    assert_eq!(place.repository.branch_head(&branch("feature")).unwrap(), next);
    place.assert_git_agrees();

    let before = place.snapshot();
    let at = place.path().join("run/two");
    let error = place.repository.create_worktree_on(&at, branch("nothing")).unwrap_err();
    assert_eq!(error, CreateError::NoSuchBranch { branch: branch("nothing") });
    assert_eq!(place.snapshot(), before);
}

/// With two worktrees on one branch, each would move the branch under the other.
#[test]
fn a_branch_has_one_worktree_at_most() {
    let place = Place::new();
    let one = place.worktree("one");
    let before = place.snapshot();
    let at = place.path().join("run/two");
    for (name, place_of) in [("one", one.path()), ("main", place.user().path())] {
        let error = place.repository.create_worktree_on(&at, branch(name)).unwrap_err();
        assert_eq!(error, CreateError::BranchInUse { branch: branch(name), place: place_of.to_owned() });
        // Git refuses it, too.
        assert!(!run(&place.project(), &["worktree", "add", "../run/two", name]).status.success());
    }
    assert_eq!(place.snapshot(), before);

    // Also if its directory is missing: it may be on a disk that is not mounted.
    std::fs::rename(one.path(), place.path().join("away")).unwrap();
    let error = place.repository.create_worktree_on(&at, branch("one")).unwrap_err();
    assert!(matches!(error, CreateError::BranchInUse { .. }), "{error}");
}

/// With git itself two sometimes succeed, because it checks and writes without a lock.
#[test]
fn of_eight_threads_one_gets_the_branch() {
    let place = Place::new();
    for round in 0..5 {
        let name = format!("feature-{round}");
        place.repository.create_branch(&branch(&name), place.main()).unwrap();
        let attach = |thread: usize| {
            let at = place.path().join(format!("run/{round}-{thread}"));
            place.repository.create_worktree_on(at, branch(&name))
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || attach(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        let refused = results.into_iter().filter_map(Result::err);
        assert!(refused.into_iter().all(|error| matches!(error, CreateError::BranchInUse { .. })));
    }
    place.assert_git_agrees();
}

#[test]
fn a_branch_is_created_once() {
    let place = Place::new();
    let repository = &place.repository;
    repository.create_branch(&branch("one"), place.main()).unwrap();
    let before = place.snapshot();
    let error = repository.create_branch(&branch("one"), place.main()).unwrap_err();
    assert_eq!(error, CreateBranchError::Exists { branch: branch("one"), at: place.main() });
    let error = repository.create_branch(&branch("one/below"), place.main()).unwrap_err();
    assert!(matches!(error, CreateBranchError::Clash { .. }), "{error}");
    let nothing = "0123456789abcdef0123456789abcdef01234567".parse().unwrap();
    let error = repository.create_branch(&branch("two"), nothing).unwrap_err();
    assert_eq!(error, CreateBranchError::NoSuchCommit { commit: nothing });
    assert_eq!(place.snapshot(), before);
}

/// HY-61, CON-151: a reference moves only from its expected value.
#[test]
fn a_branch_moves_only_from_where_it_was_seen_and_under_nobodys_feet() {
    let place = Place::new();
    let (repository, base) = (&place.repository, place.main());
    let worktree = place.worktree("one");
    let head = commit_with_git(worktree.path(), &[("new.txt", "new\n")], "new");
    repository.create_branch(&branch("free"), base).unwrap();
    repository.move_branch(&branch("free"), head, base).unwrap();
    assert_eq!(repository.branch_head(&branch("free")).unwrap(), Some(head));
    let before = place.snapshot();
    let moved = |name: &str, expected, found| MoveBranchError::Moved { branch: branch(name), expected, found };
    let error = repository.move_branch(&branch("free"), base, base).unwrap_err();
    assert_eq!(error, moved("free", base, Some(head)));
    let error = repository.move_branch(&branch("none"), base, base).unwrap_err();
    assert_eq!(error, moved("none", base, None));
    let error = repository.move_branch(&branch("one"), base, head).unwrap_err();
    assert_eq!(error, MoveBranchError::CheckedOut { branch: branch("one"), place: worktree.path().to_owned() });
    assert_eq!(place.snapshot(), before);
    // Moving back is a move like any other.
    repository.move_branch(&branch("free"), base, head).unwrap();
    assert_eq!(repository.branch_head(&branch("free")).unwrap(), Some(base));
    place.assert_git_agrees();
}

/// Eight threads each add a commit and move the branch to it; no commit is lost.
#[test]
fn moves_of_many_threads_are_one_after_the_other() {
    let place = Place::new();
    place.repository.create_branch(&branch("free"), place.main()).unwrap();
    let files = |thread: usize| -> Vec<(String, String)> { vec![(format!("{thread}.txt"), format!("{thread}\n"))] };
    let commits: Vec<_> = (0..8)
        .map(|thread| {
            let worktree = place.worktree(&format!("agent-{thread}"));
            for (name, contents) in files(thread) {
                write(&worktree.path().join(name), contents);
            }
            worktree.commit_all(&author(), "one file").unwrap().unwrap()
        })
        .collect();
    std::thread::scope(|scope| {
        for commit in &commits {
            scope.spawn(|| {
                loop {
                    let seen = place.repository.branch_head(&branch("free")).unwrap().unwrap();
                    let picked = place.repository.cherry_pick_onto(seen, place.main()..*commit, &author()).unwrap();
                    match place.repository.move_branch(&branch("free"), picked[0], seen) {
                        Ok(()) => break,
                        Err(MoveBranchError::Moved { .. }) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    let listed = place.git(&["ls-tree", "--name-only", "free"]);
    assert!((0..8).all(|thread| listed.contains(&format!("{thread}.txt"))), "{listed}");
    assert_eq!(place.git(&["rev-list", "--count", "main..free"]), "8");
    place.assert_git_agrees();
}
