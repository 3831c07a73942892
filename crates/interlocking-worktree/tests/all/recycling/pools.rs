//! Which worktrees a pool reuses, and which files are written again.

use super::*;

#[test]
fn a_clean_worktree_is_used_again_and_its_files_are_the_same_ones() {
    let place = Place::with_files(&FILES);
    let start = place.main();
    let later = commit_with_git(
        place.worktree("later").path(),
        &[("src/lib.rs", "three\n"), ("new/file.rs", "new\n"), ("tests/all.rs", "")],
        "Later",
    );
    let pool = pool(&place);
    let worktree = pool.create_worktree(place.path().join("run/one"), branch("one"), start).unwrap();
    // An inode number alone may be reused for a new file.
    let number = |root: &Path, file: &str| {
        let found = std::fs::metadata(root.join(file)).unwrap();
        (found.ino(), found.ctime(), found.ctime_nsec())
    };
    let before = FILES.map(|(file, _)| number(worktree.path(), file));
    write(&worktree.path().join("README.md"), "changed\n");
    worktree.commit_all(&author(), "change").unwrap();
    write(&worktree.path().join("out/x.log"), "ignored\n");
    assert!(pool.retire(&worktree, Force::No).unwrap().clean().unwrap());
    assert_eq!((pool.ready().unwrap(), place.repository.worktrees().unwrap().len()), (1, 1));
    place.assert_sound();

    let again = pool.create_worktree(place.path().join("run/two"), branch("two"), later).unwrap();
    for ((file, _), before) in FILES.iter().zip(before) {
        let is_changed = ["README.md", "src/lib.rs", "tests/all.rs"].contains(file);
        assert_eq!(number(again.path(), file) == before, !is_changed, "{file}");
    }
    assert_like_new(&place, &again, later);
    // Reused again, with a detached HEAD.
    assert!(pool.retire(&again, Force::No).unwrap().clean().unwrap());
    let third = pool.create_detached_worktree(place.path().join("run/three"), start).unwrap();
    assert_eq!((third.head().unwrap(), third.branch()), (start, None));
    assert_like_new(&place, &third, start);
}

#[test]
fn a_pool_holds_no_more_than_its_limit_and_nothing_of_strangers() {
    let place = Place::with_files(&FILES);
    let start = place.main();
    let pool = pool(&place);
    let worktrees: Vec<_> = ["one", "two", "three"]
        .map(|name| pool.create_worktree(place.path().join("run").join(name), branch(name), start).unwrap())
        .into();
    let kept: Vec<_> =
        worktrees.iter().map(|worktree| pool.retire(worktree, Force::No).unwrap().clean().unwrap()).collect();
    assert_eq!((kept, pool.ready().unwrap()), (vec![true, true, false], 2));
    // There is no record of the files of a worktree that no pool made.
    let stranger = place.worktree("stranger");
    let empty = Pool::open(&place.repository, place.path().join("other"), 2).unwrap();
    assert!(!empty.retire(&stranger, Force::No).unwrap().clean().unwrap());
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 0);

    // Files that were changed in the pool are not used.
    for item in std::fs::read_dir(pool.directory()).unwrap() {
        let files = item.unwrap().path().join("files");
        if files.is_dir() {
            write(&files.join("README.md"), "tampered\n");
            write(&files.join("src/stray.rs"), "stray\n");
        }
    }
    for name in ["four", "five", "six"] {
        let worktree = pool.create_worktree(place.path().join("run").join(name), branch(name), start).unwrap();
        assert_like_new(&place, &worktree, start);
    }
}

#[test]
fn attributes_and_configuration_decide_whether_files_are_the_same() {
    let place = Place::with_files(&FILES);
    let start = place.main();
    let crlf = commit_with_git(place.worktree("later").path(), &[(".gitattributes", "*.rs text eol=crlf\n")], "Later");
    let pool = pool(&place);
    let one = pool.create_worktree(place.path().join("run/one"), branch("one"), start).unwrap();
    pool.retire(&one, Force::No).unwrap().clean().unwrap();
    let two = pool.create_worktree(place.path().join("run/two"), branch("two"), crlf).unwrap();
    assert_eq!(std::fs::read(two.path().join("src/lib.rs")).unwrap(), b"one\r\ntwo\r\n");
    assert_like_new(&place, &two, crlf);
    pool.retire(&two, Force::No).unwrap().clean().unwrap();
    place.git(&["config", "core.autocrlf", "true"]);
    let three = pool.create_worktree(place.path().join("run/three"), branch("three"), start).unwrap();
    assert_eq!(std::fs::read(three.path().join("README.md")).unwrap(), b"# Project\r\n");
    assert_like_new(&place, &three, start);
}

