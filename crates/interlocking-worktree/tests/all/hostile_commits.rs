//! What an agent can do to the commits that its clone returns.

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use interlocking_worktree::{CommitId, FetchError, ImportError, Worktree};

use crate::{
    hostile_clones::with_clone,
    judge::{Place, commit_with_git, git_in, run, text},
};

/// Writes an object with git and returns its id.
fn hash_object(root: &Path, kind: &str, contents: &[u8]) -> CommitId {
    let mut child = Command::new("git")
        .args(["hash-object", "--literally", "-t", kind, "-w", "--stdin"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(contents).unwrap();
    text(&child.wait_with_output().unwrap().stdout).trim().parse().unwrap()
}

/// Writes a commit object with this tree and these parents.
fn commit(root: &Path, tree: &str, parents: &[String]) -> CommitId {
    let parents: String = parents.iter().map(|parent| format!("parent {parent}\n")).collect();
    let who = "Eve <eve@example.org> 1700000000 +0000";
    hash_object(root, "commit", format!("tree {tree}\n{parents}author {who}\ncommitter {who}\n\nmade\n").as_bytes())
}

fn refused(place: &Place, clone: &Worktree, base: CommitId) -> FetchError {
    let before = place.snapshot();
    let refused = place.repository.fetch_from_clone(clone, base, None).unwrap_err();
    assert_eq!(place.snapshot(), before);
    refused
}

#[test]
fn commits_that_do_not_stand_on_the_base_are_refused() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let tree = git_in(root, &["rev-parse", "HEAD^{tree}"]);
    // A new root commit, and one that is merged in.
    let orphan = commit(root, &tree, &[]);
    git_in(root, &["update-ref", "refs/heads/one", &orphan.to_string()]);
    let not_descending = |commit| FetchError::Import(ImportError::NotDescending { commit, base });
    assert_eq!(refused(&place, &clone, base), not_descending(orphan));
    let merge = commit(root, &tree, &[base.to_string(), orphan.to_string()]);
    git_in(root, &["update-ref", "refs/heads/one", &merge.to_string()]);
    assert_eq!(refused(&place, &clone, base), not_descending(orphan));
    // A commit that the clone does not have, known by its id.
    for outside in ["main", "main~2"] {
        let outside = place.git(&["rev-parse", outside]);
        let merge = commit(root, &tree, &[base.to_string(), outside]);
        git_in(root, &["update-ref", "refs/heads/one", &merge.to_string()]);
        assert!(matches!(refused(&place, &clone, base), FetchError::Export(_)));
    }
    // A branch that was reset has nothing new.
    git_in(root, &["update-ref", "refs/heads/one", &base.to_string()]);
    assert_eq!(place.repository.fetch_from_clone(&clone, base, None).unwrap(), base);
}

#[test]
fn what_refers_to_objects_of_others_is_refused() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    // A file of a later commit, known by its id, under another name.
    let blob = place.git(&["rev-parse", "main:later.txt"]);
    let mut tree = b"100644 stolen\0".to_vec();
    tree.extend((0..40).step_by(2).map(|at| u8::from_str_radix(&blob[at..at + 2], 16).unwrap()));
    let tree = hash_object(root, "tree", &tree);
    let tip = commit(root, &tree.to_string(), &[base.to_string()]);
    git_in(root, &["update-ref", "refs/heads/one", &tip.to_string()]);
    assert!(matches!(refused(&place, &clone, base), FetchError::Export(_)));
}

/// The clone lies about the contents of its base, so that an object is left out of the export.
#[test]
fn a_forged_object_is_found() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let tip = commit_with_git(root, &[("new.txt", "honest\n")], "new");
    let blob = git_in(root, &["rev-parse", "HEAD:new.txt"]);
    let other = hash_object(root, "blob", b"forged\n").to_string();
    let file = |id: &str| root.join(".git/objects").join(&id[..2]).join(&id[2..]);
    std::fs::remove_file(file(&blob)).unwrap();
    std::fs::copy(file(&other), file(&blob)).unwrap();
    let found = refused(&place, &clone, base);
    assert!(matches!(&found, FetchError::Import(ImportError::Forged { id, .. }) if *id == blob), "{found}");
    assert!(!run(&place.project(), &["cat-file", "-e", &tip.to_string()]).status.success(), "nothing was written");
    // With git's own commands, too.
    git_in(root, &["hash-object", "-w", "new.txt"]);
    git_in(root, &["replace", &base.to_string(), &tip.to_string()]);
    let found = refused(&place, &clone, base);
    assert!(matches!(&found, FetchError::Export(_) | FetchError::Import(_)), "{found}");
}

