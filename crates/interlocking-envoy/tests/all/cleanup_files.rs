//! The cleanup in a worktree: which files it examines, which it skips, how it replaces them.

use crate::support::write;
use interlocking_envoy::EMBEDDED;
use interlocking_envoy::cleanup::{Cleanup, CleanupError, CleanupWarning, Extensions, worktree_root};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub(crate) const MARKED: &str = "a\n// [DEBUG-TEMP]\nlog\n\nb\n";
pub(crate) const CLEANED: &str = "a\n\nb\n";

fn git(directory: &Path, words: &[&str]) {
    let mut command = Command::new("git");
    for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        command.env(variable, "/dev/null");
    }
    let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let output = command.args(identity).args(words).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub(crate) fn repository() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    git(place.path(), &["init", "--quiet"]);
    place
}

/// Every file's bytes and permissions; for a link, its target.
fn files(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = std::fs::symlink_metadata(&path).unwrap();
            let content = match (metadata.is_symlink(), metadata.is_dir()) {
                (true, _) => std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(),
                (_, true) => {
                    directories.push(path);
                    continue;
                }
                _ => std::fs::read(&path).unwrap(),
            };
            files.insert(path.strip_prefix(root).unwrap().to_owned(), (content, metadata.mode()));
        }
    }
    files
}

/// ENV-88, ENV-102: skips `.git`, ignored files, binary files, `.claude` with the four protocols, Markdown, extensions that are
/// not listed, other repositories, and targets of links (CON-124, CON-126).
#[test]
fn only_source_files_are_edited() {
    let (place, elsewhere) = (repository(), tempfile::tempdir().unwrap());
    let root = place.path();
    for path in ["src/lib.rs", "web/app.tsx", "new/deep/er/x.go", ".hidden/x.js", "UPPER.RS"] {
        write(&root.join(path), MARKED);
    }
    write(&root.join("tool.py"), MARKED.replace("//", "#"));
    git(root, &["add", "src"]);
    for (name, content) in EMBEDDED {
        write(&root.join(".claude/protocols").join(format!("{name}.yaml")), content);
        write(&root.join("copies").join(format!("{name}.yaml")), content);
    }
    write(&root.join(".claude/hooks/x.rs"), MARKED);
    for path in
        ["README.md", "docs/x.mdx", "notes.txt", "Makefile", "lib.unknown", "rs", ".git/x.rs", ".git/hooks/y.py"]
    {
        write(&root.join(path), MARKED.replace("//", if path.ends_with("py") { "#" } else { "//" }));
    }
    write(&root.join("binary.rs"), [b"\0", MARKED.as_bytes()].concat());
    write(&root.join(".gitignore"), "/target\n*.gen.rs\n");
    write(&root.join("target/debug/x.rs"), MARKED);
    write(&root.join("src/x.gen.rs"), MARKED);
    write(&root.join(".git/info/exclude"), "local.rs\n");
    write(&root.join("local.rs"), MARKED);
    // A worktree of the same repository, and another repository.
    git(root, &["commit", "--quiet", "--message", "x"]);
    git(root, &["worktree", "add", "--quiet", "--detach", "trees/one"]);
    git(root, &["init", "--quiet", "other"]);
    write(&root.join("other/x.rs"), MARKED);
    write(&elsewhere.path().join("x.rs"), MARKED);
    symlink(elsewhere.path().join("x.rs"), root.join("link.rs")).unwrap();
    symlink(elsewhere.path(), root.join("linked")).unwrap();
    symlink("src/lib.rs", root.join("inner.rs")).unwrap();

    let before = files(root);
    let would = Cleanup::new().dry_run().run(root).unwrap();
    assert_eq!(files(root), before, "a dry run changes nothing");
    let report = Cleanup::new().run(root).unwrap();
    let modified =
        [".hidden/x.js", "UPPER.RS", "new/deep/er/x.go", "src/lib.rs", "tool.py", "web/app.tsx"].map(PathBuf::from);
    assert_eq!(report.files_modified, modified);
    assert_eq!(would.files, report.files);
    assert!(report.success && report.failures.is_empty());
    assert_eq!((report.markers_removed, report.lines_removed), (6, 12));

    let mut wanted = before;
    for path in modified {
        wanted.get_mut(&path).unwrap().0 = CLEANED.as_bytes().to_vec();
    }
    assert_eq!(files(root), wanted);
    assert_eq!(std::fs::read_to_string(elsewhere.path().join("x.rs")).unwrap(), MARKED);

    // The other worktree is cleaned up when it is the current one, with the same exclusions.
    let other = root.join("trees/one");
    write(&other.join("local.rs"), MARKED);
    assert_eq!(worktree_root(&other.join("src")).unwrap(), other);
    let report = Cleanup::new().run(&other).unwrap();
    assert_eq!(report.files_modified, [PathBuf::from("src/lib.rs")]);
    assert_eq!(Cleanup::new().run(&root.join("src")), Err(CleanupError::NoWorktree { path: root.join("src") }));
    // For git this directory is no repository either.
    std::fs::create_dir(root.join("src/.git")).unwrap();
    assert_eq!(worktree_root(&root.join("src")).unwrap(), root);
    assert_eq!(Cleanup::new().run(&root.join("src")), Err(CleanupError::NoWorktree { path: root.join("src") }));
}