#[test]
fn the_users_attributes_decide_whether_files_are_the_same() {
    let Some(home) = std::env::var_os("HOME_OF_THE_USER").map(PathBuf::from) else {
        // In a process of its own, whose environment has the paths.
        let home = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "recycling::pools::the_users_attributes_decide_whether_files_are_the_same"])
            .env("HOME_OF_THE_USER", home.path())
            .env("XDG_CONFIG_HOME", home.path().join("settings"))
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && report.contains("1 passed"), "{report}");
        return;
    };
    let place = Place::with_files(&FILES);
    // With the whole configuration of the user, as a runtime opens it.
    let repository = Repository::open(place.project()).unwrap();
    let pool = Pool::open(&repository, place.path().join("pool"), 2).unwrap();
    let one = pool.create_worktree(place.path().join("run/one"), branch("one"), place.main()).unwrap();
    assert!(pool.retire(&one, Force::No).unwrap().clean().unwrap());
    write(&home.join("settings/git/attributes"), "*.rs text eol=crlf\n");
    let two = pool.create_worktree(place.path().join("run/two"), branch("two"), place.main()).unwrap();
    assert_eq!(std::fs::read(two.path().join("src/lib.rs")).unwrap(), b"one\r\ntwo\r\n");
}

#[test]
fn a_file_is_written_again_as_its_kind_and_its_attributes_say() {
    let place = Place::with_files(&FILES);
    let side = place.worktree("side");
    let files = [
        (".gitattributes", "win.txt text eol=crlf\nplain.txt diff=none\nmacro.bin binary\n"),
        ("win.txt", "one\ntwo\n"),
        ("plain.txt", "plain\n"),
        ("macro.bin", "bin\n"),
        ("alone/in/its/directory.txt", "alone\n"),
    ];
    for (file, contents) in files {
        write(&side.path().join(file), contents);
    }
    std::fs::set_permissions(side.path().join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("README.md", side.path().join("link")).unwrap();
    let commit = commit_with_git(side.path(), &[], "Kinds");
    let pool = pool(&place);
    for round in 0..2 {
        let name = format!("round-{round}");
        let worktree = pool.create_worktree(place.path().join("run").join(&name), branch(&name), commit).unwrap();
        assert_like_new(&place, &worktree, commit);
        for (file, _) in &files[1..] {
            write(&worktree.path().join(file), "changed\n");
        }
        std::fs::remove_dir_all(worktree.path().join("alone")).unwrap();
        for file in ["run.sh", "link"] {
            std::fs::remove_file(worktree.path().join(file)).unwrap();
            write(&worktree.path().join(file), "changed\n");
        }
        symlink("/", worktree.path().join("alone")).unwrap();
        assert!(pool.retire(&worktree, Force::DiscardChanges).unwrap().clean().unwrap());
    }
    let last = pool.create_worktree(place.path().join("run/last"), branch("last"), commit).unwrap();
    assert_eq!(std::fs::read(last.path().join("win.txt")).unwrap(), b"one\r\ntwo\r\n");
    assert_like_new(&place, &last, commit);
}

#[test]
fn a_commit_that_is_gone_is_no_commit_though_its_files_were_read() {
    let place = Place::with_files(&FILES);
    let commit = commit_with_git(place.worktree("later").path(), &[("src/lib.rs", "three\n")], "Later");
    let pool = pool(&place);
    for name in ["one", "two", "three"] {
        let worktree = pool.create_worktree(place.path().join("run").join(name), branch(name), commit).unwrap();
        assert!(pool.retire(&worktree, Force::No).unwrap().clean().unwrap());
        place.git(&["branch", "-D", name]);
    }
    place.git(&["worktree", "remove", "--force", place.path().join("run/later").to_str().unwrap()]);
    place.git(&["branch", "-D", "later"]);
    place.git(&["reflog", "expire", "--expire=now", "--all"]);
    place.git(&["gc", "--quiet", "--prune=now"]);
    let made = pool.create_worktree(place.path().join("run/four"), branch("four"), commit);
    assert_eq!(made.unwrap_err(), CreateError::NoSuchCommit { commit });
    assert_eq!(pool.ready().unwrap(), 1);
}

/// A process of the previous user may still know the directory.
#[test]
fn a_link_that_waits_in_a_pool_is_not_written_through() {
    let place = Place::with_files(&FILES);
    let pool = pool(&place);
    let first = pool.create_worktree(place.path().join("run/first"), branch("first"), place.main()).unwrap();
    assert!(pool.retire(&first, Force::No).unwrap().clean().unwrap());
    let item = std::fs::read_dir(pool.directory()).unwrap().map(|entry| entry.unwrap().path());
    let item = item.into_iter().find(|path| path.extension() == Some("ready".as_ref())).unwrap();
    let victim = place.path().join("victim");
    write(&victim, "victim\n");
    symlink(&victim, item.join("files/.git")).unwrap();
    let second = pool.create_worktree(place.path().join("run/second"), branch("second"), place.main()).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "victim\n");
    assert_like_new(&place, &second, place.main());
}

