//! A worktree that is made from a retired one is like a new one, whatever its user did before.

mod pools;

use std::{
    collections::BTreeMap,
    os::unix::fs::{MetadataExt as _, PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use interlocking_worktree::{CommitId, CreateError, Force, Pool, PoolError, RemoveError, Repository, Worktree};
use proptest::prelude::*;

use crate::{
    judge::{Place, author, branch, commit_with_git, git_in, run, text, write},
    sample,
};

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

/// Everything that distinguishes working trees, except times and the name of the link.
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

/// Compares the recycled worktree with one that git makes of the same commit.
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
    // Its private directory has only what a new one has, and its log has one line.
    let private = |name: &str| place.project().join(".git/worktrees").join(name);
    let list = |name: &str| {
        let mut names: Vec<_> =
            std::fs::read_dir(private(name)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        // Made by the stash list above, or when it is first used.
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
    /// Other contents of the same length, with the old modification time restored.
    WriteUnseen(usize),
    Delete(usize),
    Mode(usize, u32),
    Link(usize, usize),
    /// A hard link outside, through which the file can be changed later.
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
        // Not for `.gitignore`, about which git complains once it is committed.
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
    // Files that an earlier mess has removed are skipped.
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
            // For this worktree only, without the repository's setting for such files.
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
        // The stash is shared by all worktrees, so it does not matter to the next user; but it moves files.
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
            // The index says that other contents are the committed ones.
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
                // Without a checksum, which git reads as "not computed".
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
    #![proptest_config(ProptestConfig {
        cases: 24 / sample::one_in::<u32>(6),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

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
        // A worktree that its user has taken off its branch is removed, too.
        let is_kept = pool.retire(&worktree, Force::EvenIfLocked).unwrap().clean().unwrap();
        prop_assert_eq!(pool.ready().unwrap(), usize::from(is_kept));
        prop_assert!(!worktree.path().exists());
        let again = pool.create_worktree(place.path().join("run/two"), branch("two"), later).unwrap();
        prop_assert_eq!(pool.ready().unwrap(), 0);
        assert_like_new(&place, &again, later);
    }

    #[test]
    fn a_clone_in_the_place_of_another_is_a_new_one(messes in proptest::collection::vec(mess(), 1..9), is_other in any::<bool>()) {
        let place = Place::with_files(&FILES);
        let start = place.main();
        let later = commit_with_git(
            place.worktree("later").path(),
            if is_other { &[("src/lib.rs", "three\n"), ("new/file.rs", "new\n")] } else { &[("src/lib.rs", "3\n")] },
            "Later",
        );
        let (at, new) = (place.path().join("run/again"), place.path().join("run/new"));
        let (clone, written) = place.repository.create_recyclable_clone(&at, &branch("clone"), start).unwrap();
        for mess in &messes {
            apply(&place, clone.path(), mess);
        }
        let made = place.repository.recycle_clone(&at, &branch("clone"), later, written.unwrap());
        // A worktree with a directory of another mode cannot be reused.
        prop_assert!(made.is_ok() || messes.iter().any(|mess| matches!(mess, Mess::DirectoryMode)), "{:?}", made);
        if let Ok((again, _)) = made {
            place.repository.create_clone(&new, &branch("clone"), later).unwrap();
            prop_assert_eq!(look_inside(again.path()), look_inside(&new));
            prop_assert_eq!(run(&at, &["status", "--porcelain=v2", "--ignored"]).stdout, b"");
            prop_assert!(run(&at, &["fsck", "--strict", "--full"]).status.success());
        }
    }
}

/// Like [`look`], including a clone's `.git`, except for its index, which has the times of files.
fn look_inside(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = look(root);
    let own = look(&root.join(".git")).into_iter().filter(|(name, _)| name != Path::new("index"));
    found.extend(own.map(|(name, entry)| (Path::new(".git").join(name), entry)));
    found
}

/// Untouched files are reused; a file that was written again at about the same time is not.
#[test]
fn untouched_files_of_a_clone_are_used_again() {
    let place = Place::with_files(&FILES);
    let (start, at) = (place.main(), place.path().join("run/again"));
    let (_, mut written) = place.repository.create_recyclable_clone(&at, &branch("clone"), start).unwrap();
    // An inode number alone may be reused for a new file.
    let number = |file: &str| {
        let found = std::fs::metadata(at.join(file)).unwrap();
        (found.ino(), found.ctime(), found.ctime_nsec())
    };
    for _ in 0..3 {
        // At once, with the same length and the old time.
        apply(&place, &at, &Mess::WriteUnseen(1));
        let before = FILES.map(|(file, _)| number(file));
        std::fs::remove_dir_all(at.join(".git")).unwrap();
        symlink(place.project().join(".git"), at.join(".git")).unwrap();
        let made = place.repository.recycle_clone(&at, &branch("clone"), start, written.unwrap()).unwrap();
        written = made.1;
        for ((file, contents), before) in FILES.iter().zip(before) {
            assert_eq!(std::fs::read_to_string(at.join(file)).unwrap(), *contents);
            assert_eq!(number(file) == before, *file != FILES[1].0, "{file}");
        }
        assert!(at.join(".git").symlink_metadata().unwrap().is_dir());
        place.assert_sound();
    }
}
