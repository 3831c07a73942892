//! Random files in a working tree.

use std::{
    collections::BTreeMap,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::random_history::{Entry, Files};

/// Makes of a checkout of `from` what an editor would make of it on the way to `to`. Submodules stay as they are: nobody
/// makes one by writing files.
pub(crate) fn write_files(root: &Path, from: &Files, to: &Files) {
    let at = |path: &[u8]| root.join(std::ffi::OsStr::from_bytes(path));
    for (path, entry) in from {
        if to.get(path) != Some(entry) && !matches!(entry, Entry::Submodule(_)) {
            std::fs::remove_file(at(path)).unwrap();
            // Empty directories stay when a worktree is reset, as with git.
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

/// Everything below a root but `.git`: the mode, and the contents or target.
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
