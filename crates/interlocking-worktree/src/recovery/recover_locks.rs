//! Recovery of what a killed process has left, by the next operation on the repository.
//!
//! [The file that a lock is a hard link to](crate::recovery::lock_file) proves which process a lock belongs to, and
//! [the note](crate::recovery::intent_log) says what was done under it. If a worktree's HEAD has already moved, its
//! index is put in place, too; otherwise its files are rolled back. What another program has changed since is left as
//! it is.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage},
};

use crate::{
    checkout::files::change_files,
    filesystem::{
        directory::{Directory, Kind},
        own_paths::{self, is_absent},
    },
    recovery::{
        abandoned_notes::{AbandonedNote, abandoned_notes},
        intent_log::{Intent, canonical_common_directory},
        lock_file::is_same_file,
        step,
    },
    repository::correct_configuration::correct_configuration,
    status::{attributes::Filters, index},
    untrusted::{self, Limits, file, git_directory::is_of_clone},
    values::git_error::{Doing as _, GitError},
};

/// Releases the locks of dead processes, and recovers the worktrees that they were changing.
pub(crate) fn recover_locks(git: &gix::Repository) -> Result<(), GitError> {
    recover_locks_in(git, &canonical_common_directory(git)?)
}

/// Like [`recover_locks`], for a caller that knows the common directory.
pub(crate) fn recover_locks_in(git: &gix::Repository, common_directory: &Path) -> Result<(), GitError> {
    let is_wanted =
        |intent: &Intent| matches!(intent, Intent::Lock { .. } | Intent::Files { .. } | Intent::Moving { .. });
    for note in abandoned_notes(common_directory, is_wanted)? {
        let note = note?;
        // A process that can write to the repository can forge a note; so a note is only applied to this repository.
        let is_sound = |intent: &Intent| match intent {
            Intent::Lock { lock, .. } => {
                lock.starts_with(common_directory) && is_plain(lock) && lock.extension() == Some("lock".as_ref())
            }
            Intent::Files { git_directory, .. } | Intent::Moving { git_directory, .. } => {
                is_private_directory(common_directory, git_directory)
            }
            Intent::Create { .. } | Intent::Remove { .. } => true,
        };
        if note.intents.iter().all(is_sound) {
            recover(git, common_directory, &note)?;
            note.recovered();
        }
    }
    Ok(())
}

/// Whether this is a directory in which a working tree of the repository keeps its index.
pub(crate) fn is_private_directory(common_directory: &Path, git_directory: &Path) -> bool {
    git_directory == common_directory
        || git_directory.parent() == Some(&common_directory.join("worktrees")) && is_plain(git_directory)
}

/// Whether a path has no `..` or `.`.
fn is_plain(path: &Path) -> bool {
    path.components().all(|part| !matches!(part, std::path::Component::ParentDir | std::path::Component::CurDir))
}

fn recover(git: &gix::Repository, common_directory: &Path, note: &AbandonedNote) -> Result<(), GitError> {
    let ours: Vec<&PathBuf> = note
        .intents
        .iter()
        .filter_map(|intent| match intent {
            Intent::Lock { lock, number } if is_same_file(&note.held(*number), lock) => Some(lock),
            _ => None,
        })
        .collect();
    let mut is_moved = false;
    for intent in &note.intents {
        if let Intent::Moving { git_directory, to } = intent {
            is_moved = finish_move(git, git_directory, *to, &ours)?;
        }
    }
    for intent in &note.intents {
        if let Intent::Files { root, git_directory, tree } = intent
            && !is_moved
            && ours.contains(&&git_directory.join("index.lock"))
        {
            let linked = open_private(git, git_directory)?;
            if linked.workdir().is_some_and(|found| is_same_directory(found, root)) {
                // The user's own working tree is not checked.
                if git_directory != common_directory || is_of_clone(&linked) {
                    untrusted::program::check(&linked, root)?;
                }
                // If the tree has been collected as garbage, it is not known which files were being changed.
                if linked.has_object(*tree) {
                    roll_back(&linked, root, *tree)?;
                }
            }
        }
    }
    for lock in ours {
        match own_paths::remove_file(lock) {
            Err(error) if !is_absent(&error) => return Err(error).doing(|| format!("deleting {}", lock.display())),
            _ => step::reached("a lock is recovered"),
        }
    }
    Ok(())
}

