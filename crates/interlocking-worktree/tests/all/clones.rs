//! Clones: they hold only the base; work in them; fetching commits back.

use std::{collections::BTreeSet, path::Path};

use interlocking_worktree::{
    ChangeKind, CommitId, CreateCloneError, CreateError, FetchError, Force, ImportError, OpenCloneError, RemoveError,
    Repository, Worktree, delete_directory,
};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, run, text, write};

fn clone_at(place: &Place, name: &str, base: CommitId) -> Worktree {
    place.repository.create_clone(place.path().join("run").join(name), &branch(name), base).unwrap()
}

fn assert_sound(root: &Path) {
    let fsck = run(root, &["fsck", "--strict", "--full", "--no-dangling"]);
    let report = format!("{}{}", text(&fsck.stdout), text(&fsck.stderr));
    assert!(fsck.status.success() && report.trim().is_empty(), "{report}");
}

/// Every object of a repository, reachable or not.
fn objects(root: &Path) -> BTreeSet<String> {
    let list = git_in(root, &["cat-file", "--batch-check=%(objectname)", "--batch-all-objects"]);
    list.lines().map(ToOwned::to_owned).collect()
}

/// A repository with three commits and another branch. The clone is of the second commit.
fn with_history() -> (Place, CommitId) {
    let place = Place::with_files(&[("README.md", "first\n"), ("old.txt", "old\n")]);
    std::fs::remove_file(place.project().join("old.txt")).unwrap();
    let base = commit_with_git(&place.project(), &[("src/lib.rs", "lib\n"), ("src/deep/a.rs", "a\n")], "second");
    commit_with_git(&place.project(), &[("secret.txt", "later\n")], "third");
    let sibling = place.worktree("sibling");
    commit_with_git(sibling.path(), &[("sibling.txt", "sibling\n")], "sibling");
    (place, base)
}

#[test]
fn a_clone_has_the_base_and_nothing_else() {
    let (place, base) = with_history();
    let before = place.snapshot();
    let clone = clone_at(&place, "one", base);
    let root = clone.path();
    assert_sound(root);
    assert_eq!(git_in(root, &["status", "--porcelain", "--ignored"]), "");
    assert_eq!(git_in(root, &["log", "--all", "--format=%H %s"]), format!("{base} second"));
    assert_eq!(git_in(root, &["rev-parse", "--is-shallow-repository"]), "true");
    assert_eq!(git_in(root, &["branch", "--all", "--format=%(refname)"]), "refs/heads/one");
    assert_eq!(git_in(root, &["remote"]), "");
    assert_eq!(git_in(root, &["reflog", "--all"]), "");
    assert_eq!(git_in(root, &["write-tree"]), place.git(&["rev-parse", &format!("{base}^{{tree}}")]));

    let tree = place.git(&["rev-list", "--objects", "--no-walk", "--no-object-names", &base.to_string()]);
    assert_eq!(objects(root), tree.lines().map(ToOwned::to_owned).collect());
    for hidden in ["main", "sibling", "main:secret.txt"] {
        let id = place.git(&["rev-parse", hidden]);
        assert!(!run(root, &["cat-file", "-e", &id]).status.success(), "{hidden}");
    }
    // No file of the clone names the original.
    let original = place.project();
    let found = std::process::Command::new("grep").arg("-rFl").arg(&original).arg(root).output().unwrap();
    assert_eq!(text(&found.stdout), "");
    assert!(!root.join(".git/objects/info/alternates").exists());
    // Nothing was left in the original either.
    std::fs::remove_dir_all(root).unwrap();
    assert_eq!(place.snapshot(), before);
    place.assert_sound();
}

/// EVO-13: writes in a clone affect only the clone.
#[test]
fn no_file_of_a_clone_is_a_link_to_the_original() {
    use std::os::unix::fs::MetadataExt as _;
    let (place, base) = with_history();
    let clone = clone_at(&place, "one", base);
    let mut waiting = vec![clone.path().to_owned()];
    let mut files = 0;
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let metadata = entry.as_ref().unwrap().metadata().unwrap();
            if metadata.is_dir() {
                waiting.push(entry.unwrap().path());
            } else {
                files += 1;
                assert_eq!(metadata.nlink(), 1, "{}", entry.unwrap().path().display());
                assert!(!metadata.file_type().is_symlink());
            }
        }
    }
    assert!(files > 8);
}

#[test]
fn a_root_commit_needs_no_boundary() {
    let place = Place::new();
    let clone = clone_at(&place, "one", place.main());
    assert!(!clone.path().join(".git/shallow").exists());
    assert_sound(clone.path());
    assert_eq!(clone.head().unwrap(), place.main());
}

