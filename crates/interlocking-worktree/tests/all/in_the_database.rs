//! Merges, picks and rebases without a working tree.

use interlocking_worktree::{CherryPickError, ConflictKind, FileKind, MergeError, RebaseError};

use crate::judge::{Place, author, branch, commit_with_git, git_in, path, write};

/// CON-105, CON-135: a wave of branches is combined in the object database, by the operations of each protocol, and
/// main advances once.
#[test]
fn a_wave_is_put_together_away_from_every_tree() {
    let place = Place::new();
    let (repository, base) = (&place.repository, place.main());
    let [one, two, three] = ["one", "two", "three"].map(|name| {
        let worktree = place.worktree(name);
        commit_with_git(worktree.path(), &[(&format!("{name}-a.txt"), "a\n")], "a");
        commit_with_git(worktree.path(), &[(&format!("{name}-b.txt"), "b\n")], "b")
    });
    write(&place.project().join("untracked.txt"), "the user is at work\n");
    let before = place.snapshot();

    let merged = repository.merge_onto(base, one, &author(), "merge: one").unwrap().unwrap();
    let squashed = repository.squash_onto(merged, two, &author(), "squash: two").unwrap().unwrap();
    let picked = repository.cherry_pick_onto(squashed, base..three, &author()).unwrap();
    assert_eq!(place.snapshot(), before, "no reference and no file has changed");
    assert_eq!(repository.commit(merged).unwrap().parents, [base, one]);
    assert_eq!(repository.commit(squashed).unwrap().parents, [merged]);
    assert_eq!(repository.rebase_onto(squashed, base..three, &author()).unwrap(), picked, "the same, at the same time");
    assert_eq!(repository.merge_onto(merged, one, &author(), "again").unwrap(), None);
    assert_eq!(repository.squash_onto(squashed, two, &author(), "again").unwrap(), None);

    repository.fast_forward(&branch("main"), picked[1], base).unwrap();
    let files = ["one", "two", "three"].map(|name| [format!("{name}-a.txt"), format!("{name}-b.txt")]).concat();
    assert!(files.iter().all(|file| place.project().join(file).exists()));
    std::fs::remove_file(place.project().join("untracked.txt")).unwrap();
    place.assert_git_agrees();
}

/// Nothing is left, not even an unreachable object.
#[test]
fn a_conflict_is_data_and_leaves_nothing() {
    let place = Place::new();
    let base = place.main();
    let one = commit_with_git(place.worktree("one").path(), &[("new.txt", "x\n"), ("README.md", "one\n")], "one");
    let two = commit_with_git(place.worktree("two").path(), &[("README.md", "two\n")], "two");
    let before = (place.snapshot(), place.git(&["count-objects", "-v"]));
    let repository = &place.repository;
    let found = [
        match repository.merge_onto(one, two, &author(), "m") {
            Err(MergeError::Conflict { commit, conflicts }) => (commit, conflicts),
            other => panic!("{other:?}"),
        },
        match repository.squash_onto(one, two, &author(), "m") {
            Err(MergeError::Conflict { commit, conflicts }) => (commit, conflicts),
            other => panic!("{other:?}"),
        },
        match repository.cherry_pick_onto(one, base..two, &author()) {
            Err(CherryPickError::Conflict { commit, conflicts }) => (commit, conflicts),
            other => panic!("{other:?}"),
        },
        match repository.rebase_onto(one, base..two, &author()) {
            Err(RebaseError::Conflict { commit, conflicts }) => (commit, conflicts),
            other => panic!("{other:?}"),
        },
    ];
    for (commit, conflicts) in found {
        assert_eq!((commit, conflicts.len()), (two, 1));
        assert_eq!((&conflicts[0].path, conflicts[0].kind), (&path("README.md"), ConflictKind::Content));
        let prompt = conflicts[0].to_prompt();
        for text in ["# Project", "\none\n", "\ntwo\n"] {
            assert!(prompt.contains(text), "{prompt}");
        }
    }
    assert_eq!((place.snapshot(), place.git(&["count-objects", "-v"])), before);
}