/// Puts the staged index in place if HEAD has moved to `to`. Returns whether it has.
fn finish_move(git: &gix::Repository, git_directory: &Path, to: ObjectId, ours: &[&PathBuf]) -> Result<bool, GitError> {
    let lock = git_directory.join("index.lock");
    // The worktree may have been removed since.
    if !ours.contains(&&lock) {
        return Ok(false);
    }
    let linked = open_private(git, git_directory)?;
    let head = linked.head_id().ok().map(gix::Id::detach);
    if head != Some(to) {
        return Ok(false);
    }
    let resource = git_directory.join("index");
    let limits = Limits::of(&linked);
    let staged = file::read(&lock, file::Kind::Index(limits))?;
    if staged.is_some_and(|staged| untrusted::index::is_whole(&staged.bytes, linked.object_hash(), limits)) {
        own_paths::rename(&lock, &resource).doing(|| format!("replacing {}", resource.display()))?;
        step::reached("an index is recovered");
    }
    Ok(true)
}

/// Opens a worktree by its private directory, with the current configuration.
pub(crate) fn open_private(git: &gix::Repository, git_directory: &Path) -> Result<gix::Repository, GitError> {
    untrusted::git_directory::check(git_directory, Limits::of(git))?;
    let mut opened = gix::open_opts(git_directory, git.open_options().clone().open_path_as_is(true))
        .doing(|| format!("opening {}", git_directory.display()))?;
    correct_configuration(&mut opened)?;
    untrusted::git_directory::check_named_files(&opened)?;
    Ok(opened)
}

fn is_same_directory(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| std::fs::canonicalize(path).ok();
    canonical(one).is_some() && canonical(one) == canonical(other)
}

/// Rolls back the files that were being changed to those of `new_tree`, to what the index says.
///
/// Before the operation, the files were as the index says: otherwise it would have been refused. Now each file is
/// unchanged, deleted, as it was to become, or a part of that. Any other file was changed by another program since, and
/// stays.
fn roll_back(git: &gix::Repository, root: &Path, new_tree: ObjectId) -> Result<(), GitError> {
    let doing = || format!("recovering {}", root.display());
    let mut old = index::read(git, false)?;
    untrusted::tree::check(git, new_tree)?;
    let new = git.index_from_tree(&new_tree).doing(doing)?;
    let (mut old_forms, mut new_forms) = (Forms::of_tree(git, &old)?, Forms::of_tree(git, &new)?);
    let opened = Directory::open(root).doing(doing)?;
    let touched = touched(&old, &new);
    // Outside a sparse checkout, there was nothing.
    let is_sparse = git.config_snapshot().boolean("core.sparseCheckout") == Some(true);
    let version = |index: &gix::index::State, path: &BStr| {
        let entry = index.entry_by_path_and_stage(path, Stage::Unconflicted);
        entry.map(|entry| (entry.id, entry.mode))
    };
    // New files are removed first: their directories may be where files were.
    let mut away = Vec::new();
    for path in &touched {
        let (None, Some(after)) = (version(&old, path.as_bstr()), version(&new, path.as_bstr())) else { continue };
        if after.1 != Mode::COMMIT {
            let form = new_forms.of(path.as_bstr(), after)?;
            let found = Found::at(&opened, path.as_bstr(), form.len()).doing(doing)?;
            if found == Found::Nothing || found.is_part_of(&form) {
                away.push(path.clone());
            }
        }
    }
    change_files(git, root, &mut old, &HashSet::new(), &away)?;
    let mut back = HashSet::new();
    for path in &touched {
        let Some(before) = version(&old, path.as_bstr()) else { continue };
        let after = version(&new, path.as_bstr());
        if before.1 == Mode::COMMIT || after.is_some_and(|(_, mode)| mode == Mode::COMMIT) {
            continue;
        }
        let form = old_forms.of(path.as_bstr(), before)?;
        let after_form = after.map(|version| new_forms.of(path.as_bstr(), version)).transpose()?;
        let longest = form.len().max(after_form.as_ref().map_or(0, Found::len));
        let found = Found::at(&opened, path.as_bstr(), longest).doing(doing)?;
        let is_outside =
            is_sparse && old.entry_by_path(path.as_bstr()).is_some_and(|old| old.flags.contains(Flags::SKIP_WORKTREE));
        let is_ours =
            found == Found::Nothing && !is_outside || after_form.is_some_and(|after| found.is_part_of(&after));
        if found != form && is_ours {
            back.insert(path.clone());
        }
    }
    drop((old_forms, new_forms));
    change_files(git, root, &mut old, &back, &[])
}

