//! The tree that a commit of everything would have, and the index that goes with it.

use std::{collections::BTreeSet, path::Path};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage, Stat},
    objs::tree::EntryKind,
    worktree::stack::state::attributes::Source,
};

use crate::{
    files::on_disk,
    git_error::{Doing as _, GitError},
    survey::{Survey, head_tree},
    untrusted::{self, Limits, Refused, tree},
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
        let mut editor = git.edit_tree(head_tree(git)?).doing(doing)?;
        let pipeline_index = index.clone();
        let attributes = git.attributes_only(&pipeline_index, Source::WorktreeThenIdMapping).doing(doing)?.detach();
        let mut pipeline = gix::filter::Pipeline::new(git, attributes).doing(doing)?;
        let limits = Limits::of(git);
        let trusts_executable_bit = git.config_snapshot().boolean("core.fileMode") != Some(false);

        // Removals first: a file that became a directory must make room for what is in it.
        let mut recorded = Vec::with_capacity(touched.len());
        for path in &touched {
            if !unstaged.contains_key(path) {
                // The working tree agrees with the index.
                match index.entry_by_path(path.as_bstr()) {
                    Some(entry) => {
                        let kind = entry_kind(entry.mode);
                        check_staged(git, path.as_bstr(), kind, entry.id)?;
                        recorded.push((path, Recorded { id: entry.id, kind, stat: entry.stat }))
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
            check_fit(&root, path.as_bstr(), limits)?;
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
        tree::check(git, tree)?;

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

/// What is on disk is fit for a commit: by its name, and by its size.
fn check_fit(root: &Path, path: &BStr, limits: Limits) -> Result<(), GitError> {
    let doing = || format!("recording the files of {}", root.display());
    let file = on_disk(root, path);
    let found = match std::fs::symlink_metadata(&file) {
        Err(error) if is_absent(&error) => return Ok(()),
        found => found.doing(doing)?,
    };
    let refused = |refused| GitError::refused(doing(), refused);
    untrusted::path::check(path, found.is_symlink())
        .map_err(|problem| refused(Refused::Name { path: path.to_str_lossy().into_owned(), problem }))?;
    if found.is_file() && found.len() > limits.object {
        let (bytes, most, limit) = (found.len(), limits.object, "object");
        return Err(refused(Refused::TooLarge { path: file, bytes, most, limit }));
    }
    Ok(())
}

/// What the index alone says of a file is there, and what it should be.
fn check_staged(git: &gix::Repository, path: &BStr, kind: EntryKind, id: ObjectId) -> Result<(), GitError> {
    if kind == EntryKind::Commit {
        return Ok(());
    }
    let doing = || format!("recording {path}, which is staged as {id}");
    match git.try_find_object(id).doing(doing)? {
        Some(found) if found.kind == gix::objs::Kind::Blob => Ok(()),
        Some(found) => Err(GitError::new(doing(), format!("that is a {}", found.kind))),
        None => Err(GitError::new(doing(), "there is no such object: stage it again, or run `git reset`")),
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
