//! The tree that a commit of everything would have, and the index that goes with it.

use std::{collections::BTreeSet, path::Path};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage, Stat},
    objs::tree::EntryKind,
};

use crate::{
    git_error::{Doing as _, GitError},
    survey::Survey,
};

/// A tree in the object database, and the index as it is once that tree is committed.
pub(crate) struct Snapshot {
    pub(crate) tree: ObjectId,
    pub(crate) index: gix::index::File,
    /// Whether the index has exactly what the tree has: nothing is staged beside it.
    pub(crate) is_all: bool,
}

/// A path's contents, ready for a tree and an index.
struct Recorded {
    id: ObjectId,
    kind: EntryKind,
    stat: Stat,
}

impl Snapshot {
    /// Writes the objects for the changed paths that `selected` takes, and their tree on top of HEAD's.
    ///
    /// The survey must be without conflicts and nested repositories in the selected paths.
    pub(crate) fn of(
        git: &gix::Repository,
        survey: Survey,
        selected: impl Fn(&BStr) -> bool,
    ) -> Result<Self, GitError> {
        let root = git.workdir().unwrap_or_else(|| git.git_dir()).to_owned();
        let doing = || format!("recording the files of {}", root.display());
        let Survey { mut index, staged, unstaged, .. } = survey;

        let touched: BTreeSet<BString> =
            staged.keys().chain(unstaged.keys()).filter(|path| selected(path.as_bstr())).cloned().collect();
        let head_tree = git.head_tree_id_or_empty().doing(doing)?.detach();
        let mut editor = git.edit_tree(head_tree).doing(doing)?;
        let (mut pipeline, pipeline_index) = git.filter_pipeline(None).doing(doing)?;
        let trusts_executable_bit = git.config_snapshot().boolean("core.fileMode") != Some(false);

        // Removals first: a file that became a directory must make room for what is in it.
        let mut recorded = Vec::with_capacity(touched.len());
        for path in &touched {
            if !unstaged.contains_key(path) {
                // The working tree agrees with the index.
                match index.entry_by_path(path.as_bstr()) {
                    Some(entry) => {
                        recorded.push((path, Recorded { id: entry.id, kind: entry_kind(entry.mode), stat: entry.stat }))
                    }
                    None => {
                        editor.remove(path).doing(doing)?;
                    }
                }
                continue;
            }
            if is_below_symbolic_link(&root, path.as_bstr()) {
                editor.remove(path).doing(doing)?;
                continue;
            }
            // Before the contents are read: a later write then has a later time, and is not mistaken for them.
            let stat = stat_of(&root, path.as_bstr()).doing(doing)?;
            let object = pipeline.worktree_file_to_object(path.as_bstr(), &pipeline_index).doing(doing)?;
            match (stat, object) {
                (Some(stat), Some((id, mut kind, _metadata))) => {
                    if !trusts_executable_bit && matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable) {
                        let known = index.entry_by_path(path.as_bstr()).map(|entry| entry_kind(entry.mode));
                        kind = match known {
                            Some(EntryKind::BlobExecutable) => EntryKind::BlobExecutable,
                            _ => EntryKind::Blob,
                        };
                    }
                    recorded.push((path, Recorded { id, kind, stat }));
                }
                _ => {
                    editor.remove(path).doing(doing)?;
                }
            }
        }
        for (path, entry) in &recorded {
            editor.upsert(*path, entry.kind, entry.id).doing(doing)?;
        }
        let tree = editor.write().doing(doing)?.detach();

        index.remove_entries(|_, path, entry| entry.stage() == Stage::Unconflicted && touched.contains(path));
        for (path, entry) in recorded {
            index.dangerously_push_entry(entry.stat, entry.id, Flags::empty(), Mode::from(entry.kind), path.as_bstr());
        }
        index.sort_entries();
        let is_intended = |entry: &gix::index::Entry| entry.flags.contains(Flags::INTENT_TO_ADD);
        let is_all = staged.keys().all(|path| touched.contains(path)) && !index.entries().iter().any(is_intended);
        Ok(Self { tree, index, is_all })
    }
}

fn stat_of(root: &Path, path: &BStr) -> std::io::Result<Option<Stat>> {
    let path = root.join(gix::path::from_bstr(path).map_err(std::io::Error::other)?);
    match gix::index::fs::Metadata::from_path_no_follow(&path) {
        Ok(metadata) => Stat::from_fs(&metadata).map(Some).map_err(std::io::Error::other),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A directory replaced with a symbolic link: what the index has below it is gone, whatever the link leads to.
pub(crate) fn is_below_symbolic_link(root: &Path, path: &BStr) -> bool {
    let mut directory = root.to_owned();
    let mut parts = path.split(|byte| *byte == b'/').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return false;
        }
        let Ok(part) = gix::path::from_bstr(part.as_bstr()) else {
            return true;
        };
        directory.push(part);
        match std::fs::symlink_metadata(&directory) {
            Ok(metadata) if metadata.is_dir() => {}
            _ => return true,
        }
    }
    false
}

pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn entry_kind(mode: Mode) -> EntryKind {
    match mode {
        Mode::FILE_EXECUTABLE => EntryKind::BlobExecutable,
        Mode::SYMLINK => EntryKind::Link,
        Mode::COMMIT => EntryKind::Commit,
        _ => EntryKind::Blob,
    }
}
