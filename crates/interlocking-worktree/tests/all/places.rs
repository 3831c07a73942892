//! A session's place: every deviation is found and reported by its kind.

use std::os::unix::fs::symlink;

use interlocking_worktree::{Change, ChangeKind, FileChangeKind, Finding, Place as Session, RepositoryPath};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, write};

/// A place on a branch of its own, at main's second commit.
fn session(place: &Place) -> Session {
    let worktree = place.worktree("tests");
    write(&worktree.path().join("known.txt"), "known\n");
    let head = worktree.commit_all(&author(), "known").unwrap().unwrap();
    Session::new("r1", worktree, place.main()).at(head)
}

fn git(session: &Session, arguments: &[&str]) -> String {
    git_in(session.worktree().path(), arguments)
}

#[test]
fn a_place_that_is_as_it_was_handed_over_has_no_findings() {
    let place = Place::new();
    let session = session(&place);
    let snapshot = place.snapshot();
    assert_eq!(session.verify().unwrap(), []);
    assert_eq!(session.clone().read_only().allowing([]).verify().unwrap(), []);
    assert_eq!(place.snapshot(), snapshot, "looking changes nothing");
    // An agent's work in a place where it may change everything.
    write(&session.worktree().path().join("src/lib.rs"), "new\n");
    write(&session.worktree().path().join("more.rs"), "new\n");
    assert_eq!(session.verify().unwrap(), []);
    let short = session.base().short().to_string();
    assert_eq!(session.to_string(), format!("run r1: {} on tests from {short}", session.worktree().path().display()));
}

#[test]
fn stray_commits_are_listed_unless_they_are_allowed() {
    let place = Place::new();
    let session = session(&place);
    let one = commit_with_git(session.worktree().path(), &[("a.txt", "a\n")], "mine");
    let two = commit_with_git(session.worktree().path(), &[("b.txt", "b\n")], "mine too");
    let [Finding::UnexpectedCommits { commits }] = &session.verify().unwrap()[..] else { panic!("not found") };
    assert_eq!(commits.iter().map(|commit| commit.id).collect::<Vec<_>>(), [one, two]);
    assert_eq!(
        session.verify().unwrap()[0].to_string(),
        format!("its agent made commits, which it may not do: {} \"mine\", {} \"mine too\"", one.short(), two.short())
    );
    assert_eq!(session.clone().with_own_commits().verify().unwrap(), []);
    // In a read-only place, no commits are allowed.
    let found = session.with_own_commits().read_only().verify().unwrap();
    assert!(matches!(&found[..], [Finding::UnexpectedCommits { .. }]), "{found:?}");
}

