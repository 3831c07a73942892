//! What an agent can write into an index, which operations of git and of this crate read first.

use std::path::{Path, PathBuf};

use interlocking_worktree::{CommitError, CommitId, GitError, Refused, Worktree, WorktreeError};

use crate::{
    index_file::{Entry, encode, stat},
    judge::{Place, author, branch, git_in, run, text, write},
};

/// A linked worktree and a clone of one repository, with the paths of their indexes.
fn places() -> (Place, [(Worktree, PathBuf); 2]) {
    let place = Place::with_files(&[("a.txt", "a\n"), ("src/lib.rs", "lib\n")]);
    let linked = place.worktree("linked");
    let clone = place.repository.create_clone(place.path().join("run/clone"), &branch("clone"), place.main()).unwrap();
    let indexes = [place.project().join(".git/worktrees/linked/index"), clone.path().join(".git/index")];
    let [of_linked, of_clone] = indexes;
    (place, [(linked, of_linked), (clone, of_clone)])
}

/// An index entry for the file on disk, at any path.
fn entry(root: &Path, path: &str, stage: u16) -> Entry {
    let contents = std::fs::read(root.join(path)).unwrap_or_default();
    let id = gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, &contents).unwrap();
    let id = id.as_slice().try_into().unwrap();
    Entry { path: path.as_bytes().to_vec(), mode: 0o100_644, id, stage, stat: stat(&root.join(path)) }
}

/// Files that were written at about the same time as the index are always compared by contents.
fn set_later(index: &Path) {
    let file = std::fs::File::options().write(true).open(index).unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(5)).unwrap();
}

fn refused(error: &GitError) -> String {
    match error.reason() {
        Some(Refused::Index { problem, .. }) => problem.clone(),
        _ => panic!("{error}"),
    }
}

fn refused_status(worktree: &Worktree) -> String {
    match worktree.status().unwrap_err() {
        WorktreeError::Git(error) => refused(&error),
        error => panic!("{error}"),
    }
}

/// An entry whose path leads out of the worktree has the stat data of the file there. A status refuses such an index; a
/// reset deletes files of the worktree that are not in the commit, and writes a new index.
#[test]
fn an_entry_that_leads_outside_deletes_nothing() {
    let (place, places) = places();
    let victim = place.path().join("victim/precious.txt");
    write(&victim, "precious\n");
    write(&victim.with_file_name(".git/HEAD"), "ref: refs/heads/main\n");
    for (worktree, index) in places {
        let root = worktree.path();
        for path in ["../../victim/precious.txt", "src/../../../victim/precious.txt"] {
            assert!(root.join(path).exists());
            let mut entries = ["a.txt", "src/lib.rs", path].map(|path| entry(root, path, 0));
            entries.sort_by(|one, other| one.path.cmp(&other.path));
            write(&index, encode(&entries, &[]));
            set_later(&index);
            let problem = refused_status(&worktree);
            assert!(problem.contains(path) && problem.contains("'.' and '..'"), "{problem}");
            assert!(worktree.commit_all(&author(), "x").is_err());
            worktree.reset_to(place.main()).unwrap();
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious\n");
            assert!(worktree.is_clean().unwrap());
            assert_eq!(git_in(root, &["status", "--porcelain"]), "");
        }
    }
}

/// A reset deletes a repository in the place of a tracked file. A repository outside that the stages of an unfinished
/// merge name is not touched.
#[test]
fn stages_of_a_merge_that_lead_outside_delete_nothing() {
    let (place, places) = places();
    let victim = place.path().join("victim");
    write(&victim.join("repository/work.txt"), "work\n");
    write(&victim.join(".git/HEAD"), "ref: refs/heads/main\n");
    git_in(&victim.join("repository"), &["init", "--quiet"]);
    for (worktree, index) in places {
        let root = worktree.path();
        let path = "../../victim/repository";
        let mut entries = vec![entry(root, path, 1), entry(root, path, 2), entry(root, "a.txt", 0)];
        for stage in &mut entries[..2] {
            stage.mode = 0o160_000;
        }
        write(&index, encode(&entries, &[]));
        set_later(&index);
        refused_status(&worktree);
        worktree.reset_to(place.main()).unwrap();
        assert_eq!(std::fs::read_to_string(victim.join("repository/work.txt")).unwrap(), "work\n");
        assert!(victim.join("repository/.git/HEAD").exists());
    }
}