/// Users may add extensions, except Markdown (CON-126, TC-24).
#[test]
fn extensions_are_configured() {
    let place = repository();
    for path in ["x.tf", "x.v", "x.yaml"] {
        write(&place.path().join(path), "# [DEBUG-TEMP]\nx\n\n// [DEBUG-TEMP]\ny\n\n");
    }
    let mut extensions = Extensions::usual();
    extensions.add("tf=#").unwrap();
    extensions.add(".V=//").unwrap();
    let report = Cleanup::new().with_extensions(extensions.clone()).run(place.path()).unwrap();
    assert_eq!(report.files_modified, [PathBuf::from("x.tf"), PathBuf::from("x.v")]);
    assert_eq!(std::fs::read_to_string(place.path().join("x.tf")).unwrap(), "\n// [DEBUG-TEMP]\ny\n\n");
    for refused in ["", "=", "tf", "tf=--", "=#", "a/b=#", "md=#", "MDX=//", "markdown=#"] {
        assert!(extensions.add(refused).is_err(), "{refused}");
    }
    assert!(Extensions::usual().names().any(|name| name == "rs"));
    assert!(!Extensions::usual().names().any(|name| ["md", "yaml", "yml", "toml", "json"].contains(&name)));
}

/// Replaced by renaming: permissions stay, hard links keep the old content, no temporary file is left; an unmarked file is not
/// even written.
#[test]
fn files_are_replaced_whole() {
    let place = repository();
    let (script, other, untouched) = (place.path().join("x.sh"), place.path().join("link"), place.path().join("y.sh"));
    write(&script, MARKED.replace("//", "#"));
    write(&untouched, "echo\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o751)).unwrap();
    std::fs::hard_link(&script, &other).unwrap();
    let (before, kept) = (std::fs::metadata(&script).unwrap(), std::fs::metadata(&untouched).unwrap());
    assert!(Cleanup::new().run(place.path()).unwrap().success);
    let after = std::fs::metadata(&script).unwrap();
    assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino());
    assert_eq!(std::fs::read_to_string(&script).unwrap(), CLEANED);
    assert_eq!(std::fs::read_to_string(&other).unwrap(), MARKED.replace("//", "#"));
    let same = std::fs::metadata(&untouched).unwrap();
    assert_eq!((same.ino(), same.mtime_nsec(), same.ctime_nsec()), (kept.ino(), kept.mtime_nsec(), kept.ctime_nsec()));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 4, "no temporary file is left");
}

/// Makes a directory at a path of this many bytes, and what `fill` makes in it, whose paths may be longer than the system
/// takes.
fn deep(root: &Path, length: usize, fill: impl Fn(&Path)) -> PathBuf {
    let left = length - root.as_os_str().len();
    // Each half is made by itself. With a separator, a name has 100 bytes, and the last one what is left.
    let names: Vec<String> = (1..left / 100).map(|_| "n".repeat(99)).collect();
    let (above, below) = names.split_at(names.len() / 2);
    let below: PathBuf = below.iter().cloned().chain(["m".repeat(99 + left % 100)]).skip(1).collect();
    let (above, apart) = (root.join(above.iter().collect::<PathBuf>()), root.join("apart"));
    std::fs::create_dir_all(&above).unwrap();
    std::fs::create_dir_all(apart.join(&below)).unwrap();
    fill(&apart.join(&below));
    let joined = above.join("n".repeat(99));
    std::fs::rename(&apart, &joined).unwrap();
    joined.join(below)
}

