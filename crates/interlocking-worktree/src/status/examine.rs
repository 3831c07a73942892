//! The comparison behind a [survey](crate::status::survey): HEAD with the index, and the index with the working tree.
//!
//! gix can compare these too, but opens files by their paths: it blocks on a pipe, or reads the target of a link that
//! has replaced a file. Here everything is read in [open directories](crate::filesystem::directory); gix only converts
//! contents as on the way into the repository.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    sync::atomic::AtomicBool,
};

use gix::{
    ObjectId,
    bstr::{BStr, BString},
    filter::plumbing::pipeline::convert::ToGitOutcome,
    index::entry::{Flags, Mode, Stage, Stat},
    objs::Kind as ObjectKind,
    status::tree_index::TrackRenames,
};

use crate::{
    filesystem::directory::{Directory, EntryMetadata, Kind},
    status::{
        attributes::{Filters, Prefer},
        change::ChangeKind,
        unchanged::{Seen, State, read_states},
        untracked::Untracked,
    },
    untrusted::Limits,
    values::git_error::{Doing as _, GitError},
};

/// From this many tracked files on, more threads are worth their cost.
const MANY_FILES: usize = 1_000;

/// The differences, by path.
#[derive(Default)]
pub(crate) struct Comparison {
    /// Index against HEAD.
    pub(crate) staged: BTreeMap<BString, ChangeKind>,
    /// Working tree against index.
    pub(crate) unstaged: BTreeMap<BString, ChangeKind>,
    /// Untracked directories that are repositories themselves. They are in `unstaged` too.
    pub(crate) nested: BTreeSet<BString>,
    /// Index entries whose file is unchanged although its stat data differs, with the new stat data.
    pub(crate) refreshed: Vec<(usize, Stat)>,
}

/// Compares HEAD, index and working tree. `head_tree` is none if the index is known to be of HEAD's tree. With
/// `untracked`, files that are neither tracked nor ignored are reported too.
pub(crate) fn compare(
    git: &gix::Repository,
    index: &gix::index::File,
    head_tree: Option<ObjectId>,
    untracked: bool,
) -> Result<Comparison, GitError> {
    let root = git.workdir().ok_or_else(|| GitError::new("comparing files", "there is no working tree"))?;
    let doing = || format!("comparing {} with its index", root.display());
    let stat = git.stat_options().doing(doing)?;
    let folds = git.config_snapshot().boolean("core.ignoreCase") == Some(true);
    let read_states = |range| read_states(root, index, range, stat, untracked, folds).doing(doing);
    let count = index.entries().len();
    let (staged, seen) = if count < MANY_FILES {
        let staged = head_tree.map_or_else(|| Ok(BTreeMap::new()), |tree| staged(git, index, tree))?;
        (staged, read_states(0..count)?)
    } else {
        let shared = head_tree.map(|tree| (git.clone().into_sync(), tree));
        let stopped = |_| GitError::new(doing(), "the comparison has panicked");
        std::thread::scope(|scope| {
            let first = scope.spawn(|| read_states(0..count / 2));
            let staged = shared.map(|(git, tree)| scope.spawn(move || staged(&git.to_thread_local(), index, tree)));
            let second = read_states(count / 2..count);
            let staged = staged.map_or(Ok(Ok(BTreeMap::new())), |staged| staged.join()).map_err(stopped)??;
            let (mut seen, second) = (first.join().map_err(stopped)??, second?);
            seen.states.extend(second.states);
            seen.unknown.extend(second.unknown);
            Ok((staged, seen))
        })?
    };
    let Seen { states, mut unknown } = seen;
    let mut comparison = Comparison { staged, ..Comparison::default() };
    if states.iter().any(|state| !matches!(state, State::Untouched)) || !unknown.is_empty() {
        let root = Directory::open(root).doing(doing)?;
        unknown.sort();
        unknown.dedup();
        if !unknown.is_empty() {
            Untracked::of(git, index, &root, &mut comparison)?.all(&unknown).doing(doing)?;
        }
        unstaged(git, index, &root, &states, &mut comparison)?;
    }
    Ok(comparison)
}