/// Renames, and entries of different kinds at one path.
#[test]
fn a_conflict_says_who_renamed_what_and_what_is_in_the_way() {
    let text = |name: &str| (0..20).map(|line| format!("{name} {line}\n")).collect::<String>();
    let (moved, gone, clash) = (text("moved"), text("gone"), text("clash"));
    let place = Place::with_files(&[("moved.txt", &moved), ("gone.txt", &gone), ("clash", &clash)]);
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    git_in(one.path(), &["mv", "moved.txt", "ours.txt"]);
    git_in(two.path(), &["mv", "moved.txt", "theirs.txt"]);
    git_in(one.path(), &["mv", "gone.txt", "kept.txt"]);
    git_in(two.path(), &["rm", "--quiet", "gone.txt"]);
    std::fs::remove_file(one.path().join("clash")).unwrap();
    let ours = commit_with_git(one.path(), &[("clash/inside.txt", "inside\n")], "ours");
    let theirs = commit_with_git(two.path(), &[("clash", &format!("{clash}more\n"))], "theirs");

    let Err(MergeError::Conflict { conflicts, .. }) = place.repository.merge_onto(ours, theirs, &author(), "m") else {
        panic!("it merged");
    };
    let merge_tree = crate::judge::run(&place.project(), &["merge-tree", "--name-only", "--no-messages", "one", "two"]);
    let gits: Vec<_> = crate::judge::text(&merge_tree.stdout).lines().skip(1).map(str::to_owned).collect();
    let found: Vec<_> = conflicts.iter().map(|conflict| conflict.path.to_string()).collect();
    let label = theirs.short();
    assert_eq!(found, gits.iter().map(|path| path.replace("~two", &format!("~{label}"))).collect::<Vec<_>>());

    let of = |name: &str| conflicts.iter().find(|conflict| conflict.path == *name).unwrap();
    for name in ["moved.txt", "ours.txt", "theirs.txt"] {
        let renamed = of(name).renamed.as_ref().unwrap();
        assert_eq!(renamed.from, "moved.txt");
        assert_eq!((&renamed.ours, &renamed.theirs), (&Some(path("ours.txt")), &Some(path("theirs.txt"))));
        assert_eq!(of(name).kind, ConflictKind::Rename);
    }
    let renamed = of("kept.txt").renamed.as_ref().unwrap();
    assert_eq!(
        (renamed.from.to_string(), &renamed.ours, &renamed.theirs),
        ("gone.txt".into(), &Some(path("kept.txt")), &None)
    );
    let aside = of(&format!("clash~{label}"));
    assert_eq!(aside.place, Some(path("clash")));
    assert_eq!(aside.theirs.as_ref().unwrap().contents, format!("{clash}more\n").into_bytes());
    assert!(aside.to_prompt().contains("It belongs at clash"), "{}", aside.to_prompt());
}

