//! The index file: reading it, and replacing it under its lock.

use std::{collections::HashSet, io::Write as _, path::PathBuf, sync::Arc, time::Duration};

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage, Stat},
    objs::Kind,
};

use crate::{
    git_error::{Doing as _, GitError},
    lock_file::{LockError, LockFile},
    mend::mend_locks,
    note::{Intent, Note, canonical_common_directory},
    path::RepositoryPath,
    step,
    untrusted::{
        self, Limits,
        known_index::{self, KnownIndex},
    },
    worktree::WorktreeError,
};

/// Agents run `git add` and editors run `git status`; those take milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// The index of a worktree, locked. Dropped without [`replace`], the index stays as it was.
#[derive(Debug)]
pub(crate) struct IndexLock {
    // The lock goes before the note of it does.
    file: LockFile,
    note: Note,
    /// Canonical: the worktree's private directory.
    pub(crate) git_directory: PathBuf,
    limits: Limits,
}

impl IndexLock {
    /// Puts down what is about to be done under this lock.
    pub(crate) fn announce(&self, intent: &Intent) -> Result<(), GitError> {
        self.note.add(intent)
    }
}

/// Takes `index.lock`, waiting for a while.
pub(crate) fn lock(git: &gix::Repository) -> Result<IndexLock, WorktreeError> {
    let doing = || format!("locking {}", git.index_path().display());
    let git_directory = std::fs::canonicalize(git.git_dir()).doing(doing)?;
    let path = git_directory.join("index");
    let mut note = Note::write(&canonical_common_directory(git)?, &[])?;
    let mend = || drop(mend_locks(git));
    match LockFile::acquire(&mut note, &path, PATIENCE, mend) {
        Ok(file) => Ok(IndexLock { file, note, git_directory, limits: Limits::of(git) }),
        Err(LockError::Busy) => {
            let mut lock = path.into_os_string();
            lock.push(".lock");
            Err(WorktreeError::IndexBusy { lock: lock.into() })
        }
        Err(LockError::Failed(error)) => Err(GitError::new(doing(), error.to_string()).into()),
    }
}

/// Reads the index from disk, or begins an empty one.
///
/// `reveal`: forget "assume unchanged" and, without a sparse checkout, "skip worktree". Whoever sets these in an
/// agent's worktree hides a change from every later look at it.
pub(crate) fn read(git: &gix::Repository, reveal: bool) -> Result<gix::index::File, GitError> {
    Ok(read_with_tree(git, reveal)?.0)
}

/// [`read`], and the tree that has exactly its entries: none where no tree has.
pub(crate) fn read_with_tree(
    git: &gix::Repository,
    reveal: bool,
) -> Result<(gix::index::File, Option<ObjectId>), GitError> {
    let path = git.index_path();
    let (state, tree) = match untrusted::index::read(git, &path)? {
        Some(found) => {
            let mut state = found.index.state.clone();
            state.set_timestamp(filetime::FileTime::from_system_time(found.written));
            (state, found.index.tree().doing(|| format!("computing the tree of {}", path.display()))?)
        }
        None => (gix::index::State::new(git.object_hash()), Some(ObjectId::empty_tree(git.object_hash()))),
    };
    let mut index = gix::index::File::from_state(state, path);
    if reveal {
        let mut hiding = gix::index::entry::Flags::ASSUME_VALID;
        let is_sparse = git.config_snapshot().boolean("core.sparseCheckout") == Some(true);
        if !is_sparse {
            hiding |= gix::index::entry::Flags::SKIP_WORKTREE;
        }
        for entry in index.entries_mut() {
            entry.flags.remove(hiding);
        }
    }
    Ok((index, tree))
}

/// The paths that a merge left unresolved.
pub(crate) fn conflicted(index: &gix::index::State) -> Vec<RepositoryPath> {
    let unresolved = index.entries().iter().filter(|entry| entry.stage() != gix::index::entry::Stage::Unconflicted);
    let mut paths: Vec<_> = unresolved.map(|entry| RepositoryPath::from_git(entry.path(index))).collect();
    // Up to three stages of one path stand together.
    paths.dedup();
    paths
}

/// Takes what is `gone` out of an index, and puts versions of paths into it, as nothing but what they are.
///
/// Most are there already and are replaced in their places: sorting tens of thousands of entries anew takes longer.
pub(crate) fn change<'path>(
    index: &mut gix::index::State,
    gone: &HashSet<BString>,
    versions: impl IntoIterator<Item = (&'path BStr, ObjectId, Mode, Stat)>,
) {
    if !gone.is_empty() {
        index.remove_entries(|_, path, entry| entry.stage() == Stage::Unconflicted && gone.contains(path));
    }
    let mut added = Vec::new();
    for (path, id, mode, stat) in versions {
        match index.entry_index_by_path_and_stage(path, Stage::Unconflicted) {
            Some(number) => {
                let entry = &mut index.entries_mut()[number];
                (entry.stat, entry.id, entry.flags, entry.mode) = (stat, id, Flags::empty(), mode);
            }
            None => added.push((path, id, mode, stat)),
        }
    }
    if !added.is_empty() {
        for (path, id, mode, stat) in added {
            index.dangerously_push_entry(stat, id, Flags::empty(), mode, path);
        }
        index.sort_entries();
    }
}

