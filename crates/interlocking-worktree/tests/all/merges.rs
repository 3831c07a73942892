use interlocking_worktree::{ConflictKind, MergeError, MessageError};

use crate::judge::{Place, author, commit_with_git, git_in};

/// CON-135: merge commits (with a merge commit even where a fast-forward would do) and squashes, as git makes them.
#[test]
fn merges_and_squashes_are_gits() {
    let place = Place::new();
    let source = place.worktree("source");
    commit_with_git(source.path(), &[("src/lib.rs", "ONE\ntwo\nthree\nfour\nfive\n")], "first");
    let other = commit_with_git(source.path(), &[("new.txt", "new\n")], "second");
    let names = ["merge-ours", "merge-gits", "squash-ours", "squash-gits", "plain-ours", "plain-gits"];
    let [merge, merge_git, squash, squash_git, plain, plain_git] = names.map(|name| place.worktree(name));
    for worktree in [&merge, &merge_git, &squash, &squash_git] {
        commit_with_git(worktree.path(), &[("src/lib.rs", "one\ntwo\nthree\nfour\nFIVE\n")], "ours");
    }
    let id = other.to_string();
    let head = |worktree: &interlocking_worktree::Worktree| git_in(worktree.path(), &["rev-parse", "HEAD"]);

    let made = merge.merge(other, &author(), "merge: both").unwrap().unwrap();
    git_in(merge_git.path(), &["merge", "--quiet", "--no-ff", "--message", "merge: both", &id]);
    assert_eq!(made.to_string(), head(&merge_git));

    let made = squash.squash_merge(other, &author(), "squash: both").unwrap().unwrap();
    git_in(squash_git.path(), &["merge", "--quiet", "--squash", &id]);
    git_in(squash_git.path(), &["commit", "--quiet", "--message", "squash: both"]);
    assert_eq!(made.to_string(), head(&squash_git));

    let made = plain.merge(other, &author(), "merge: no fast-forward").unwrap().unwrap();
    git_in(plain_git.path(), &["merge", "--quiet", "--no-ff", "--message", "merge: no fast-forward", &id]);
    assert_eq!(made.to_string(), head(&plain_git));
    place.assert_git_agrees();

    assert_eq!(merge.merge(other, &author(), "again").unwrap(), None);
    assert_eq!(merge.merge(other, &author(), ""), Err(MessageError::Empty.into()));
    assert_eq!(squash.squash_merge(other, &author(), "again").unwrap(), None, "it would change nothing");
}

#[test]
fn a_conflict_leaves_no_trace() {
    let place = Place::new();
    let other = commit_with_git(place.worktree("source").path(), &[("README.md", "theirs\n")], "theirs");
    let target = place.worktree("target");
    commit_with_git(target.path(), &[("README.md", "ours\n")], "ours");
    let before = place.snapshot();
    let objects = place.git(&["count-objects", "-v"]);
    for result in [target.merge(other, &author(), "m"), target.squash_merge(other, &author(), "m")] {
        let Err(MergeError::Conflict { commit, conflicts }) = result else { panic!("{result:?}") };
        assert_eq!(commit, other);
        assert_eq!((conflicts.len(), conflicts[0].kind), (1, ConflictKind::Content));
        assert_eq!(conflicts[0].path, "README.md");
    }
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["count-objects", "-v"]), objects);
}

#[test]
fn strangers_are_not_merged() {
    let place = Place::new();
    git_in(&place.project(), &["switch", "--quiet", "--orphan", "stranger"]);
    let theirs = commit_with_git(&place.project(), &[("x.txt", "x\n")], "unrelated");
    git_in(&place.project(), &["switch", "--quiet", "main"]);
    let target = place.worktree("target");
    let before = place.snapshot();
    let error = target.merge(theirs, &author(), "m").unwrap_err();
    assert_eq!(error, MergeError::Unrelated { ours: place.main(), theirs });
    assert_eq!(place.snapshot(), before);
}

/// Attributes and a configured driver decide how a file is merged, as with git.
#[test]
fn files_are_merged_as_their_attributes_say() {
    let attributes = "*.union merge=union\n*.ours merge=keep\n*.never -merge\n";
    let place = Place::with_files(&[
        (".gitattributes", attributes),
        ("a.union", "start\n"),
        ("a.ours", "start\n"),
        ("a.never", "one\ntwo\nthree\n"),
    ]);
    place.git(&["config", "merge.keep.driver", "true"]);
    let source = place.worktree("source");
    let other = commit_with_git(source.path(), &[("a.union", "start\ntheirs\n"), ("a.ours", "theirs\n")], "theirs");
    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    for root in [ours.path(), gits.path()] {
        commit_with_git(
            root,
            &[("a.union", "start\nours\n"), ("a.ours", "ours\n"), ("a.never", "1\ntwo\nthree\n")],
            "ours",
        );
    }
    let start = ours.head().unwrap();
    let made = ours.merge(other, &author(), "merged").unwrap().unwrap();
    git_in(gits.path(), &["merge", "--quiet", "--no-ff", "--message", "merged", &other.to_string()]);
    assert_eq!(made.to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
    assert_eq!(std::fs::read_to_string(ours.path().join("a.union")).unwrap(), "start\nours\ntheirs\n");
    assert_eq!(std::fs::read_to_string(ours.path().join("a.ours")).unwrap(), "ours\n");
    // Without a working tree, the attributes of the main one are used, which are the same.
    assert_eq!(place.repository.merge_onto(start, other, &author(), "merged").unwrap(), Some(made));

    let never = commit_with_git(source.path(), &[("a.never", "one\ntwo\n3\n")], "would fit, were it text");
    let Err(MergeError::Conflict { conflicts, .. }) = ours.merge(never, &author(), "m") else { panic!("it merged") };
    assert_eq!(conflicts.len(), 1);
    assert_eq!((conflicts[0].path.to_string(), conflicts[0].kind), ("a.never".to_owned(), ConflictKind::Content));
    place.assert_git_agrees();

    // To git, a failing driver means a conflict. Here it is an error, and nothing has changed either.
    place.git(&["config", "merge.keep.driver", "false"]);
    let before = place.snapshot();
    let failing = commit_with_git(place.worktree_from("failing", start).path(), &[("a.ours", "ours again\n")], "again");
    let error = place.repository.merge_onto(failing, other, &author(), "m").unwrap_err();
    assert!(matches!(&error, MergeError::Git(error) if error.cause().contains("merge driver failed")), "{error}");
    let failing = place.repository.open_worktree(place.path().join("run/failing")).unwrap();
    assert!(matches!(failing.merge(other, &author(), "m"), Err(MergeError::Git(_))));
    let head = failing.head().unwrap();
    place.repository.remove_worktree(&failing, interlocking_worktree::Force::No).unwrap().delete().unwrap();
    place.repository.delete_branch(failing.branch().unwrap(), head).unwrap();
    assert_eq!(place.snapshot(), before);
}
