//! Snapshots: the tree of a commit of all changes, and its index.

use std::{
    collections::{BTreeSet, HashSet},
    io::Read as _,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    filter::plumbing::pipeline::convert::ToGitOutcome,
    index::entry::{Flags, Mode, Stat},
    objs::tree::EntryKind,
};

use crate::{
    filesystem::directory::{Directory, Kind},
    status::{
        attributes::{Filters, Prefer},
        index,
        survey::{Survey, head_tree},
    },
    untrusted::{self, Limits, Refused, tree},
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
        worktree_error::{LargeFile, WorktreeError},
    },
};

/// A tree in the object database, and the index for when that tree is committed.
pub(crate) struct Snapshot {
    pub(crate) tree: ObjectId,
    pub(crate) index: gix::index::File,
    /// Whether the index has exactly the tree's entries: nothing else is staged.
    pub(crate) is_all: bool,
}

/// Where the objects are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// To the repository on disk.
    InRepository,
    /// Only to memory.
    InMemory,
}

/// A path's contents, ready for a tree and an index.
struct Recorded {
    id: ObjectId,
    kind: EntryKind,
    stat: Stat,
}

impl Snapshot {
    /// Writes the objects for the changed paths that are `selected`, and their tree on top of HEAD's.
    ///
    /// The survey must have no conflicts or nested repositories in the selected paths.
    ///
    /// # Errors
    ///
    /// [`WorktreeError::TooLarge`] before anything is written.
    pub(crate) fn of(
        git: &gix::Repository,
        survey: Survey,
        selected: impl Fn(&BStr) -> bool,
        keeping: Keeping,
    ) -> Result<Self, WorktreeError> {
        let root = git.workdir().unwrap_or_else(|| git.git_dir()).to_owned();
        let doing = || format!("recording the files of {}", root.display());
        let Survey { mut index, staged, unstaged, .. } = survey;

        let touched: BTreeSet<BString> =
            staged.keys().chain(unstaged.keys()).filter(|path| selected(path.as_bstr())).cloned().collect();
        let mut editor = git.edit_tree(head_tree(git)?).doing(doing)?;
        let directory = Directory::open(&root).doing(doing)?;
        let read = touched.iter().map(|path| path.as_bstr()).filter(|path| unstaged.contains_key(*path));
        let mut filters = Filters::of_both(git, &index, &directory, read.clone(), Prefer::WorkingTree)?;
        let most = Limits::of(git).object;
        let files = too_large(&directory, read, &mut filters, keeping, most)?;
        if !files.is_empty() {
            return Err(WorktreeError::TooLarge { path: root, most, files });
        }
        let trusts_executable_bit = git.config_snapshot().boolean("core.fileMode") != Some(false);

        // Removals come first: a file that became a directory must make room for its contents.
        let (mut recorded, mut gone) = (Vec::with_capacity(touched.len()), HashSet::new());
        for path in &touched {
            let found = if unstaged.contains_key(path) {
                let known = index.entry_by_path(path.as_bstr()).map(|entry| entry_kind(entry.mode));
                record(git, &directory, path.as_bstr(), &mut filters, &index, most)?.map(|mut found| {
                    let is_file = matches!(found.kind, EntryKind::Blob | EntryKind::BlobExecutable);
                    if !trusts_executable_bit && is_file {
                        let was_executable = known == Some(EntryKind::BlobExecutable);
                        found.kind = if was_executable { EntryKind::BlobExecutable } else { EntryKind::Blob };
                    }
                    found
                })
            } else {
                // The working tree has the same as the index.
                let entry = index.entry_by_path(path.as_bstr());
                let staged =
                    entry.map(|entry| Recorded { id: entry.id, kind: entry_kind(entry.mode), stat: entry.stat });
                if let Some(staged) = &staged {
                    check_staged(git, path.as_bstr(), staged)?;
                }
                staged
            };
            match found {
                Some(found) => recorded.push((path, found)),
                None => {
                    editor.remove(path).doing(doing)?;
                    gone.insert(path.clone());
                }
            }
        }
        for (path, entry) in &recorded {
            editor.upsert(*path, entry.kind, entry.id).doing(doing)?;
        }
        let tree = editor.write().doing(doing)?.detach();
        tree::check(git, tree)?;

        let versions =
            recorded.iter().map(|(path, entry)| (path.as_bstr(), entry.id, Mode::from(entry.kind), entry.stat));
        index::change(&mut index, &gone, versions)?;
        let is_intended = |entry: &gix::index::Entry| entry.flags.contains(Flags::INTENT_TO_ADD);
        let is_all = staged.keys().all(|path| touched.contains(path)) && !index.entries().iter().any(is_intended);
        Ok(Self { tree, index, is_all })
    }
}