/// Writes `index` into the lock, so that [`replace`] has only to rename it. `tree`: as for [`to_bytes`].
pub(crate) fn stage(lock: IndexLock, index: &gix::index::File, tree: Option<ObjectId>) -> Result<IndexLock, GitError> {
    let doing = || format!("writing {}", index.path().display());
    let IndexLock { mut file, note, git_directory, limits } = lock;
    let bytes = to_bytes(index, tree).doing(doing)?;
    file.write_all(&bytes).doing(doing)?;
    step::reached("an index is staged");
    let known = KnownIndex::written(bytes, limits, gix::index::State::clone(index), tree);
    known_index::keep(index.path(), &Arc::new(known));
    Ok(IndexLock { file, note, git_directory, limits })
}

/// Puts the staged index in place.
pub(crate) fn replace(staged: IndexLock) -> Result<(), GitError> {
    let path = staged.file.resource().to_owned();
    staged.file.commit().doing(|| format!("replacing {}", path.display()))
}

/// The bytes of an index file.
///
/// `tree`: the one that has exactly these entries, where it is known. It is said so as git says it (in the extension `TREE`,
/// gitformat-index(5), of the root alone), for git's sake: nobody here believes it, see [`tree_of`].
pub(crate) fn to_bytes(index: &gix::index::File, tree: Option<ObjectId>) -> gix::Result<Vec<u8>> {
    let options = gix::index::write::Options {
        // What it was read with would tell git that changed directories have not changed.
        extensions: gix::index::write::Extensions::Given { tree_cache: false, end_of_index_entry: false },
        ..Default::default()
    };
    let mut bytes = Vec::with_capacity(index.entries().len() * 112 + 256);
    gix::index::State::write_to(index, &mut bytes, options)?;
    if let Some(tree) = tree {
        let root = format!("\0{} 0\n", index.entries().len());
        let length = u32::try_from(root.len() + tree.as_slice().len()).unwrap_or_default();
        for part in [b"TREE".as_slice(), &length.to_be_bytes(), root.as_bytes(), tree.as_slice()] {
            bytes.extend_from_slice(part);
        }
    }
    let mut hasher = gix::hash::hasher(index.object_hash());
    hasher.update(&bytes);
    bytes.extend_from_slice(hasher.try_finalize()?.as_slice());
    Ok(bytes)
}

/// The tree that has exactly these entries. None where no tree has: something is not merged, or added without its contents.
///
/// It is computed from the entries. What the index says of it is whoever's word that wrote it.
pub(crate) fn tree_of(index: &gix::index::State) -> gix::Result<Option<ObjectId>> {
    let entries = index.entries();
    if entries.iter().any(|entry| entry.stage() != Stage::Unconflicted || entry.flags.contains(Flags::INTENT_TO_ADD)) {
        return Ok(None);
    }
    // Of each open directory: where its name ends in the path of the entry before, and what is in it as far as it is known.
    let mut open: Vec<(usize, Vec<u8>)> = vec![(0, Vec::new())];
    let mut before: &BStr = "".into();
    let hash = index.object_hash();
    for entry in entries {
        let path = entry.path(index);
        while let Some((end, _)) = open.last()
            && *end > 0
            && path.get(..=*end) != before.get(..=*end)
        {
            close(&mut open, before, hash)?;
        }
        let begin = open.last().map_or(0, |(end, _)| if *end == 0 { 0 } else { *end + 1 });
        let name = path[begin..].rfind_byte(b'/').map_or(begin, |last| begin + last + 1);
        for slash in path[begin..name].find_iter(b"/") {
            open.push((begin + slash, Vec::new()));
        }
        if let Some((_, tree)) = open.last_mut() {
            let mode = match entry.mode {
                Mode::FILE => b"100644 ",
                Mode::FILE_EXECUTABLE => b"100755 ",
                Mode::SYMLINK => b"120000 ",
                Mode::COMMIT => b"160000 ",
                // A directory, of which no index has any that is read here.
                _ => return Ok(None),
            };
            put(tree, mode, &path[name..], &entry.id);
        }
        before = path;
    }
    while open.len() > 1 {
        close(&mut open, before, hash)?;
    }
    let tree = open.pop().map(|(_, tree)| tree).unwrap_or_default();
    Ok(Some(gix::objs::compute_hash(hash, Kind::Tree, &tree)?))
}

/// Puts the last open directory into the one that it is in.
fn close(open: &mut Vec<(usize, Vec<u8>)>, path: &BStr, hash: gix::hash::Kind) -> gix::Result<()> {
    let Some((end, tree)) = open.pop() else { return Ok(()) };
    let id = gix::objs::compute_hash(hash, Kind::Tree, &tree)?;
    if let Some((above, parent)) = open.last_mut() {
        let begin = if *above == 0 { 0 } else { *above + 1 };
        put(parent, b"40000 ", &path[begin..end], &id);
    }
    Ok(())
}

fn put(tree: &mut Vec<u8>, mode: &[u8], name: &[u8], id: &gix::oid) {
    tree.extend_from_slice(mode);
    tree.extend_from_slice(name);
    tree.push(0);
    tree.extend_from_slice(id.as_bytes());
}

/// Whether the file says what others are like.
pub(crate) fn has_attributes(path: &BStr) -> bool {
    path.strip_suffix(b".gitattributes").is_some_and(|above| above.is_empty() || above.ends_with(b"/"))
}