/// Compares the index with the tree of HEAD.
fn staged(
    git: &gix::Repository,
    index: &gix::index::State,
    head_tree: ObjectId,
) -> Result<BTreeMap<BString, ChangeKind>, GitError> {
    let mut found = BTreeMap::new();
    git.tree_index_status(&head_tree, index, None, TrackRenames::Disabled, |change, _, _| {
        found.insert(change.location().to_owned(), staged_kind(&change));
        Ok(std::ops::ControlFlow::Continue(()))
    })
    .doing(|| format!("comparing the index with {head_tree}"))?;
    Ok(found)
}

fn staged_kind(change: &gix::diff::index::ChangeRef<'_, '_>) -> ChangeKind {
    use gix::diff::index::ChangeRef;
    match change {
        ChangeRef::Addition { .. } | ChangeRef::Rewrite { .. } => ChangeKind::Added,
        ChangeRef::Deletion { .. } => ChangeKind::Deleted,
        ChangeRef::Modification { previous_entry_mode, entry_mode, .. } => {
            let is_file = |mode: Mode| mode.intersects(Mode::FILE) && mode != Mode::SYMLINK && mode != Mode::COMMIT;
            if is_file(*previous_entry_mode) == is_file(*entry_mode) {
                ChangeKind::Modified
            } else {
                ChangeKind::TypeChanged
            }
        }
    }
}

/// Compares the working tree with the index, except files that are known to be unchanged.
fn unstaged(
    git: &gix::Repository,
    index: &gix::index::File,
    root: &Directory,
    states: &[State],
    comparison: &mut Comparison,
) -> Result<(), GitError> {
    let options = Options::of(git)?;
    let mut doubtful = Vec::new();
    for (number, state) in states.iter().enumerate() {
        let entry = &index.entries()[number];
        if entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID | Flags::UPTODATE) {
            continue;
        }
        let kind = if entry.stage() != Stage::Unconflicted {
            ChangeKind::Conflicted
        } else {
            match state {
                State::Untouched => continue,
                State::Absent => ChangeKind::Deleted,
                State::Touched(found) => match options.compare_metadata(index, entry, found) {
                    Verdict::Same => continue,
                    Verdict::Changed(kind) => kind,
                    Verdict::Doubtful => {
                        doubtful.push((number, *found));
                        continue;
                    }
                },
            }
        };
        comparison.unstaged.insert(entry.path(index).to_owned(), kind);
    }
    if doubtful.is_empty() {
        return Ok(());
    }
    let paths = doubtful.iter().map(|(number, _)| index.entry(*number).path(index));
    let mut filters = Filters::of_both(git, index, root, paths, Prefer::WorkingTree)?.for_comparison();
    let mut opened: Option<(&BStr, Option<Directory>)> = None;
    for (number, found) in doubtful {
        let entry = index.entry(number);
        let path = entry.path(index);
        let doing = || format!("reading {path}");
        let (above, name) = crate::filesystem::directory::split(path);
        if opened.as_ref().is_none_or(|(path, _)| *path != above) {
            opened = Some((above, root.below(above).doing(doing)?));
        }
        let directory = opened.as_ref().and_then(|(_, directory)| directory.as_ref());
        let same = match directory {
            Some(directory) if found.kind == Kind::Link => {
                let target = directory.read_link(name).doing(doing)?;
                hash(git, &target).doing(doing)? == entry.id
            }
            Some(directory) => is_same(git, index, entry, directory, name, &mut filters)?,
            None => false,
        };
        if same {
            comparison.refreshed.push((number, found.stat));
        } else {
            comparison.unstaged.insert(path.to_owned(), ChangeKind::Modified);
        }
    }
    Ok(())
}

enum Verdict {
    Same,
    Changed(ChangeKind),
    /// The contents must be compared.
    Doubtful,
}

/// The settings of the file system and the user that affect the comparison.
struct Options {
    stat: gix::index::entry::stat::Options,
    has_links: bool,
    has_modes: bool,
}

impl Options {
    fn of(git: &gix::Repository) -> Result<Self, GitError> {
        let doing = || "reading the configuration".to_owned();
        let system = git.filesystem_options().doing(doing)?;
        let stat = git.stat_options().doing(doing)?;
        Ok(Self { stat, has_links: system.symlink, has_modes: system.executable_bit })
    }

