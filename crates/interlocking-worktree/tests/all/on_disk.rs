//! Random files in a working tree.

use std::{
    collections::BTreeMap,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::random_history::{Entry, Files};

/// Changes a checkout of `from` to `to` as an editor would. Submodules stay as they are: writing files does not make
/// one.
pub(crate) fn write_files(root: &Path, from: &Files, to: &Files) {
    let at = |path: &[u8]| root.join(std::ffi::OsStr::from_bytes(path));
    for (path, entry) in from {
        if to.get(path) != Some(entry) && !matches!(entry, Entry::Submodule(_)) {
            std::fs::remove_file(at(path)).unwrap();
            // Empty directories stay when a worktree is reset, as in git.
            for parent in at(path).ancestors().skip(1).take_while(|parent| *parent != root) {
                let _ = std::fs::remove_dir(parent);
            }
        }
    }
    for (path, entry) in to {
        if from.get(path) == Some(entry) {
            continue;
        }
        let file = at(path);
        let blocked = file.ancestors().skip(1).take_while(|parent| *parent != root).any(|parent| parent.is_file());
        if blocked || file.symlink_metadata().is_ok() {
            continue;
        }
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        match entry {
            Entry::File { contents, executable } => {
                std::fs::write(&file, contents).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            Entry::Link(target) => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), &file).unwrap(),
            Entry::Submodule(_) => {}
        }
    }
}

/// Leaves uncommitted files: ignored files and the rules that ignore them, a repository, empty directories, other
/// modes, and entries of another kind in place of files. The same number always gives the same files.
pub(crate) fn litter(root: &Path, number: u64) {
    let has = |bit: u64| ((number / 3) >> bit) & 1 == 1;
    // If something is in the way, the file is skipped.
    let put = |path: &str, contents: &str| {
        let file = root.join(path);
        if std::fs::create_dir_all(file.parent().unwrap()).is_ok() {
            let _ = std::fs::write(file, contents);
        }
    };
    let mut tracked: Vec<PathBuf> = files_of(root).into_keys().filter(|path| root.join(path).is_file()).collect();
    tracked.retain(|path| !path.starts_with(".gitattributes"));
    let one = tracked.get(usize::try_from(number).unwrap() % tracked.len().max(1)).map(|path| root.join(path));
    if has(0) {
        put(".gitignore", "*.hidden\nhidden/\n");
        put("src/deep/x.hidden", "ignored\n");
        put("hidden/inside/x", "ignored\n");
    }
    if has(1) {
        put("itself/.gitignore", "*\n");
        put("itself/config.toml", "ignored by itself\n");
    }
    if has(2) {
        put("docs/nested/.git/HEAD", "ref: refs/heads/main\n");
        put("docs/nested/.git/objects/x", "");
        put("docs/nested/.git/refs/x", "");
        put("docs/nested/file", "in a repository\n");
    }
    if has(3) {
        let _ = std::fs::create_dir_all(root.join("src/empty/er"));
    }
    match one {
        Some(file) if has(4) => {
            let mode = if has(5) { 0o755 } else { 0o600 };
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        Some(file) if has(5) => {
            std::fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink("nowhere", &file).unwrap();
        }
        Some(file) => {
            std::fs::remove_file(&file).unwrap();
            std::fs::create_dir_all(file.join("inside")).unwrap();
            std::fs::write(file.join("inside/.gitignore"), "*\n").unwrap();
        }
        None => {}
    }
}

/// Everything below a root except `.git`: the mode, and the contents or target.
pub(crate) fn files_of(root: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let (path, metadata) = (entry.path(), entry.metadata().unwrap());
            if path == root.join(".git") {
                continue;
            }
            let contents = if metadata.is_dir() {
                directories.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()
            } else {
                std::fs::read(&path).unwrap()
            };
            let found_there = (metadata.permissions().mode(), contents.escape_ascii().to_string());
            found.insert(path.strip_prefix(root).unwrap().to_owned(), found_there);
        }
    }
    found
}