#[test]
fn every_operation_works_in_a_clone() {
    let (place, base) = with_history();
    let clone = clone_at(&place, "one", base);
    assert!(clone.is_clone() && !clone.is_main() && clone.name().is_none());
    assert!(clone.is_clean().unwrap());
    write(&clone.path().join("src/lib.rs"), "changed\n");
    write(&clone.path().join("new.txt"), "new\n");
    let changes: Vec<_> =
        clone.status().unwrap().into_iter().map(|change| (change.path.to_string(), change.kind)).collect();
    assert_eq!(
        changes,
        [("new.txt".to_owned(), ChangeKind::Untracked), ("src/lib.rs".to_owned(), ChangeKind::Modified)]
    );
    let first = clone.commit_all(&author(), "first").unwrap().unwrap();
    assert_eq!(clone.diff_since(base).unwrap().len(), 2);
    assert!(clone.repository().is_ancestor(base, first).unwrap());
    assert_eq!(clone.repository().commits(base..first).unwrap().len(), 1);
    assert_eq!(clone.repository().merge_base(base, first).unwrap(), Some(base));

    write(&clone.path().join("second.txt"), "second\n");
    clone.commit_paths(&[path("second.txt")], &author(), "second").unwrap().unwrap();
    clone.commit_empty(&author(), "a word").unwrap();
    let squashed = clone.squash_since(base, &author(), "all").unwrap().unwrap();
    assert_eq!(git_in(clone.path(), &["log", "--format=%s"]), "all\nsecond");
    assert_eq!(git_in(clone.path(), &["status", "--porcelain"]), "");

    write(&clone.path().join("src/lib.rs"), "dirty\n");
    clone.reset_to(base).unwrap();
    assert!(clone.is_clean().unwrap());
    assert_eq!(git_in(clone.path(), &["status", "--porcelain"]), "");
    assert!(!clone.path().join("new.txt").exists());
    // Commits that were left behind can be picked again.
    clone.cherry_pick(base..squashed, &author()).unwrap();
    assert!(clone.path().join("new.txt").exists());
    clone.unlock().unwrap();
    assert_sound(clone.path());
}

/// The same edits in a clone and in a worktree give the same commits, and both continue in the same way.
#[test]
fn what_comes_back_is_what_a_worktree_would_have_made() {
    let (place, base) = with_history();
    let linked = place.worktree_from("linked", base);
    let clone = clone_at(&place, "cloned", base);
    let mut tips = Vec::new();
    for worktree in [&linked, &clone] {
        for (number, file) in ["src/lib.rs", "src/deep/a.rs", "new/b.bin"].iter().enumerate() {
            write(&worktree.path().join(file), [0, 159, number as u8, 10]);
            if number == 1 {
                std::fs::remove_file(worktree.path().join("README.md")).unwrap();
            }
            worktree.commit_all(&author(), &format!("edit {number}")).unwrap().unwrap();
        }
        tips.push(worktree.head().unwrap());
    }
    assert_eq!(tips[0], tips[1]);
    // A commit by git itself, which the worktree's repository does not have.
    let tip = commit_with_git(clone.path(), &[("more.txt", "more\n")], "by git");
    assert!(place.repository.commit(tip).is_err());
    assert_eq!(place.repository.fetch_from_clone(&clone, base, None).unwrap(), tip);
    assert_eq!(place.git(&["rev-parse", "cloned"]), tip.to_string());
    assert_eq!(place.git(&["log", "--format=%s", &format!("{base}..cloned")]), "by git\nedit 2\nedit 1\nedit 0");
    place.assert_sound();

    // Continue from there, as from a worktree.
    let merge = place.worktree("merge");
    let picked = merge.cherry_pick(base..tip, &author()).unwrap();
    assert_eq!(picked.len(), 4);
    assert!(merge.path().join("secret.txt").exists() && merge.path().join("more.txt").exists());
    let other = place.worktree("other");
    other.merge(tip, &author(), "merge").unwrap().unwrap();
    place.assert_git_agrees();
}