    fn trusts_modes(&self, entry: &gix::index::Entry) -> bool {
        self.has_modes && matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE)
    }

    fn compare_metadata(&self, index: &gix::index::File, entry: &gix::index::Entry, found: &EntryMetadata) -> Verdict {
        let kind = match (entry.mode, found.kind) {
            // A submodule's files are not looked at. A file that became a directory was deleted.
            (Mode::COMMIT, Kind::Directory) => return Verdict::Same,
            (_, Kind::Directory) => Some(ChangeKind::Deleted),
            _ if entry.flags.contains(Flags::INTENT_TO_ADD) => Some(ChangeKind::Added),
            (Mode::FILE | Mode::FILE_EXECUTABLE, Kind::File) => None,
            (Mode::SYMLINK, Kind::Link) => None,
            (Mode::SYMLINK, Kind::File) if !self.has_links => None,
            _ => Some(ChangeKind::TypeChanged),
        };
        if let Some(kind) = kind {
            return Verdict::Changed(kind);
        }
        let is_mode_changed = self.trusts_modes(entry) && found.is_executable != (entry.mode == Mode::FILE_EXECUTABLE);
        if is_mode_changed {
            return Verdict::Changed(ChangeKind::Modified);
        }
        // Git writes a size of zero for a file that changed at about the time when the index was written.
        let is_emptied = entry.stat.size == 0 && !entry.id.is_empty_blob();
        if found.stat.matches(&entry.stat, self.stat)
            && found.size <= u64::from(u32::MAX)
            && !is_emptied
            && !found.stat.is_racy(index.timestamp(), self.stat)
        {
            return Verdict::Same;
        }
        if found.stat.size != entry.stat.size && !is_emptied {
            return Verdict::Changed(ChangeKind::Modified);
        }
        Verdict::Doubtful
    }
}

/// Whether a file, converted as for the repository, is what an index entry says.
pub(crate) fn is_same(
    git: &gix::Repository,
    index: &gix::index::State,
    entry: &gix::index::Entry,
    directory: &Directory,
    name: &BStr,
    filters: &mut Filters<'_>,
) -> Result<bool, GitError> {
    let path = entry.path(index);
    let doing = || format!("comparing {path}");
    let Some((file, found)) = directory.file(name).doing(doing)? else { return Ok(false) };
    if entry.mode == Mode::SYMLINK {
        // If the file system has no links, the target of a link is stored in a file.
        let target = directory.read(name, crate::values::path::PathRule::LONGEST as u64).doing(doing)?;
        return Ok(target.is_some_and(|target| hash(git, &target).is_ok_and(|id| id == entry.id)));
    }
    // The entry's blob may be missing.
    let size = git.find_header(entry.id).map(|header| header.size()).unwrap_or(u64::MAX);
    if found.size / 16 > size && found.size > Limits::of(git).object && !filters.is_driven(path)? {
        // Converting line endings or encoding cannot shrink a file that much.
        return Ok(false);
    }
    let id = match filters.clean(file.take(found.size), path, index).doing(doing)? {
        ToGitOutcome::Unchanged(_) if found.size != size => return Ok(false),
        ToGitOutcome::Unchanged(mut contents) => gix::objs::compute_stream_hash(
            git.object_hash(),
            ObjectKind::Blob,
            &mut contents,
            found.size,
            &mut gix::progress::Discard,
            &AtomicBool::new(false),
        ),
        ToGitOutcome::Buffer(contents) => hash(git, contents),
        ToGitOutcome::Process(contents) => {
            let mut read = Vec::new();
            contents.take(Limits::of(git).object.saturating_add(1)).read_to_end(&mut read).doing(doing)?;
            hash(git, &read)
        }
    };
    // Hashing fails if the file was truncated in the meantime.
    Ok(id.is_ok_and(|id| id == entry.id))
}

fn hash(git: &gix::Repository, contents: &[u8]) -> gix::Result<ObjectId> {
    gix::objs::compute_hash(git.object_hash(), ObjectKind::Blob, contents)
}
