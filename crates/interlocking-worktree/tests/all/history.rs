use crate::judge::{Place, author, branch, commit_with_git, git_in, path};

#[test]
fn commits_are_read_in_order_with_their_trailers() {
    let place = Place::new();
    let base = place.main();
    let worktree = place.worktree("one");
    let first = commit_with_git(
        worktree.path(),
        &[("a", "a")],
        "tests: a\n\nNames: a, b\n\nSession: r1\nNode: hTests\nCost: $0.02",
    );
    let second = commit_with_git(worktree.path(), &[("b", "b")], "impl: b");
    assert_eq!(place.repository.commits(second..second).unwrap(), [], "git log a..a is empty");
    let commits = place.repository.commits(base..second).unwrap();
    let ids: Vec<_> = commits.iter().map(|commit| commit.id).collect();
    assert_eq!(ids, [first, second]);
    assert_eq!(commits[0].subject(), "tests: a");
    assert_eq!(commits[0].parents, [base]);
    assert_eq!((commits[0].author.name.as_str(), commits[0].author.seconds), ("Ada", 1_700_000_000));
    let trailers = [("Session", "r1"), ("Node", "hTests"), ("Cost", "$0.02")];
    assert_eq!(commits[0].trailers(), trailers.map(|(token, value)| (token.to_owned(), value.to_owned())));
    assert_eq!(commits[1].trailers(), []);
    assert_eq!(place.repository.commit(second).unwrap(), commits[1]);
}

/// Parents come before children, even if all commits have the same second.
#[test]
fn a_history_with_merges_is_in_order() {
    let place = Place::new();
    let base = place.main();
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    let side = commit_with_git(one.path(), &[("a", "a")], "a");
    commit_with_git(two.path(), &[("b", "b")], "b");
    two.merge(side, &author(), "merge").unwrap().unwrap();
    let tip = commit_with_git(two.path(), &[("c", "c")], "c");
    let commits = place.repository.commits(base..tip).unwrap();
    let expected = place.git(&["rev-list", "--count", &format!("{base}..{tip}")]);
    assert_eq!(commits.len().to_string(), expected);
    for (position, commit) in commits.iter().enumerate() {
        for parent in &commit.parents {
            assert!(*parent == base || commits[..position].iter().any(|earlier| earlier.id == *parent));
        }
    }
}

#[test]
fn ancestry_is_gits() {
    let place = Place::new();
    let base = place.main();
    let one = commit_with_git(place.worktree("one").path(), &[("a", "a")], "a");
    let two = commit_with_git(place.worktree("two").path(), &[("b", "b")], "b");
    let is = |older, newer| place.repository.is_ancestor(older, newer).unwrap();
    assert!(is(base, one) && is(one, one) && !is(one, base) && !is(one, two));
    assert_eq!(place.repository.merge_base(one, two).unwrap(), Some(base));
}

#[test]
fn revisions_are_resolved() {
    let place = Place::new();
    let base = place.main();
    let tip = commit_with_git(&place.project(), &[("a", "a")], "a");
    place.git(&["tag", "--annotate", "--message", "v1", "v1"]);
    let resolve = |revision: &str| place.repository.resolve(revision);
    for (revision, expected) in [("main", tip), ("HEAD", tip), ("v1", tip), ("main~1", base), ("refs/heads/main", tip)]
    {
        assert_eq!(resolve(revision).unwrap(), expected, "{revision}");
    }
    assert_eq!(resolve(&tip.short()).unwrap(), tip);
    for nothing in ["", "none", "-n", "--all", "main..v1", "main:README.md", "../x", "main^{tree}"] {
        let error = resolve(nothing).unwrap_err();
        assert_eq!(error.revision, nothing);
    }
    let head = place.repository.head().unwrap();
    assert_eq!((head.branch, head.commit), (Some(branch("main")), Some(tip)));
}

#[test]
fn files_are_read_from_commits() {
    let place = Place::new();
    let base = place.main();
    let worktree = place.worktree("one");
    std::os::unix::fs::symlink("lib.rs", worktree.path().join("src/link")).unwrap();
    let tip = commit_with_git(worktree.path(), &[("README.md", "changed\n")], "change");
    let read = |commit, at: &str| place.repository.read_file(commit, &path(at)).unwrap();
    assert_eq!(read(base, "README.md").unwrap(), b"# Project\n");
    assert_eq!(read(tip, "README.md").unwrap(), b"changed\n");
    assert_eq!(read(tip, "src/link").unwrap(), b"lib.rs");
    assert_eq!(read(tip, "src"), None);
    assert_eq!(read(tip, "none/at/all"), None);
    let files: Vec<_> = place.repository.files(tip).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(files.join("\n"), git_in(worktree.path(), &["ls-tree", "-r", "--name-only", "HEAD"]));
}