#[test]
fn a_second_fetch_brings_what_came_after_the_first() {
    let (place, base) = with_history();
    let clone = clone_at(&place, "one", base);
    assert_eq!(place.repository.fetch_from_clone(&clone, base, None).unwrap(), base);
    let first = commit_with_git(clone.path(), &[("a.txt", "a\n")], "a");
    assert_eq!(place.repository.fetch_from_clone(&clone, base, Some(base)).unwrap(), first);
    let second = commit_with_git(clone.path(), &[("b.txt", "b\n")], "b");
    // A value that another program has set is not overwritten.
    let refused = place.repository.fetch_from_clone(&clone, base, Some(base)).unwrap_err();
    let moved = ImportError::Moved { branch: branch("one"), expected: Some(base), found: Some(first) };
    assert_eq!(refused, FetchError::Import(moved));
    let refused = place.repository.fetch_from_clone(&clone, base, None).unwrap_err();
    let moved = ImportError::Moved { branch: branch("one"), expected: None, found: Some(first) };
    assert_eq!(refused, FetchError::Import(moved));
    let below = branch("one/below");
    let clash = ImportError::Clash { branch: below.clone(), existing: branch("one") };
    assert_eq!(place.repository.import(&clone.export_since(base).unwrap(), &below, None).unwrap_err(), clash);
    assert_eq!(place.repository.fetch_from_clone(&clone, base, Some(first)).unwrap(), second);
    // A rewritten branch would lose the first commit.
    clone.reset_to(base).unwrap();
    commit_with_git(clone.path(), &[("c.txt", "c\n")], "c");
    let refused = place.repository.fetch_from_clone(&clone, base, Some(second)).unwrap_err();
    assert!(matches!(refused, FetchError::Import(ImportError::NotFastForward { .. })), "{refused}");
    assert_eq!(place.git(&["rev-parse", "one"]), second.to_string());
    place.assert_sound();
}

#[test]
fn a_branch_somebody_is_on_is_not_moved() {
    let (place, base) = with_history();
    let clone = place.repository.create_clone(place.path().join("run/clone"), &branch("sibling"), base).unwrap();
    let before = place.git(&["rev-parse", "sibling"]);
    commit_with_git(clone.path(), &[("a.txt", "a\n")], "a");
    let refused = place.repository.fetch_from_clone(&clone, base, Some(before.parse().unwrap())).unwrap_err();
    assert!(matches!(refused, FetchError::Import(ImportError::CheckedOut { .. })), "{refused}");
    assert_eq!(place.git(&["rev-parse", "sibling"]), before);
}

#[test]
fn a_clone_is_opened_again_and_removed() {
    let (place, base) = with_history();
    let clone = clone_at(&place, "one", base);
    let opened = place.repository.open_clone(clone.path(), &branch("one")).unwrap();
    assert_eq!(opened, clone);
    assert!(matches!(
        place.repository.open_clone(place.project(), &branch("main")),
        Err(OpenCloneError::NotAClone { .. })
    ));
    assert!(matches!(place.repository.open_clone(clone.path(), &branch("two")), Err(OpenCloneError::Worktree(_))));

    write(&clone.path().join("new.txt"), "new\n");
    clone.commit_all(&author(), "new").unwrap().unwrap();
    let expected = RemoveError::Clone { path: clone.path().to_owned() };
    assert_eq!(place.repository.remove_worktree(&clone, Force::No).unwrap_err(), expected);
    assert!(clone.path().join("new.txt").exists());
    place.repository.fetch_from_clone(&clone, base, None).unwrap();
    delete_directory(clone.path()).unwrap();
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 1, "the sibling's worktree");
}

#[test]
fn what_cannot_be_a_clones_place_is_refused_and_nothing_is_left() {
    let (place, base) = with_history();
    let before = place.snapshot();
    let create = |at: &Path, base| place.repository.create_clone(at, &branch("one"), base).unwrap_err();
    let nowhere: CommitId = "0123456789012345678901234567890123456789".parse().unwrap();
    assert_eq!(create(&place.path().join("run/one"), nowhere), CreateCloneError::NoSuchCommit { commit: nowhere });
    for inside in [place.project().join("one"), place.path().join("run/sibling/one")] {
        assert!(matches!(create(&inside, base), CreateCloneError::Place(CreateError::PlaceInside { .. })));
    }
    let clone = clone_at(&place, "other", base);
    assert!(matches!(
        create(&clone.path().join("one"), base),
        CreateCloneError::Place(CreateError::PlaceInside { .. })
    ));
    delete_directory(clone.path()).unwrap();
    let occupied = place.path().join("run/sibling");
    assert!(matches!(create(&occupied, base), CreateCloneError::Place(CreateError::PlaceOccupied { .. })));
    // A missing object is found in the middle of the operation.
    let blob = place.git(&["rev-parse", &format!("{base}:src/deep/a.rs")]);
    let file = place.project().join(".git/objects").join(&blob[..2]).join(&blob[2..]);
    let contents = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(create(&place.path().join("new/deep/one"), base), CreateCloneError::Git(_)));
    write(&file, contents);
    assert_eq!(place.snapshot(), before);
}

