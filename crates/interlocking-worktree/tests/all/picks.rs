use interlocking_worktree::{CherryPickError, ConflictKind, ConflictSide, FileKind, SwitchError};

use crate::judge::{Place, author, commit_with_git, git_in, path, run, write};

/// CON-75: the whole range is picked, each commit with its author and message. The ids are the same as git's.
#[test]
fn a_range_is_picked_as_git_does() {
    let place = Place::new();
    let base = place.main();
    let source = place.worktree("source");
    commit_with_git(source.path(), &[("tests/a.rs", "a\n")], "tests: a\n\nBody.\n\nSession: r1");
    commit_with_git(
        source.path(),
        &[("src/lib.rs", "ONE\ntwo\nthree\nfour\nfive\n"), ("tests/b.rs", "b\n")],
        "tests: b",
    );
    std::fs::remove_file(source.path().join("tests/a.rs")).unwrap();
    std::os::unix::fs::symlink("b.rs", source.path().join("tests/c.rs")).unwrap();
    let tip = commit_with_git(source.path(), &[], "tests: c");

    let (ours, gits) = (place.worktree("ours"), place.worktree("gits"));
    for root in [ours.path(), gits.path()] {
        commit_with_git(root, &[("src/lib.rs", "one\ntwo\nthree\nfour\nFIVE\n"), ("other.txt", "x\n")], "impl");
        write(&root.join("untracked.txt"), "not in the way\n");
    }
    let picked = ours.cherry_pick(base..tip, &author()).unwrap();
    git_in(gits.path(), &["cherry-pick", &format!("{base}..{tip}")]);
    assert_eq!(picked.len(), 3);
    assert_eq!(picked[2].to_string(), git_in(gits.path(), &["rev-parse", "HEAD"]));
    assert_eq!(ours.head().unwrap(), picked[2]);
    assert_eq!(git_in(ours.path(), &["status", "--porcelain"]), "?? untracked.txt");
    assert_eq!(std::fs::read_to_string(ours.path().join("src/lib.rs")).unwrap(), "ONE\ntwo\nthree\nfour\nFIVE\n");
    for root in [ours.path(), gits.path()] {
        std::fs::remove_file(root.join("untracked.txt")).unwrap();
    }
    // The source is not touched.
    assert_eq!(source.head().unwrap(), tip);
    place.assert_git_agrees();
}

#[test]
fn authors_stay_and_signatures_go() {
    let place = Place::new();
    let base = place.main();
    let source = place.worktree("source");
    write(&source.path().join("new.txt"), "new\n");
    git_in(source.path(), &["add", "--all"]);
    git_in(
        source.path(),
        &[
            "-c",
            "i18n.commitEncoding=ISO-8859-1",
            "commit",
            "--quiet",
            "--author",
            "Bob <bob@example.org>",
            "--date",
            "1600000000 +0200",
            "--message",
            "by Bob",
        ],
    );
    let tip = source.head().unwrap();
    let target = place.worktree("target");
    commit_with_git(target.path(), &[("x", "x")], "x");
    let picked = target.cherry_pick(base..tip, &author()).unwrap()[0];
    let shown =
        place.git(&["show", "--no-patch", "--date=raw", "--format=%an %ae %ad|%cn %cd|%s", &picked.to_string()]);
    assert_eq!(shown, "Bob bob@example.org 1600000000 +0200|Ada 1700000000 +0000|by Bob");
    assert!(place.git(&["cat-file", "commit", &picked.to_string()]).contains("\nencoding ISO-8859-1\n"));
    place.assert_git_agrees();
}

#[test]
fn what_is_there_already_makes_no_commit() {
    let place = Place::new();
    let base = place.main();
    let source = place.worktree("source");
    commit_with_git(source.path(), &[("a.txt", "a\n")], "a");
    let tip = commit_with_git(source.path(), &[("b.txt", "b\n")], "b");
    let target = place.worktree("target");
    commit_with_git(target.path(), &[("a.txt", "a\n")], "the same");
    let picked = target.cherry_pick(base..tip, &author()).unwrap();
    assert_eq!(picked.len(), 1);
    assert_eq!(target.cherry_pick(base..tip, &author()).unwrap(), []);
    assert_eq!(target.cherry_pick(tip..tip, &author()).unwrap(), []);
    assert_eq!(target.head().unwrap(), picked[0]);
    place.assert_git_agrees();
}

