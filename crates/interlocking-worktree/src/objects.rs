//! Trees and file versions that were read a moment ago, for whoever reads them again.
//!
//! Worktrees of one pool begin at one commit, or at commits that differ in a few files: their trees, and the versions of the
//! files that are written again and again, are the same. An object is named by what it holds, so what is kept here cannot be
//! out of date. Commits are not kept: whether there is one is asked of the repository, which may have collected it as
//! garbage.

use std::{
    fmt,
    fs::File,
    io::Read as _,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use gix::{
    ObjectId,
    objs::Kind,
    odb::pack::cache::{Object, object::MemoryCappedHashmap},
    zlib::{Inflate, Status},
};

/// How many bytes of objects are kept; the least recently used go first.
const LIMIT: usize = 16 * 1024 * 1024;
/// No object larger than this is kept: a few would leave no room for others.
const LARGEST: usize = 256 * 1024;

/// What of a loose object's file is read at once. Source files and directories are seldom larger.
const SMALL_FILE: usize = 16 * 1024;

/// Objects that were read. A cheap handle: all clones share them.
#[derive(Clone)]
pub(crate) struct RecentObjects(Arc<Mutex<MemoryCappedHashmap>>);

/// As gix asks for them.
struct Lookup {
    recent: RecentObjects,
    /// Of the repository's own objects.
    directory: Arc<Path>,
}

impl RecentObjects {
    /// Whatever reads objects through `git` looks here first.
    pub(crate) fn attach(&self, git: &mut gix::Repository) {
        let (recent, directory) = (self.clone(), Arc::<Path>::from(git.objects.store_ref().path()));
        let lookup = move || Lookup { recent: recent.clone(), directory: Arc::clone(&directory) };
        git.objects.set_object_cache(move || Box::new(lookup()));
    }
}

impl Default for RecentObjects {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(MemoryCappedHashmap::new(LIMIT))))
    }
}

impl Object for Lookup {
    fn put(&mut self, id: ObjectId, kind: Kind, data: &[u8]) {
        if matches!(kind, Kind::Tree | Kind::Blob) && data.len() <= LARGEST {
            self.recent.0.lock().unwrap_or_else(PoisonError::into_inner).put(id, kind, data);
        }
    }

    fn get(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
        let kept = self.recent.0.lock().unwrap_or_else(PoisonError::into_inner).get(id, out);
        kept.or_else(|| {
            let kind = read_loose(&self.directory, id, out)?;
            self.put(*id, kind, out);
            Some(kind)
        })
    }
}

/// Reads a small loose object. gix maps the file into memory, for which it asks the system twice as often. None for
/// whatever is not plainly one: gix looks then.
fn read_loose(directory: &Path, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
    let name = id.to_hex().to_string();
    let mut compressed = [0; SMALL_FILE];
    let length = File::open(directory.join(&name[..2]).join(&name[2..])).ok()?.read(&mut compressed).ok()?;
    let compressed = compressed.get(..length).filter(|_| length < SMALL_FILE)?;
    // The kind and the length come first.
    let mut begin = [0; 64];
    let mut inflate = Inflate::default();
    let (status, read, written) = inflate.prefix(compressed, &mut begin).ok()?;
    let begin = &begin[..written];
    let (kind, size, header) = gix::objs::decode::loose_header(begin).ok()?;
    let first = begin.get(header..)?;
    let size = usize::try_from(size).ok().filter(|size| (first.len()..=LARGEST).contains(size))?;
    out.clear();
    if status == Status::StreamEnd {
        out.extend_from_slice(first);
    } else {
        inflate.rest(&compressed[read..], begin, header, out, size).ok()?;
    }
    (out.len() == size).then_some(kind)
}

impl fmt::Debug for RecentObjects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RecentObjects").finish_non_exhaustive()
    }
}