/// Line endings, filters, ignore rules and modes that are set in the user's repository.
#[test]
fn the_files_are_written_as_the_users_are() {
    let place =
        Place::with_files(&[("a.txt", "a\n"), (".gitattributes", "*.upper filter=upper\n"), ("b.upper", "abc\n")]);
    place.git(&["config", "filter.upper.smudge", "tr a-z A-Z"]);
    place.git(&["config", "filter.upper.clean", "tr A-Z a-z"]);
    place.git(&["config", "core.autocrlf", "true"]);
    place.git(&["config", "remote.origin.url", "https://token@example.org/x"]);
    write(&place.project().join(".git/info/exclude"), "ignored\n");
    std::os::unix::fs::symlink("a.txt", place.project().join("link")).unwrap();
    write(&place.project().join("run.sh"), "#!/bin/sh\n");
    place.git(&["add", "--all"]);
    place.git(&["update-index", "--chmod=+x", "run.sh"]);
    place.git(&["commit", "--quiet", "--message", "more"]);
    let clone = clone_at(&place, "one", place.main());
    assert_eq!(std::fs::read_to_string(clone.path().join("b.upper")).unwrap(), "ABC\r\n");
    assert_eq!(std::fs::read_to_string(clone.path().join("a.txt")).unwrap(), "a\r\n");
    assert_eq!(std::fs::read_link(clone.path().join("link")).unwrap(), Path::new("a.txt"));
    write(&clone.path().join("ignored"), "x");
    assert_eq!(git_in(clone.path(), &["status", "--porcelain"]), "");
    assert!(clone.is_clean().unwrap());
    write(&clone.path().join("b.upper"), "XYZ\r\n");
    let head = clone.commit_all(&author(), "filtered").unwrap().unwrap();
    assert_eq!(git_in(clone.path(), &["show", &format!("{head}:b.upper")]), "xyz");
    assert_eq!(git_in(clone.path(), &["status", "--porcelain"]), "");
    assert!(!std::fs::read_to_string(clone.path().join(".git/config")).unwrap().contains("token"));
    assert_sound(clone.path());
}

/// gix cannot be told the setting for one clone. Without it, the clone's files would be committed as they are.
#[test]
fn a_filter_that_a_clone_cannot_have_is_refused() {
    let place = Place::with_files(&[(".gitattributes", "*.upper filter=a=b\n"), ("b.upper", "abc\n")]);
    let clone = clone_at(&place, "one", place.main());
    place.git(&["config", "filter.a=b.clean", "tr A-Z a-z"]);
    let worktree = place.worktree("two");
    write(&worktree.path().join("b.upper"), "XYZ\n");
    let head = worktree.commit_all(&author(), "filtered").unwrap().unwrap();
    assert_eq!(place.git(&["show", &format!("{head}:b.upper")]), "xyz");

    let refused = place.repository.create_clone(place.path().join("three"), &branch("three"), place.main());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("a clone cannot have the section `[filter \"a=b\"]`: name it without a `=`"), "{error}");
    assert!(!place.path().join("three").exists());
    assert!(place.repository.open_clone(clone.path(), &branch("one")).is_err());
}

#[test]
fn a_bare_repository_has_clones_too() {
    let (place, base) = with_history();
    let bare = place.path().join("bare.git");
    place.git(&["clone", "--quiet", "--bare", ".", &bare.display().to_string()]);
    git_in(&bare, &["gc", "--quiet"]);
    let repository = Repository::open(&bare).unwrap();
    let clone = repository.create_clone(place.path().join("run/one"), &branch("agent/one"), base).unwrap();
    assert_sound(clone.path());
    assert_eq!(git_in(clone.path(), &["symbolic-ref", "HEAD"]), "refs/heads/agent/one");
    let head = commit_with_git(clone.path(), &[("a", "a")], "a");
    repository.fetch_from_clone(&clone, base, None).unwrap();
    assert_eq!(git_in(&bare, &["rev-parse", "agent/one"]), head.to_string());
}

#[test]
fn many_are_made_and_fetched_at_once() {
    let (place, base) = with_history();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let place = &place;
            scope.spawn(move || {
                let name = format!("clone-{number}");
                let clone = clone_at(place, &name, base);
                write(&clone.path().join(&name), &name);
                let head = clone.commit_all(&author(), &name).unwrap().unwrap();
                assert_eq!(place.repository.fetch_from_clone(&clone, base, None).unwrap(), head);
                delete_directory(clone.path()).unwrap();
            });
        }
    });
    assert_eq!(place.git(&["branch", "--list", "clone-*"]).lines().count(), 8);
    place.assert_sound();
}