/// The second of two commits conflicts, in several ways; nothing remains of the attempt.
#[test]
fn a_conflict_leaves_no_trace() {
    let place = Place::with_files(&[
        ("both.txt", "one\ntwo\n"),
        ("we-delete.txt", "a\n"),
        ("they-delete.txt", "a\n"),
        ("binary", "\0a"),
        ("calm.txt", "calm\n"),
    ]);
    let base = place.main();
    let source = place.worktree("source");
    commit_with_git(source.path(), &[("calm.txt", "calmer\n")], "fits");
    std::fs::remove_file(source.path().join("they-delete.txt")).unwrap();
    let theirs = [
        ("both.txt", "theirs\ntwo\n"),
        ("we-delete.txt", "theirs\n"),
        ("new.txt", "theirs\n"),
        ("binary", "\0t"),
        ("fits.txt", "fits\n"),
    ];
    let tip = commit_with_git(source.path(), &theirs, "conflicts");
    let target = place.worktree("target");
    std::fs::remove_file(target.path().join("we-delete.txt")).unwrap();
    let ours = [("both.txt", "ours\ntwo\n"), ("they-delete.txt", "ours\n"), ("new.txt", "ours\n"), ("binary", "\0o")];
    commit_with_git(target.path(), &ours, "ours");

    let objects = place.git(&["count-objects", "-v"]);
    let before = place.snapshot();
    let error = target.cherry_pick(base..tip, &author()).unwrap_err();
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["count-objects", "-v"]), objects, "not even an object is written");

    let CherryPickError::Conflict { commit, conflicts } = error else { panic!("{error}") };
    assert_eq!(commit, tip);
    let found: Vec<_> = conflicts.iter().map(|conflict| (conflict.path.to_string(), conflict.kind)).collect();
    let expected = [
        ("binary", ConflictKind::Content),
        ("both.txt", ConflictKind::Content),
        ("new.txt", ConflictKind::BothAdded),
        ("they-delete.txt", ConflictKind::DeletedByThem),
        ("we-delete.txt", ConflictKind::DeletedByUs),
    ];
    assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    let both = &conflicts[1];
    let texts = [&both.base, &both.ours, &both.theirs].map(|side| side.as_ref().unwrap().text());
    assert_eq!(texts, [Some("one\ntwo\n"), Some("ours\ntwo\n"), Some("theirs\ntwo\n")]);
    let read = |side: &Option<ConflictSide>| place.repository.read_blob(side.as_ref().unwrap().blob).unwrap();
    assert_eq!(read(&both.ours), b"ours\ntwo\n");
    assert_eq!((&conflicts[4].ours, &conflicts[3].theirs, &conflicts[2].base), (&None, &None, &None));
    let binary = conflicts[0].ours.as_ref().unwrap();
    assert_eq!((binary.text(), binary.contents.as_slice(), binary.kind), (None, &b"\0o"[..], FileKind::File));

    // The text and the sides are those that git leaves.
    git_in(target.path(), &["-c", "advice.mergeConflict=false", "cherry-pick", &format!("{tip}~1")]);
    let git = run(target.path(), &["cherry-pick", &tip.to_string()]);
    assert!(!git.status.success());
    let marked = String::from_utf8(both.marked.clone().unwrap()).unwrap();
    let with_short_id = |text: &str| text.replace(&tip.to_string()[..10], "ID").replace(&tip.to_string()[..7], "ID");
    let gits = std::fs::read_to_string(target.path().join("both.txt")).unwrap();
    assert_eq!(with_short_id(&marked), with_short_id(&gits));
    let unmerged: Vec<String> = git_in(target.path(), &["ls-files", "--unmerged"]).lines().map(str::to_owned).collect();
    let mut ours = Vec::new();
    for conflict in &conflicts {
        for (stage, side) in [&conflict.base, &conflict.ours, &conflict.theirs].into_iter().enumerate() {
            if let Some(side) = side {
                ours.push(format!("100644 {} {}\t{}", side.blob, stage + 1, conflict.path));
            }
        }
    }
    assert_eq!(ours, unmerged);
}