#[test]
fn a_directory_of_somebody_elses_is_no_pool() {
    let place = Place::new();
    let other = Place::new();
    let theirs = place.path().join("theirs");
    write(&theirs.join("precious.txt"), "mine\n");
    let refused = Pool::open(&place.repository, &theirs, 2).unwrap_err();
    assert_eq!(refused, PoolError::NotAPool { directory: theirs.clone() });
    let shared = place.path().join("shared");
    Pool::open(&other.repository, &shared, 2).unwrap();
    assert_eq!(Pool::open(&place.repository, &shared, 2), Err(PoolError::NotAPool { directory: shared }));
    assert!(matches!(Pool::open(&place.repository, place.project().join("pool"), 2), Err(PoolError::Place(_))));
    let pool = pool(&place);
    assert!(matches!(pool.retire(&place.user(), Force::EvenIfLocked), Err(RemoveError::Main { .. })));
    let dirty = pool.create_worktree(place.path().join("run/one"), branch("one"), place.main()).unwrap();
    write(&dirty.path().join("new.txt"), "new\n");
    assert!(matches!(pool.retire(&dirty, Force::No), Err(RemoveError::Dirty { .. })));
    assert!(dirty.path().join("new.txt").exists());
    // Other files in a pool's directory stay.
    write(&pool.directory().join("notes.txt"), "mine\n");
    write(&pool.directory().join("mine.ready/file"), "mine\n");
    Pool::open(&place.repository, pool.directory(), 2).unwrap();
    assert!(pool.directory().join("mine.ready/file").exists() && pool.directory().join("notes.txt").exists());
}

#[test]
fn files_that_are_written_ahead_are_those_of_the_next_worktree() {
    let place = Place::with_files(&FILES);
    let start = place.main();
    let later = commit_with_git(place.worktree("later").path(), &[("src/lib.rs", "three\n")], "Later");
    let pool = pool(&place);
    assert_eq!((pool.prepare(start).unwrap(), pool.prepare(start).unwrap(), pool.ready().unwrap()), (true, true, 2));
    assert!(!pool.prepare(start).unwrap(), "there are as many as the pool holds");
    let before = place.repository.worktrees().unwrap().len();
    let number = |root: &Path, file: &str| std::fs::metadata(root.join(file)).unwrap().ino();
    let items = std::fs::read_dir(pool.directory()).unwrap().map(|item| item.unwrap().path().join("files"));
    let written: Vec<_> = items.filter(|files| files.is_dir()).map(|files| number(&files, "README.md")).collect();
    assert_eq!(written.len(), 2);
    for (name, commit) in [("one", start), ("two", later)] {
        let worktree = pool.create_worktree(place.path().join("run").join(name), branch(name), commit).unwrap();
        assert!(written.contains(&number(worktree.path(), "README.md")), "{name}");
        assert_like_new(&place, &worktree, commit);
    }
    assert_eq!((pool.ready().unwrap(), place.repository.worktrees().unwrap().len()), (0, before + 2));
    let absent = "0123456789012345678901234567890123456789".parse().unwrap();
    assert_eq!(pool.prepare(absent), Err(CreateError::NoSuchCommit { commit: absent }));
    // A filter would run in the main working tree.
    place.git(&["config", "filter.any.clean", "cat"]);
    assert_eq!((pool.prepare(start).unwrap(), pool.ready().unwrap()), (false, 0));
}