#[test]
fn a_moved_head_is_found_whether_it_went_back_or_aside() {
    let place = Place::new();
    let session = session(&place).with_own_commits();
    git(&session, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let moved = |found| Finding::HeadMoved { expected: session.head(), found: Some(found) };
    assert_eq!(session.verify().unwrap(), [moved(place.main())]);
    let aside = commit_with_git(session.worktree().path(), &[("a.txt", "a\n")], "aside");
    assert_eq!(session.verify().unwrap(), [moved(aside)]);
}

#[test]
fn a_rewritten_history_has_lost_its_base() {
    let place = Place::new();
    let session = session(&place).with_own_commits();
    git(&session, &["commit", "--quiet", "--amend", "--message", "amended"]);
    let amended = session.worktree().head().unwrap();
    assert_eq!(
        session.verify().unwrap(),
        [Finding::HeadMoved { expected: session.head(), found: Some(amended) }],
        "its base is behind it still"
    );
    let tree = git(&session, &["rev-parse", "HEAD^{tree}"]);
    let orphan = git(&session, &["commit-tree", tree.trim(), "-m", "new history"]);
    git(&session, &["reset", "--quiet", "--hard", orphan.trim()]);
    let head = session.worktree().head().unwrap();
    assert_eq!(
        session.verify().unwrap(),
        [
            Finding::BaseLost { base: session.base(), head },
            Finding::HeadMoved { expected: session.head(), found: Some(head) }
        ]
    );
}

#[test]
fn another_branch_or_none_is_named_and_what_became_of_its_own_too() {
    let place = Place::new();
    let session = session(&place);
    let other = |found| Finding::OtherBranch { expected: Some(branch("tests")), found };
    git(&session, &["switch", "--quiet", "--create", "mine"]);
    assert_eq!(session.verify().unwrap(), [other(Some(branch("mine")))]);
    git(&session, &["branch", "--quiet", "--force", "tests", "main"]);
    assert_eq!(
        session.verify().unwrap(),
        [other(Some(branch("mine"))), Finding::HeadMoved { expected: session.head(), found: Some(place.main()) }]
    );
    git(&session, &["branch", "--quiet", "--delete", "--force", "tests"]);
    assert_eq!(
        session.verify().unwrap(),
        [other(Some(branch("mine"))), Finding::BranchGone { branch: branch("tests") }]
    );
    git(&session, &["switch", "--quiet", "--detach"]);
    assert_eq!(session.verify().unwrap()[0], other(None));
    git(&session, &["switch", "--quiet", "--orphan", "empty"]);
    let found = session.verify().unwrap();
    assert!(found.contains(&Finding::HeadMoved { expected: session.head(), found: None }), "{found:?}");
    // In a place without a branch, a checked-out branch is detected.
    let at = place.path().join("run/review");
    let review = place.repository.create_detached_worktree(at, place.main()).unwrap();
    let review = Session::new("r1", review, place.main()).read_only();
    assert_eq!(review.verify().unwrap(), []);
    git(&review, &["switch", "--quiet", "--create", "yours"]);
    assert_eq!(review.verify().unwrap(), [Finding::OtherBranch { expected: None, found: Some(branch("yours")) }]);
}

#[test]
fn a_place_to_read_is_clean() {
    let place = Place::with_files(&[("README.md", "# Project\n"), (".gitignore", "target\n")]);
    let review = Session::new("r1", place.worktree("review"), place.main()).read_only();
    write(&review.worktree().path().join("target/built"), "ignored\n");
    assert_eq!(review.verify().unwrap(), []);
    write(&review.worktree().path().join("README.md"), "mine\n");
    write(&review.worktree().path().join("new.txt"), "mine\n");
    // Hidden from `git status`, but found.
    git(&review, &["update-index", "--assume-unchanged", "README.md"]);
    let changes = vec![
        Change { path: path("README.md"), kind: ChangeKind::Modified },
        Change { path: path("new.txt"), kind: ChangeKind::Untracked },
    ];
    assert_eq!(review.verify().unwrap(), [Finding::Dirty { changes }]);
}

#[test]
fn changes_outside_the_allowed_paths_are_found_committed_or_not() {
    let place = Place::with_files(&[("src/lib.rs", "one\ntwo\nthree\n"), ("tests/a.rs", "a\n"), ("tests.rs", "b\n")]);
    let session = Session::new("r1", place.worktree("tests"), place.main()).with_own_commits();
    let session = session.allowing(["tests", "Cargo.toml"].map(path));
    let at = |name: &str| session.worktree().path().join(name);
    write(&at("tests/new/b.rs"), "new\n");
    write(&at("Cargo.toml"), "new\n");
    assert_eq!(session.verify().unwrap(), []);
    let outside = || match &session.verify().unwrap()[..] {
        [Finding::Outside { changes }] => changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        found => panic!("{found:?}"),
    };
    write(&at("tests.rs"), "not in the directory\n");
    assert_eq!(outside(), ["tests.rs (modified)"]);
    git(&session, &["commit", "--quiet", "--all", "--message", "out of sight"]);
    assert_eq!(outside(), ["tests.rs (modified)"]);
    // Moved from a directory that is not allowed into one that is.
    git(&session, &["mv", "src/lib.rs", "tests/lib.rs"]);
    assert_eq!(outside(), ["tests.rs (modified)", "tests/lib.rs (renamed from src/lib.rs)"]);
    let renamed = FileChangeKind::Renamed { from: path("src/lib.rs") };
    assert!(matches!(&session.verify().unwrap()[0], Finding::Outside { changes } if changes[1].kind == renamed));
    symlink("/etc/passwd", at("leak")).unwrap();
    assert_eq!(outside()[0], "leak (added)");
}

#[test]
fn a_rewritten_link_is_found_and_the_rest_is_looked_at_all_the_same() {
    let place = Place::new();
    let session = session(&place).read_only();
    let link = session.worktree().path().join(".git");
    let other = Place::new();
    let says = other.project().join(".git");
    std::fs::write(&link, format!("gitdir: {}\n", says.display())).unwrap();
    let rewritten = |says: String| Finding::LinkRewritten { path: session.worktree().path().to_owned(), says };
    assert_eq!(session.verify().unwrap(), [rewritten(says.display().to_string())]);
    std::fs::remove_file(&link).unwrap();
    git(&session, &["init", "--quiet"]);
    write(&session.worktree().path().join("new.txt"), "mine\n");
    let changes = vec![Change { path: path("new.txt"), kind: ChangeKind::Untracked }];
    assert_eq!(session.verify().unwrap(), [rewritten("nothing readable".to_owned()), Finding::Dirty { changes }]);
}

#[test]
fn a_place_that_is_gone_is_said_to_be() {
    let place = Place::new();
    let session = session(&place);
    std::fs::remove_dir_all(session.worktree().path()).unwrap();
    let gone = Finding::Gone { path: session.worktree().path().to_owned() };
    assert_eq!(session.verify().unwrap(), std::slice::from_ref(&gone));
    place.git(&["worktree", "prune"]);
    assert_eq!(session.verify().unwrap(), [gone]);
}

/// The messages for a program that runs agents.
#[test]
fn findings_say_what_is_wrong() {
    let place = Place::new();
    let session = session(&place).allowing(Vec::<RepositoryPath>::new());
    git(&session, &["switch", "--quiet", "--detach", "main"]);
    write(&session.worktree().path().join("new.txt"), "mine\n");
    let found: Vec<_> = session.verify().unwrap().iter().map(ToString::to_string).collect();
    let (head, main) = (session.head(), place.main());
    assert_eq!(
        found,
        [
            "it should be on the branch tests, and is on a detached HEAD".to_owned(),
            format!("its head was moved from {head} to {main}, which does not descend from it"),
            "files were changed that its agent may not change: known.txt (deleted), new.txt (added)".to_owned(),
        ]
    );
}

/// A clone is a place, too, and its agent can write to its `.git`.
#[test]
fn a_clone_is_verified_too() {
    let place = Place::new();
    commit_with_git(&place.project(), &[("more.txt", "more\n")], "so that the clone is shallow");
    let base = place.main();
    let at = place.path().join("run/clone");
    let clone = place.repository.create_clone(&at, &branch("tests"), base).unwrap();
    let session = Session::new("r1", clone, base).allowing([path("tests")]);
    assert_eq!(session.verify().unwrap(), []);
    let stray = commit_with_git(&at, &[("src/lib.rs", "mine\n")], "mine");
    let found = session.verify().unwrap();
    let [Finding::UnexpectedCommits { commits }, Finding::Outside { changes }] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((commits.len(), commits[0].id, changes.len()), (1, stray, 1));
    git(&session, &["switch", "--quiet", "--orphan", "new"]);
    git(&session, &["commit", "--quiet", "--allow-empty", "--message", "another history"]);
    let head = git(&session, &["rev-parse", "HEAD"]).trim().parse().unwrap();
    assert!(session.verify().unwrap().contains(&Finding::BaseLost { base, head }));
    // Another repository in its place, and one that refers to another.
    std::fs::remove_dir_all(at.join(".git")).unwrap();
    git(&session, &["init", "--quiet", "--initial-branch", "tests"]);
    let head = commit_with_git(&at, &[("a.txt", "a\n")], "all new");
    let found = session.verify().unwrap();
    assert_eq!(
        found[..2],
        [Finding::BaseLost { base, head }, Finding::HeadMoved { expected: base, found: Some(head) }],
        "{found:?}"
    );
    std::fs::write(at.join(".git/commondir"), place.project().join(".git").as_os_str().as_encoded_bytes()).unwrap();
    let found = session.verify().unwrap();
    assert!(matches!(&found[..], [Finding::LinkRewritten { .. }]), "{found:?}");
    std::fs::remove_dir_all(&at).unwrap();
    assert_eq!(session.verify().unwrap(), [Finding::Gone { path: at }]);
}