#[test]
fn trees_that_git_would_not_make_are_refused() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    let blob = git_in(root, &["rev-parse", "HEAD:a.txt"]);
    let blob: Vec<u8> = (0..40).step_by(2).map(|at| u8::from_str_radix(&blob[at..at + 2], 16).unwrap()).collect();
    let entries = |names: &[&str]| -> Vec<u8> {
        names.iter().flat_map(|name| [format!("100644 {name}\0").as_bytes(), &blob].concat()).collect()
    };
    for (what, tree) in [
        ("git's directory", entries(&[".git"])),
        ("git's directory in capitals", entries(&[".GIT"])),
        ("the parent", entries(&[".."])),
        ("a path", entries(&["a/b"])),
        ("an absolute path", entries(&["/etc/passwd"])),
        ("a name twice", entries(&["a", "a"])),
        ("out of order", entries(&["b", "a"])),
        ("no name", entries(&[""])),
        ("a mode of its own", [&b"100666 a\0"[..], &blob].concat()),
        ("cut short", entries(&["a"])[..20].to_vec()),
    ] {
        let tree = hash_object(root, "tree", &tree);
        let tip = commit(root, &tree.to_string(), &[base.to_string()]);
        git_in(root, &["update-ref", "refs/heads/one", &tip.to_string()]);
        let found = refused(&place, &clone, base);
        let is_malformed = matches!(&found, FetchError::Import(ImportError::Malformed { .. }) | FetchError::Export(_));
        assert!(is_malformed, "{what}: {found}");
    }
    let tree = git_in(root, &["rev-parse", &format!("{base}^{{tree}}")]);
    for contents in [
        format!("tree {tree}\nparent {base}\n\nnobody made this\n"),
        format!("tree {tree}\nparent {base}\nauthor a <b> x\ncommitter a <b> 1 +0000\n\nno time\n"),
    ] {
        let tip = hash_object(root, "commit", contents.as_bytes());
        git_in(root, &["update-ref", "refs/heads/one", &tip.to_string()]);
        let found = refused(&place, &clone, base);
        assert!(matches!(&found, FetchError::Import(ImportError::Malformed { .. }) | FetchError::Export(_)), "{found}");
    }
    // No object was imported.
    place.assert_sound();
    let dangling = place.git(&["fsck", "--no-reflogs", "--unreachable"]);
    assert_eq!(dangling, "");
}

/// The clone lies about its base, so that another file of the user's seems to be in it already. The user's repository
/// has that file, but not in the base.
#[test]
fn a_forged_base_does_not_let_others_files_in() {
    let (place, clone, base) = with_clone();
    let root = clone.path();
    // Loose objects can be replaced one by one.
    let pack = std::fs::read_dir(root.join(".git/objects/pack")).unwrap();
    for file in pack.map(|entry| entry.unwrap().path()) {
        let moved = place.path().join(file.file_name().unwrap());
        std::fs::rename(&file, &moved).unwrap();
        if moved.extension().is_some_and(|extension| extension == "pack") {
            let mut unpack = Command::new("git");
            unpack.args(["unpack-objects", "-q"]).current_dir(root).stdin(std::fs::File::open(&moved).unwrap());
            let unpacked = unpack.status().unwrap();
            assert!(unpacked.success());
        }
    }
    let file = |id: &str| root.join(".git/objects").join(&id[..2]).join(&id[2..]);
    let stolen = place.git(&["rev-parse", "main:later.txt"]);
    let mut tree = b"100644 stolen\0".to_vec();
    tree.extend((0..40).step_by(2).map(|at| u8::from_str_radix(&stolen[at..at + 2], 16).unwrap()));
    let tree = hash_object(root, "tree", &tree).to_string();
    let tip = commit(root, &tree, &[base.to_string()]);
    let base_tree = git_in(root, &["rev-parse", &format!("{base}^{{tree}}")]);
    std::fs::remove_file(file(&base_tree)).unwrap();
    std::fs::copy(file(&tree), file(&base_tree)).unwrap();
    git_in(root, &["update-ref", "refs/heads/one", &tip.to_string()]);
    let found = refused(&place, &clone, base);
    // Its tree does not count as new, since the forged base has it; the real base does not.
    assert!(matches!(&found, FetchError::Import(ImportError::Missing { .. })), "{found}");
}