/// The paths that differ between the two indexes.
fn touched(old: &gix::index::State, new: &gix::index::State) -> Vec<BString> {
    let same = |one: &gix::index::Entry, other: &gix::index::State, path: &BStr| {
        let other = other.entry_by_path_and_stage(path, Stage::Unconflicted);
        other.is_some_and(|other| other.id == one.id && other.mode == one.mode)
    };
    let mut paths: Vec<BString> = Vec::new();
    for (state, other) in [(old, new), (new, old)] {
        for entry in state.entries() {
            let path = entry.path(state);
            if !entry.flags.contains(Flags::SKIP_WORKTREE) && !same(entry, other, path) {
                paths.push(path.to_owned());
            }
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

/// The contents of a path in the working tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    File { contents: Vec<u8>, is_executable: bool },
    Link { target: Vec<u8> },
    Other,
}

impl Found {
    /// Reads what is at a path. A file longer than `longest` is not read. An empty directory counts as nothing: a file
    /// may take its place.
    pub(crate) fn at(root: &Directory, path: &BStr, longest: u64) -> std::io::Result<Self> {
        let Some((directory, name)) = root.parent_of(path)? else { return Ok(Self::Nothing) };
        let Some(metadata) = directory.metadata(name)? else { return Ok(Self::Nothing) };
        match metadata.kind {
            Kind::Link => Ok(Self::Link { target: directory.read_link(name)? }),
            Kind::Directory if directory.has_empty(name) => Ok(Self::Nothing),
            Kind::File if metadata.size <= longest => Ok(match directory.read(name, longest)? {
                Some(contents) => Self::File { contents, is_executable: metadata.is_executable },
                None => Self::Other,
            }),
            Kind::File | Kind::Directory | Kind::Other => Ok(Self::Other),
        }
    }

    /// The size of a file in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::File { contents, .. } => contents.len() as u64,
            Self::Nothing | Self::Link { .. } | Self::Other => 0,
        }
    }

    /// Whether this is `whole`, or the beginning of writing it. The executable bit is set last.
    fn is_part_of(&self, whole: &Self) -> bool {
        match (self, whole) {
            (Self::File { contents: part, .. }, Self::File { contents: whole, .. }) => whole.starts_with(part),
            _ => self == whole,
        }
    }
}

/// The contents of blobs in a working tree, after the filters.
pub(crate) struct Forms<'git> {
    git: &'git gix::Repository,
    filters: Filters<'git>,
}

impl<'git> Forms<'git> {
    /// With the attributes in the tree of `index`.
    pub(crate) fn of_tree(git: &'git gix::Repository, index: &gix::index::State) -> Result<Self, GitError> {
        Ok(Self { git, filters: Filters::of_index(git, index)? })
    }

    pub(crate) fn of(&mut self, path: &BStr, (id, mode): (ObjectId, Mode)) -> Result<Found, GitError> {
        use std::io::Read as _;
        let doing = || format!("reading {path}");
        let blob = self.git.find_blob(id).doing(doing)?;
        if mode == Mode::SYMLINK {
            return Ok(Found::Link { target: blob.data.clone() });
        }
        let mut form = self.filters.smudge(&blob.data, path).doing(doing)?;
        let mut contents = Vec::new();
        form.read_to_end(&mut contents).doing(doing)?;
        Ok(Found::File { contents, is_executable: mode == Mode::FILE_EXECUTABLE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_deletes_nothing() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("full/empty")).unwrap();
        let opened = Directory::open(place.path()).unwrap();
        let found = |path: &str| Found::at(&opened, path.into(), 0).unwrap();
        assert_eq!((found("full"), found("full/empty"), found("none")), (Found::Other, Found::Nothing, Found::Nothing));
        assert!(place.path().join("full/empty").exists());
    }
}