#[test]
fn a_dirty_worktree_is_left_alone() {
    let place = Place::new();
    let base = place.main();
    let tip = commit_with_git(place.worktree("source").path(), &[("new.txt", "new\n")], "new");
    let target = place.worktree("target");
    write(&target.path().join("README.md"), "uncommitted\n");
    let before = place.snapshot();
    let objects = place.git(&["count-objects", "-v"]);
    match target.cherry_pick(base..tip, &author()).unwrap_err() {
        CherryPickError::Switch(SwitchError::Dirty { path: at, changes }) => {
            assert_eq!(at, target.path());
            assert_eq!(changes[0].path, path("README.md"));
        }
        other => panic!("{other}"),
    }
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.git(&["count-objects", "-v"]), objects);
    git_in(target.path(), &["checkout", "--quiet", "README.md"]);
    write(&target.path().join("new.txt"), "in the way\n");
    let error = target.cherry_pick(base..tip, &author()).unwrap_err();
    assert!(
        matches!(&error, CherryPickError::Switch(SwitchError::InTheWay { paths, .. }) if paths[0] == "new.txt"),
        "{error}"
    );
}

#[test]
fn only_a_line_of_commits_can_be_picked() {
    let place = Place::new();
    let base = place.main();
    let one = place.worktree("one");
    let side = commit_with_git(one.path(), &[("a.txt", "a\n")], "side");
    let two = place.worktree("two");
    commit_with_git(two.path(), &[("b.txt", "b\n")], "b");
    git_in(two.path(), &["merge", "--quiet", "--no-ff", "--message", "merged", &side.to_string()]);
    let merged = two.head().unwrap();
    let target = place.worktree("target");
    let before = place.snapshot();
    let error = target.cherry_pick(base..merged, &author()).unwrap_err();
    assert_eq!(error, CherryPickError::MergeCommit { commit: merged });
    let error = target.cherry_pick(merged..side, &author()).unwrap_err();
    assert_eq!(error, CherryPickError::NotARange { base: merged, tip: side });
    assert_eq!(place.snapshot(), before);
}

/// The operations for CON-73: a conflict is written out for an agent to resolve, and the runtime commits the result.
#[test]
fn a_conflict_is_laid_out_and_resolved() {
    let place = Place::new();
    let source = place.worktree("source");
    let tip = commit_with_git(source.path(), &[("README.md", "theirs\n"), ("new.txt", "new\n")], "theirs");
    let target = place.worktree("target");
    let head = commit_with_git(target.path(), &[("README.md", "ours\n")], "ours");
    let conflicts = target.pick_for_resolution(tip).unwrap();
    assert_eq!(conflicts.len(), 1);
    let file = target.path().join("README.md");
    let expected = format!("<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> {} (theirs)\n", tip.short());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
    assert_eq!(conflicts[0].marked.as_deref(), Some(expected.as_bytes()));
    assert_eq!(target.head().unwrap(), head);
    let changed: Vec<_> = target.status().unwrap().into_iter().map(|change| change.path.to_string()).collect();
    assert_eq!(changed, ["README.md", "new.txt"]);
    place.assert_sound();

    write(&file, "both\n");
    let resolved = target.commit_all(&author(), "merge: resolved").unwrap().unwrap();
    assert_eq!(place.git(&["diff", "--name-only", &head.to_string(), &resolved.to_string()]), "README.md\nnew.txt");
    place.assert_git_agrees();

    // It refuses what a pick refuses.
    write(&file, "uncommitted\n");
    let before = place.snapshot();
    let error = target.pick_for_resolution(tip).unwrap_err();
    assert!(matches!(error, CherryPickError::Switch(SwitchError::Dirty { .. })), "{error}");
    assert_eq!(place.snapshot(), before);
}

/// Conflicts without markers: the side that has the file, and ours of a binary file.
#[test]
fn a_conflict_without_markers_leaves_one_side() {
    let place = Place::with_files(&[("we-delete.txt", "a\n"), ("they-delete.txt", "a\n"), ("binary", "\0a")]);
    let source = place.worktree("source");
    std::fs::remove_file(source.path().join("they-delete.txt")).unwrap();
    let tip = commit_with_git(source.path(), &[("we-delete.txt", "theirs\n"), ("binary", "\0theirs")], "theirs");
    let target = place.worktree("target");
    std::fs::remove_file(target.path().join("we-delete.txt")).unwrap();
    commit_with_git(target.path(), &[("they-delete.txt", "ours\n"), ("binary", "\0ours")], "ours");
    let conflicts = target.pick_for_resolution(tip).unwrap();
    assert_eq!(conflicts.len(), 3);
    assert!(conflicts.iter().all(|conflict| conflict.marked.is_none()));
    let read = |name: &str| std::fs::read_to_string(target.path().join(name)).unwrap();
    let left = ["we-delete.txt", "they-delete.txt", "binary"].map(read);
    assert_eq!(left, ["theirs\n", "ours\n", "\0ours"]);
    place.assert_sound();
}