/// The index says that it is of HEAD's tree, but has one entry more: what is staged is reported anyway.
#[test]
fn a_forged_tree_hides_nothing() {
    let (_place, places) = places();
    for (worktree, index) in places {
        let root = worktree.path();
        write(&root.join("sneaked.txt"), "sneaked\n");
        git_in(root, &["add", "sneaked.txt"]);
        let entries = ["a.txt", "sneaked.txt", "src/lib.rs"].map(|path| entry(root, path, 0));
        let tree = git_in(root, &["rev-parse", "HEAD^{tree}"]);
        let tree: Vec<u8> = (0..40).step_by(2).map(|at| u8::from_str_radix(&tree[at..at + 2], 16).unwrap()).collect();
        write(&index, encode(&entries, &[(b"TREE", [b"\x003 0\n", tree.as_slice()].concat())]));
        let status: Vec<_> = worktree.status().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(status, ["sneaked.txt (added)"]);
        let head = worktree.commit_all(&author(), "all").unwrap().unwrap();
        assert_eq!(git_in(root, &["show", "--format=", "--name-only", &head.to_string()]), "sneaked.txt");
    }
}

/// A changed file seems unchanged by its stat data. A reset restores it anyway.
#[test]
fn forged_times_do_not_outlive_a_reset() {
    let (place, places) = places();
    for (worktree, index) in places {
        let root = worktree.path();
        let genuine = ["a.txt", "src/lib.rs"].map(|path| entry(root, path, 0));
        write(&root.join("a.txt"), "b\n");
        let mut forged = genuine;
        forged[0].stat = stat(&root.join("a.txt"));
        write(&index, encode(&forged, &[]));
        set_later(&index);
        assert!(worktree.is_clean().unwrap(), "so git has it too: {}", git_in(root, &["status", "--porcelain"]));
        worktree.reset_to(place.main()).unwrap();
        assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "a\n");
    }
}

/// The index says what is staged, if the object exists.
#[test]
fn what_is_staged_and_not_there_is_not_committed() {
    let (_place, places) = places();
    for (worktree, index) in places {
        let root = worktree.path();
        let head = worktree.head().unwrap();
        write(&root.join("sneaked.txt"), "never written to the object database\n");
        let entries = ["a.txt", "sneaked.txt", "src/lib.rs"].map(|path| entry(root, path, 0));
        write(&index, encode(&entries, &[]));
        set_later(&index);
        let error = worktree.commit_all(&author(), "all").unwrap_err();
        assert!(error.to_string().contains("there is no such object"), "{error}");
        assert_eq!(worktree.head().unwrap(), head);
    }
}

/// Git would write none of these; the error names each, the file, and what to do.
#[test]
fn an_index_that_git_would_not_write_is_refused() {
    let (_place, places) = places();
    for (worktree, index) in places {
        let root = worktree.path();
        let of =
            |paths: &[(&str, u16)]| paths.iter().map(|(path, stage)| entry(root, path, *stage)).collect::<Vec<_>>();
        let with = |path: &str, change: fn(&mut Entry)| {
            let mut entry = entry(root, path, 0);
            change(&mut entry);
            vec![entry]
        };
        for (what, entries) in [
            ("The .git name may never be used", of(&[(".git/config", 0)])),
            ("The .git name may never be used", of(&[("src/.GIT", 0)])),
            ("The .git name may never be used", of(&[(".git\\x", 0)])),
            ("must not be empty", of(&[("/etc/passwd", 0)])),
            ("must not be empty", of(&[("", 0)])),
            ("must not be empty", of(&[("src//lib.rs", 0)])),
            ("is not in order", of(&[("b", 0), ("a", 0)])),
            ("is there twice", of(&[("a", 0), ("a", 0)])),
            ("is merged and not merged", of(&[("a", 0), ("a", 1)])),
            ("lies below a file", of(&[("a", 0), ("a.b", 0), ("a/b", 0)])),
            ("has the mode 100600", with("a", |entry| entry.mode = 0o100_600)),
            ("a sparse directory", with("a", |entry| entry.mode = 0o40_000)),
            ("has no contents", with("a", |entry| entry.id = [0; 20])),
        ] {
            write(&index, encode(&entries, &[]));
            let WorktreeError::Git(error) = worktree.status().unwrap_err() else { panic!("{what}") };
            assert!(refused(&error).contains(what), "{what}: {error}");
            assert!(error.to_string().contains("delete it and run `git reset`"), "{error}");
        }
        let sound = ["a.txt", "src/lib.rs"].map(|path| entry(root, path, 0));
        for (what, extension) in
            [("it is split", b"link"), ("it is sparse", b"sdir"), ("cannot be understood", b"xtra")]
        {
            write(&index, encode(&sound, &[(extension, vec![0; 40])]));
            let WorktreeError::Git(error) = worktree.status().unwrap_err() else { panic!("{what}") };
            assert!(refused(&error).contains(what), "{what}: {error}");
        }
        let whole = encode(&sound, &[]);
        for length in 0..whole.len() {
            write(&index, &whole[..length]);
            assert!(worktree.status().is_err(), "{length} of {} bytes", whole.len());
        }
        // What git itself would ignore is not decoded: these cached trees are thirty thousand levels deep.
        let deep = b"d\x00-1 1\n".repeat(30_000);
        write(&index, encode(&sound, &[(b"TREE", deep), (b"UNTR", vec![255; 100]), (b"ZZZZ", vec![0; 9])]));
        assert!(worktree.is_clean().unwrap());
    }
}