/// What cannot be read or replaced is reported, the rest is done, and the result is no success. The system takes no path that
/// is too long, from root either.
#[test]
fn what_cannot_be_read_or_replaced_is_told() {
    const LONGEST: usize = if cfg!(target_os = "linux") { 4095 } else { 1023 };
    let place = repository();
    write(&place.path().join("x.rs"), MARKED);
    // A `.gitignore` there has a path of the longest, and the file that replaces another one a longer one.
    let deep = deep(place.path(), LONGEST - "/.gitignore".len(), |directory| {
        write(&directory.join("x.rs"), MARKED);
        write(&directory.join("a-longer-name.rs"), MARKED);
        write(&directory.join("a-directory/x.rs"), MARKED);
    });
    let report = Cleanup::new().run(place.path()).unwrap();
    assert_eq!(std::fs::read_to_string(place.path().join("x.rs")).unwrap(), CLEANED);
    assert_eq!(std::fs::read_to_string(deep.join("x.rs")).unwrap(), MARKED);
    assert_eq!((report.success, report.files_modified), (false, vec![PathBuf::from("x.rs")]));
    let deep = deep.strip_prefix(place.path()).unwrap();
    let failed: Vec<_> = report.failures.iter().map(|failure| failure.path.strip_prefix(deep).unwrap()).collect();
    assert_eq!(failed, ["a-directory", "a-longer-name.rs", "x.rs"].map(Path::new));
}

/// A missing blank line removes real code too: it is removed as specified, and the user is warned (CON-125).
#[test]
fn suspicious_blocks_are_told() {
    let place = repository();
    write(&place.path().join("long.rs"), format!("// [DEBUG-TEMP]\n{}\nb\n", "log\n".repeat(20)));
    write(&place.path().join("end.rs"), "a\n// [DEBUG-TEMP]\nlog\nfn real() {}\n");
    write(&place.path().join("fine.rs"), format!("// [DEBUG-TEMP]\n{}\nb\n", "log\n".repeat(19)));
    write(&place.path().join("stray.rs"), "let x = 1; // [DEBUG-TEMP]\n");
    let report = Cleanup::new().run(place.path()).unwrap();
    assert_eq!(
        report.warnings,
        [
            CleanupWarning::ReachesEnd { path: "end.rs".into(), line: 2, lines: 3 },
            CleanupWarning::LongBlock { path: "long.rs".into(), line: 1, lines: 21 },
            CleanupWarning::NoMarker { path: "stray.rs".into(), line: 1 },
        ]
    );
    assert!(!report.files_modified.contains(&"stray.rs".into()));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// ENV-85: a file without markers is unchanged, byte for byte. ENV-86: a second run removes nothing.
    #[test]
    fn a_second_run_removes_nothing(
        contents in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..64),
            "(a|// \\[DEBUG-TEMP\\]|# \\[DEBUG-TEMP\\]|\r|\n){0,12}".prop_map(String::into_bytes),
        ], 1..8),
    ) {
        let place = repository();
        for (index, content) in contents.iter().enumerate() {
            write(&place.path().join(format!("{index}.{}", ["rs", "py", "php"][index % 3])), content);
        }
        let before = files(place.path());
        let first = Cleanup::new().run(place.path()).unwrap();
        let after = files(place.path());
        for (path, was) in &before {
            prop_assert_eq!(after[path] == *was, !first.files_modified.contains(path), "{}", path.display());
        }
        let second = Cleanup::new().run(place.path()).unwrap();
        prop_assert_eq!((second.markers_removed, second.files_modified.len()), (0, 0));
        prop_assert_eq!(files(place.path()), after);
    }
}

/// The files `.git` of a submodule and of a linked worktree may name git's directory by a relative path, from wherever the process
/// runs. A submodule has no file `commondir`. The rules of `.gitignore` come before those of `info/exclude`.
#[test]
fn what_a_repository_excludes_is_left_alone_in_submodules_and_in_linked_worktrees() {
    let place = repository();
    let root = place.path();
    write(&root.join("x.rs"), "");
    git(root, &["add", "x.rs"]);
    git(root, &["commit", "--quiet", "--message", "x"]);
    git(root, &["worktree", "add", "--quiet", "--detach", "trees/one"]);
    std::fs::create_dir(root.join(".git/modules")).unwrap();
    git(root, &["init", "--quiet", "--separate-git-dir", ".git/modules/sub", "sub"]);
    for (tree, directory, exclude) in [
        ("sub", "../.git/modules/sub", ".git/modules/sub/info/exclude"),
        ("trees/one", "../../.git/worktrees/one", ".git/info/exclude"),
    ] {
        let tree = root.join(tree);
        write(&tree.join(".git"), format!("gitdir: {directory}\n"));
        write(&root.join(exclude), "/local.rs\nlogs/\n*.old.rs\n");
        write(&tree.join(".gitignore"), "!kept.old.rs\n");
        for file in ["local.rs", "logs/x.rs", "a.old.rs", "kept.old.rs", "src/local.rs"] {
            write(&tree.join(file), MARKED);
        }
        let report = Cleanup::new().run(&tree).unwrap();
        assert_eq!(report.files_modified, ["kept.old.rs", "src/local.rs"].map(PathBuf::from), "{directory}");
    }
}