/// Files that would have to be read into memory and exceed the limit. With [`Keeping::InMemory`], the limit is for all
/// files together.
fn too_large<'path>(
    root: &Directory,
    paths: impl Iterator<Item = &'path BStr>,
    filters: &mut Filters<'_>,
    keeping: Keeping,
    most: u64,
) -> Result<Vec<LargeFile>, GitError> {
    let (mut files, mut all) = (Vec::new(), 0);
    for path in paths {
        let doing = || format!("looking at {path}");
        let Some((directory, name)) = root.parent_of(path).doing(doing)? else { continue };
        let Some(found) = directory.metadata(name).doing(doing)?.filter(|found| found.kind == Kind::File) else {
            continue;
        };
        all += found.size;
        let is_too_large = found.size > most || keeping == Keeping::InMemory && all > most;
        if is_too_large && !filters.is_driven(path)? {
            files.push(LargeFile { path: RepositoryPath::from_git(path), bytes: found.size });
        }
    }
    Ok(files)
}

/// Writes what is at a path into the object database. None if there is nothing that git tracks.
fn record(
    git: &gix::Repository,
    root: &Directory,
    path: &BStr,
    filters: &mut Filters<'_>,
    index: &gix::index::State,
    most: u64,
) -> Result<Option<Recorded>, GitError> {
    let doing = || format!("recording {path}");
    // If a directory was replaced with a symbolic link, the tracked files below it are gone, whatever the link points
    // to.
    let Some((directory, name)) = root.parent_of(path).doing(doing)? else { return Ok(None) };
    let Some(found) = directory.metadata(name).doing(doing)? else { return Ok(None) };
    untrusted::path::check(path, found.kind == Kind::Link).map_err(|problem| {
        GitError::refused(doing(), Refused::Name { path: path.to_str_lossy().into_owned(), problem })
    })?;
    if found.kind == Kind::Link {
        let target = directory.read_link(name).doing(doing)?;
        let id = git.write_blob(target).doing(doing)?.detach();
        return Ok(Some(Recorded { id, kind: EntryKind::Link, stat: found.stat }));
    }
    // The stat data is read before the contents: a later write then has a later time, and does not look like these
    // contents.
    let Some((file, found)) = directory.file(name).doing(doing)? else { return Ok(None) };
    let id = match filters.clean(file.take(found.size), path, index).doing(doing)? {
        // Another program may be making the file larger.
        ToGitOutcome::Unchanged(contents) => git.write_blob_stream(contents.take(most)),
        ToGitOutcome::Buffer(contents) => git.write_blob(contents),
        ToGitOutcome::Process(contents) => git.write_blob_stream(contents.take(most)),
    };
    let kind = if found.is_executable { EntryKind::BlobExecutable } else { EntryKind::Blob };
    Ok(Some(Recorded { id: id.doing(doing)?.detach(), kind, stat: found.stat }))
}

/// Checks that the blob of an entry that only the index has exists and is a blob.
fn check_staged(git: &gix::Repository, path: &BStr, staged: &Recorded) -> Result<(), GitError> {
    if staged.kind == EntryKind::Commit {
        return Ok(());
    }
    let doing = || format!("recording {path}, which is staged as {}", staged.id);
    match git.try_find_object(staged.id).doing(doing)? {
        Some(found) if found.kind == gix::objs::Kind::Blob => Ok(()),
        Some(found) => Err(GitError::new(doing(), format!("that is a {}", found.kind))),
        None => Err(GitError::new(doing(), "there is no such object: stage it again, or run `git reset`")),
    }
}

fn entry_kind(mode: Mode) -> EntryKind {
    match mode {
        Mode::FILE_EXECUTABLE => EntryKind::BlobExecutable,
        Mode::SYMLINK => EntryKind::Link,
        Mode::COMMIT => EntryKind::Commit,
        _ => EntryKind::Blob,
    }
}