/// Indexes that git writes are read, in each of their versions.
#[test]
fn every_version_that_git_writes_is_read() {
    let (_place, places) = places();
    for (worktree, _) in places {
        let root = worktree.path();
        for version in ["2", "3", "4"] {
            git_in(root, &["update-index", "--index-version", version]);
            write(&root.join("src/new.rs"), version);
            write(&root.join("src/other/new.rs"), version);
            git_in(root, &["add", "--intent-to-add", "src/new.rs"]);
            git_in(root, &["add", "src/other"]);
            let head = worktree.commit_all(&author(), "all").unwrap().unwrap();
            assert_eq!(git_in(root, &["status", "--porcelain"]), "");
            assert_eq!(git_in(root, &["show", &format!("{head}:src/new.rs")]), version);
            git_in(root, &["reset", "--quiet", "--hard", "HEAD~1"]);
        }
    }
}

/// A name that git refuses to commit is an error that names it, and nothing is committed. If an agent commits such a
/// name by other means, it does not get onto a branch.
#[test]
fn names_that_git_refuses_are_not_committed() {
    let (place, places) = places();
    for (worktree, _) in places {
        let root = worktree.path();
        let head = worktree.head().unwrap();
        for name in [".git\\x", "src/git~1", ".git::$INDEX_ALLOCATION"] {
            write(&root.join(name), "x\n");
            write(&root.join("fine.txt"), "x\n");
            let error = worktree.commit_all(&author(), "all").unwrap_err();
            let CommitError::Worktree(WorktreeError::Git(error)) = error else { panic!("{error}") };
            assert!(matches!(error.reason(), Some(Refused::Name { path, .. }) if path == name), "{error}");
            assert!(error.to_string().ends_with("rename it, or ignore it"), "{error}");
            assert_eq!(worktree.head().unwrap(), head);
            std::fs::remove_file(root.join(name)).unwrap();
        }
        let made = worktree.commit_all(&author(), "all").unwrap().unwrap();
        assert!(run(root, &["fsck", "--strict"]).status.success());
        git_in(root, &["reset", "--quiet", "--hard", &head.to_string()]);
        assert_ne!(made, head);
    }
    // With low-level functions, which write anything.
    let git = gix::open_opts(place.project(), gix::open::Options::isolated()).unwrap();
    let blob = git.write_blob("x\n").unwrap().detach();
    let tree = [b"100644 .git\\x\0".as_slice(), blob.as_slice()].concat();
    use gix::objs::Write as _;
    let tree = git.objects.write_buf(gix::objs::Kind::Tree, &tree).unwrap().to_string();
    let bad: CommitId = place.git(&["commit-tree", "-p", "main", "-m", "bad", &tree]).parse().unwrap();
    let good: CommitId =
        place.git(&["commit-tree", "-p", &bad.to_string(), "-m", "good", "main^{tree}"]).parse().unwrap();
    let main = place.main();
    let before = place.snapshot();
    for (what, error) in [
        ("fast-forward", place.repository.fast_forward(&branch("main"), bad, main).unwrap_err().to_string()),
        ("past it", place.repository.fast_forward(&branch("main"), good, main).unwrap_err().to_string()),
        ("merge", place.repository.merge_onto(main, bad, &author(), "m").unwrap_err().to_string()),
        ("pick", place.repository.cherry_pick_onto(main, main..bad, &author()).unwrap_err().to_string()),
        ("rebase", place.repository.rebase_onto(main, main..good, &author()).unwrap_err().to_string()),
        ("diff", place.repository.diff(main, bad).unwrap_err().to_string()),
        ("create", place.repository.create_detached_worktree(place.path().join("run/x"), bad).unwrap_err().to_string()),
        (
            "clone",
            place.repository.create_clone(place.path().join("run/y"), &branch("y"), bad).unwrap_err().to_string(),
        ),
    ] {
        assert!(error.contains("is not one that git makes") && error.contains(".git"), "{what}: {error}");
    }
    assert_eq!(place.snapshot(), before);
    let clone = std::process::Command::new("git")
        .args(["clone", "--quiet"])
        .args([place.project(), place.path().join("cloned")])
        .output()
        .unwrap();
    assert!(clone.status.success(), "{}", text(&clone.stderr));
}
