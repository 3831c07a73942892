//! A directory with its contents, in memory: to be written again, and to be compared.

use std::{
    collections::BTreeMap,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

/// The contents of a directory, by path below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, Node>);

#[derive(Debug, PartialEq, Eq)]
struct Node {
    mode: u32,
    /// The modification time, in seconds and nanoseconds.
    modified: (i64, i64),
    what: What,
}

#[derive(Debug, PartialEq, Eq)]
enum What {
    Directory,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> Self {
        let mut nodes = BTreeMap::from([(PathBuf::new(), Node::at(root))]);
        let mut waiting = vec![PathBuf::new()];
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(root.join(&directory)).unwrap() {
                let path = directory.join(entry.unwrap().file_name());
                let node = Node::at(&root.join(&path));
                if node.what == What::Directory {
                    waiting.push(path.clone());
                }
                nodes.insert(path, node);
            }
        }
        Self(nodes)
    }

    /// Writes it to a path that does not exist.
    pub(crate) fn write(&self, root: &Path) {
        // A directory comes before its contents.
        for (path, node) in &self.0 {
            let path = root.join(path);
            match &node.what {
                What::Directory => std::fs::create_dir(&path).unwrap(),
                What::File(contents) => std::fs::write(&path, contents).unwrap(),
                What::Link(target) => symlink(target, &path).unwrap(),
                What::Other => unreachable!("a template has none"),
            }
            // Most files have the mode that new files get; only others need a change.
            if matches!(&node.what, What::File(_)) && node.mode & 0o777 != 0o644 {
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(node.mode)).unwrap();
            }
        }
    }

    /// The paths of files, without directories.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter(|(_, node)| matches!(node.what, What::File(_))).map(|(path, _)| path.as_path())
    }
}

impl Node {
    fn at(path: &Path) -> Self {
        let metadata = std::fs::symlink_metadata(path).unwrap();
        let what = if metadata.is_dir() {
            What::Directory
        } else if metadata.is_symlink() {
            What::Link(std::fs::read_link(path).unwrap())
        } else if metadata.is_file() {
            What::File(std::fs::read(path).unwrap())
        } else {
            What::Other
        };
        Self { mode: metadata.mode(), modified: (metadata.mtime(), metadata.mtime_nsec()), what }
    }
}

/// Deletes a directory whatever is in it: inaccessible directories, and directories nested deeper than a process may
/// have files open. Links are not followed.
pub(crate) fn delete(root: &Path) {
    if std::fs::remove_dir_all(root).is_ok() || root.symlink_metadata().is_err() {
        return;
    }
    for (program, argument) in [("chmod", "u+rwx"), ("rm", "--force")] {
        let mut command = std::process::Command::new(program);
        let ended = command.arg("--recursive").arg(argument).arg("--").arg(root).output().unwrap();
        assert!(ended.status.success(), "{program}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}
