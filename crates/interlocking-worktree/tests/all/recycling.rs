//! A worktree that is made from a retired one is a new one: whatever its user did before.

use std::{
    collections::BTreeMap,
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use interlocking_worktree::{CommitId, CreateError, Force, Pool, PoolError, RemoveError, Worktree};
use proptest::prelude::*;

use crate::judge::{Place, author, branch, commit_with_git, git_in, run, text, write};

const FILES: [(&str, &str); 7] = [
    (".gitignore", "*.log\nout/\n"),
    ("README.md", "# Project\n"),
    ("run.sh", "#!/bin/sh\n"),
    ("src/lib.rs", "one\ntwo\n"),
    ("src/deep/er/mod.rs", "deep\n"),
    ("src/deep/other.rs", "other\n"),
    ("tests/all.rs", "all\n"),
];

fn pool(place: &Place) -> Pool {
    Pool::open(&place.repository, place.path().join("pool"), 2).unwrap()
}

/// Everything that tells one working tree from another, but the times and the name of the link.
fn look(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    fn walk(root: &Path, directory: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let contents = if name == Path::new(".git") {
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_dir() {
                walk(root, &path, found);
                Vec::new()
            } else {
                assert_eq!(metadata.nlink(), 1, "{}", path.display());
                std::fs::read(&path).unwrap()
            };
            found.insert(name, (metadata.mode(), contents));
        }
    }
    let mut found = BTreeMap::from([(PathBuf::new(), (std::fs::metadata(root).unwrap().mode(), Vec::new()))]);
    walk(root, root, &mut found);
    found
}

/// The recycled worktree beside one that git makes of the same commit.
fn assert_like_new(place: &Place, worktree: &Worktree, from: CommitId) {
    let gits = place.path().join("gits");
    place.git(&["worktree", "add", "--quiet", "--detach", gits.to_str().unwrap(), &from.to_string()]);
    assert_eq!(look(worktree.path()), look(&gits));
    let commands: [&[&str]; 9] = [
        &["status", "--porcelain=v2", "--untracked-files=all", "--ignored"],
        &["ls-files", "--stage", "-v"],
        &["ls-files", "--resolve-undo"],
        &["ls-files", "--others"],
        &["config", "--list", "--worktree"],
        &["for-each-ref", "refs/worktree", "refs/bisect", "refs/rewritten"],
        &["write-tree"],
        &["sparse-checkout", "list"],
        &["stash", "list"],
    ];
    for command in commands {
        let [ours, gits] = [worktree.path(), gits.as_path()].map(|root| {
            let output = run(root, command);
            (output.status.success(), text(&output.stdout))
        });
        assert_eq!(ours, gits, "{command:?}");
    }
    // Nothing in its private directory but what a new one has, and one line in its log.
    let private = |name: &str| place.project().join(".git/worktrees").join(name);
    let list = |name: &str| {
        let mut names: Vec<_> =
            std::fs::read_dir(private(name)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        // Made by the stash list above, or by the time of its first use.
        names.retain(|name| name != "ORIG_HEAD" && name != "refs");
        names
    };
    let name = worktree.name().unwrap();
    assert_eq!(list(name), list("gits"));
    assert_eq!(std::fs::read_to_string(private(name).join("logs/HEAD")).unwrap().lines().count(), 1);
    assert!(worktree.status().unwrap().is_empty());
    place.git(&["worktree", "remove", gits.to_str().unwrap()]);
    place.assert_git_agrees();
}

/// What a user of a worktree may leave behind.
#[derive(Debug, Clone)]
enum Mess {
    Write(usize, u8),
    /// Other contents of the same length, with the old time put back.
    WriteUnseen(usize),
    Delete(usize),
    Mode(usize, u32),
    Link(usize, usize),
    /// A second name outside, through which the file can be changed later.
    SecondName(usize),
    Ignored,
    Untracked(usize),
    Nested,
    Attributes,
    Swap,
    DirectoryMode,
    Hide(usize),
    Stage(usize),
    Commit,
    OtherBranch,
    Detach,
    Configure,
    Operation,
    Stash,
    Sparse,
    Conflict,
    ForgedIndex(usize),
}

fn mess() -> impl Strategy<Value = Mess> {
    let file = 0..FILES.len();
    prop_oneof![
        (file.clone(), any::<u8>()).prop_map(|(file, byte)| Mess::Write(file, byte)),
        file.clone().prop_map(Mess::WriteUnseen),
        file.clone().prop_map(Mess::Delete),
        (file.clone(), prop::sample::select(vec![0o777, 0o600, 0o4755, 0o000]))
            .prop_map(|(file, mode)| Mess::Mode(file, mode)),
        // Not of .gitignore, of which git complains once it is committed.
        (1..FILES.len(), file.clone()).prop_map(|(file, target)| Mess::Link(file, target)),
        file.clone().prop_map(Mess::SecondName),
        Just(Mess::Ignored),
        file.clone().prop_map(Mess::Untracked),
        Just(Mess::Nested),
        Just(Mess::Attributes),
        Just(Mess::Swap),
        Just(Mess::DirectoryMode),
        file.clone().prop_map(Mess::Hide),
        file.clone().prop_map(Mess::Stage),
        Just(Mess::Commit),
        Just(Mess::Configure),
        Just(Mess::Operation),
        Just(Mess::Stash),
        Just(Mess::Sparse),
        Just(Mess::Conflict),
        Just(Mess::OtherBranch),
        Just(Mess::Detach),
        file.prop_map(Mess::ForgedIndex),
    ]
}

fn apply(place: &Place, root: &Path, mess: &Mess) {
    let at = |file: &usize| root.join(FILES[*file].0);
    let git = |arguments: &[&str]| drop(run(root, arguments));
    // What an earlier mess took away cannot be messed with.
    let ready = |file: &usize| std::fs::symlink_metadata(at(file)).is_ok_and(|metadata| metadata.is_file());
    match mess {
        Mess::Write(file, byte) => {
            if let Some(parent) = at(file).parent() {
                let _ = std::fs::create_dir_all(parent);
            }
            let _ = std::fs::write(at(file), [*byte; 9]);
        }
        Mess::WriteUnseen(file) if ready(file) => {
            let time = std::fs::metadata(at(file)).unwrap().modified().unwrap();
            let length = std::fs::metadata(at(file)).unwrap().len() as usize;
            std::fs::write(at(file), vec![b'!'; length]).unwrap();
            std::fs::File::options().append(true).open(at(file)).unwrap().set_modified(time).unwrap();
        }
        Mess::Delete(file) => drop(std::fs::remove_file(at(file))),
        Mess::Mode(file, mode) if ready(file) => {
            std::fs::set_permissions(at(file), PermissionsExt::from_mode(*mode)).unwrap();
        }
        Mess::Link(file, target) => {
            let _ = std::fs::remove_file(at(file));
            let _ = symlink(FILES[*target].0, at(file));
        }
        Mess::SecondName(file) if ready(file) => {
            let _ = std::fs::hard_link(at(file), place.path().join(format!("second-{file}")));
        }
        Mess::Ignored => {
            write(&root.join("out/secret.txt"), "secret\n");
            write(&root.join("debug.log"), "secret\n");
        }
        Mess::Untracked(file) => {
            let _ = std::fs::write(root.join(format!("untracked-{file}")), "untracked\n");
            let _ = std::fs::create_dir_all(root.join("src/empty/directory"));
        }
        Mess::Nested => {
            write(&root.join("vendor/file"), "x\n");
            drop(run(&root.join("vendor"), &["init", "--quiet"]));
        }
        Mess::Attributes => write(&root.join(".gitattributes"), "*.rs text eol=crlf\n"),
        Mess::Swap => {
            let _ = std::fs::rename(root.join("src"), root.join("swap"));
            let _ = std::fs::rename(root.join("tests"), root.join("src"));
            let _ = std::fs::rename(root.join("swap"), root.join("tests"));
        }
        Mess::DirectoryMode => drop(std::fs::set_permissions(root.join("src"), PermissionsExt::from_mode(0o2777))),
        Mess::Hide(file) => {
            git(&["update-index", "--assume-unchanged", FILES[*file].0]);
            git(&["update-index", "--skip-worktree", FILES[(*file + 1) % FILES.len()].0]);
        }
        Mess::Stage(file) => git(&["add", "--force", "--", FILES[*file].0, "out"]),
        Mess::Commit => {
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--message", "mess"]);
        }
        Mess::OtherBranch => git(&["update-ref", "refs/worktree/secret", "HEAD"]),
        Mess::Detach => git(&["bisect", "start"]),
        Mess::Configure => {
            // For this worktree alone, without the repository being told that there is such a thing.
            let private = git_in(root, &["rev-parse", "--absolute-git-dir"]);
            write(&Path::new(&private).join("config.worktree"), "[user]\n\tname = Secret\n");
            write(&Path::new(&private).join("info/exclude"), "hidden\n");
        }
        Mess::Operation => {
            let private = git_in(root, &["rev-parse", "--absolute-git-dir"]);
            for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "FETCH_HEAD", "ORIG_HEAD", "rebase-merge/head-name"] {
                write(&Path::new(&private).join(name), "0123456789012345678901234567890123456789\n");
            }
        }
        // Shared by all worktrees, so not the next user's business either; it moves files about.
        Mess::Stash => {
            git(&["stash", "--quiet", "--all"]);
            git(&["stash", "drop", "--quiet"]);
        }
        Mess::Sparse => {
            let private = git_in(root, &["rev-parse", "--absolute-git-dir"]);
            write(&Path::new(&private).join("info/sparse-checkout"), "/src/\n");
        }
        Mess::Conflict => {
            write(&root.join("conflict"), "x\n");
            git(&["update-index", "--add", "--cacheinfo", "160000,0123456789012345678901234567890123456789,sub"]);
        }
        Mess::ForgedIndex(file) if ready(file) => {
            // The index says of other contents that they are the committed ones.
            let id = git_in(root, &["rev-parse", &format!("HEAD:{}", FILES[*file].0)]);
            std::fs::write(at(file), "forged\n").unwrap();
            git(&["add", "--force", "--", FILES[*file].0]);
            let private = git_in(root, &["rev-parse", "--absolute-git-dir"]);
            let index = Path::new(&private).join("index");
            let forged = git_in(root, &["rev-parse", &format!(":{}", FILES[*file].0)]);
            let bytes = std::fs::read(&index).unwrap();
            let (new, old) = (unhex(&forged), unhex(&id));
            let mut text = bytes.clone();
            let found = bytes.windows(20).position(|window| window == new);
            if let Some(position) = found {
                text[position..position + 20].copy_from_slice(&old);
                // Without a checksum, which git takes for "not computed".
                let end = text.len() - 20;
                text[end..].fill(0);
                std::fs::write(&index, text).unwrap();
            }
        }
        _ => {}
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|byte| u8::from_str_radix(&hex[2 * byte..2 * byte + 2], 16).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_the_former_user_is_left(messes in proptest::collection::vec(mess(), 1..9), is_other in any::<bool>()) {
        let place = Place::with_files(&FILES);
        place.git(&["update-index", "--chmod=+x", "run.sh"]);
        place.git(&["commit", "--quiet", "--message", "Executable"]);
        place.git(&["checkout", "--quiet", "--", "run.sh"]);
        let start = place.main();
        let later = commit_with_git(
            place.worktree("later").path(),
            if is_other { &[("src/lib.rs", "three\n"), ("new/file.rs", "new\n")] } else { &[("src/lib.rs", "3\n")] },
            "Later",
        );
        let pool = pool(&place);
        let worktree = pool.create_worktree(place.path().join("run/one"), branch("one"), start).unwrap();
        for mess in &messes {
            apply(&place, worktree.path(), mess);
        }
        // One that its user took off its branch is removed all the same.
        let is_kept = pool.retire(&worktree, Force::EvenIfLocked).unwrap().clean().unwrap();
        prop_assert_eq!(pool.ready().unwrap(), usize::from(is_kept));
        prop_assert!(!worktree.path().exists());
        let again = pool.create_worktree(place.path().join("run/two"), branch("two"), later).unwrap();
        prop_assert_eq!(pool.ready().unwrap(), 0);
        assert_like_new(&place, &again, later);
    }
}

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
    // A number alone may be used again for a new file.
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
    // A second life, detached.
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
    // Nothing is known of the files of one that no pool made.
    let stranger = place.worktree("stranger");
    let empty = Pool::open(&place.repository, place.path().join("other"), 2).unwrap();
    assert!(!empty.retire(&stranger, Force::No).unwrap().clean().unwrap());
    assert_eq!(std::fs::read_dir(place.path().join("run")).unwrap().count(), 0);

    // What was changed behind its back is not used.
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

/// A process of the former user may still know the directory.
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
    // What lies about in a pool stays there.
    write(&pool.directory().join("notes.txt"), "mine\n");
    write(&pool.directory().join("mine.ready/file"), "mine\n");
    Pool::open(&place.repository, pool.directory(), 2).unwrap();
    assert!(pool.directory().join("mine.ready/file").exists() && pool.directory().join("notes.txt").exists());
}