#[test]
fn links_modes_and_submodules_are_named_for_what_they_are() {
    let place = Place::with_files(&[("link", "a file\n"), ("run.sh", "#!/bin/sh\n")]);
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    let submodule = |root: &std::path::Path, id: &str| {
        git_in(root, &["update-index", "--add", "--cacheinfo", &format!("160000,{id},library")]);
    };
    std::fs::remove_file(one.path().join("link")).unwrap();
    std::os::unix::fs::symlink("elsewhere", one.path().join("link")).unwrap();
    write(&one.path().join("run.sh"), "#!/bin/sh\necho one\n");
    write(&two.path().join("link"), "another file\n");
    write(&two.path().join("run.sh"), "#!/bin/sh\necho two\n");
    std::fs::set_permissions(two.path().join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for (root, id) in [
        (one.path(), "1111111111111111111111111111111111111111"),
        (two.path(), "2222222222222222222222222222222222222222"),
    ] {
        std::fs::create_dir(root.join("library")).unwrap();
        git_in(root, &["add", "--all"]);
        submodule(root, id);
        git_in(root, &["commit", "--quiet", "--message", "side"]);
    }
    let (ours, theirs) = (one.head().unwrap(), two.head().unwrap());
    let Err(MergeError::Conflict { conflicts, .. }) = place.repository.merge_onto(ours, theirs, &author(), "m") else {
        panic!("it merged");
    };
    let of = |name: &str| conflicts.iter().find(|conflict| conflict.path == *name).unwrap();
    let kinds = |name: &str| [&of(name).ours, &of(name).theirs].map(|side| side.as_ref().map(|side| side.kind));
    assert_eq!(kinds("run.sh"), [Some(FileKind::File), Some(FileKind::Executable)]);
    assert_eq!(kinds("library"), [Some(FileKind::Submodule); 2]);
    assert!(of("library").to_prompt().contains("(submodule): commit 1111111111"), "{}", of("library").to_prompt());
    assert!(
        conflicts.iter().any(|conflict| conflict.ours.as_ref().is_some_and(|side| side.kind == FileKind::SymbolicLink))
    );
}

/// Two histories that were merged into each other both ways have a base that is in no object database.
#[test]
fn a_base_that_is_itself_a_merge_is_read_all_the_same() {
    let place = Place::new();
    let (one, two) = (place.worktree("one"), place.worktree("two"));
    let lines = |first: &str, last: &str| format!("{first}\ntwo\nthree\nfour\n{last}\n");
    let a = commit_with_git(one.path(), &[("src/lib.rs", &lines("A", "five"))], "a");
    let b = commit_with_git(two.path(), &[("src/lib.rs", &lines("one", "B"))], "b");
    git_in(one.path(), &["merge", "--quiet", "--no-ff", "--message", "b", &b.to_string()]);
    git_in(two.path(), &["merge", "--quiet", "--no-ff", "--message", "a", &a.to_string()]);
    let ours = commit_with_git(one.path(), &[("src/lib.rs", &lines("OURS", "B"))], "ours");
    let theirs = commit_with_git(two.path(), &[("src/lib.rs", &lines("THEIRS", "B"))], "theirs");
    let Err(MergeError::Conflict { conflicts, .. }) = place.repository.merge_onto(ours, theirs, &author(), "m") else {
        panic!("it merged");
    };
    assert_eq!(conflicts[0].base.as_ref().unwrap().text(), Some(lines("A", "B").as_str()));
}

/// gix would restore the bit: see `settle.rs`.
#[test]
fn an_executable_bit_that_was_taken_away_stays_away() {
    let text: String = (0..20).map(|line| format!("line {line}\n")).collect();
    for (rename, edits) in [(true, true), (true, false), (false, true)] {
        let place = Place::with_files(&[("run.sh", &text), ("other.sh", "other\n")]);
        let start = place.worktree("start");
        git_in(start.path(), &["update-index", "--chmod=+x", "run.sh"]);
        git_in(start.path(), &["commit", "--quiet", "--message", "executable"]);
        let base = start.head().unwrap();
        let (one, two) = (place.worktree_from("one", base), place.worktree_from("two", base));
        if rename {
            git_in(one.path(), &["mv", "run.sh", "renamed.sh"]);
        }
        let name = if rename { "renamed.sh" } else { "run.sh" };
        let ours = commit_with_git(one.path(), &[(name, &text.replace("line 3\n", "LINE 3\n"))], "ours");
        let changed = if edits { text.replace("line 17\n", "LINE 17\n") } else { text.clone() };
        write(&two.path().join("run.sh"), changed);
        std::fs::set_permissions(two.path().join("run.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o644))
            .unwrap();
        let theirs = commit_with_git(two.path(), &[], "theirs");
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merged = place.repository.squash_onto(ours, theirs, &author(), "m").unwrap().unwrap();
            let gits = place.git(&["merge-tree", "--write-tree", &ours.to_string(), &theirs.to_string()]);
            assert_eq!(place.git(&["rev-parse", &format!("{merged}^{{tree}}")]), gits);
            assert!(place.git(&["ls-tree", &gits, name]).starts_with("100644"));
        }
    }
}

/// gix would find a conflict: see `settle.rs`.
#[test]
fn a_mode_and_the_contents_of_a_binary_file_are_both_taken() {
    for [one_has, two_has] in [["\0one", "\0two"], ["\0two", "\0two"]] {
        let place = Place::with_files(&[("data", "\0one")]);
        let (one, two) = (place.worktree("one"), place.worktree("two"));
        let theirs = commit_with_git(two.path(), &[("data", two_has)], "contents");
        write(&one.path().join("data"), one_has);
        std::fs::set_permissions(one.path().join("data"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let ours = commit_with_git(one.path(), &[], "mode");
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merged = place.repository.merge_onto(ours, theirs, &author(), "m").unwrap().unwrap();
            let gits = place.git(&["merge-tree", "--write-tree", &ours.to_string(), &theirs.to_string()]);
            assert_eq!(place.git(&["rev-parse", &format!("{merged}^{{tree}}")]), gits);
            assert!(place.git(&["ls-tree", &gits, "data"]).starts_with("100755"));
        }
    }
}
