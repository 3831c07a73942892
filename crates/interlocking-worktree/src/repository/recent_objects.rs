//! A cache of the trees and blobs that were read recently.
//!
//! Worktrees of one repository begin at one commit, or at commits that differ in a few files, so they read the same
//! trees and blobs again and again. A cherry-pick reads the same trees to compute its result and again to write the
//! files. An object's id is the hash of its contents, so a cached object cannot be stale. Commits are not cached: the
//! repository must be asked whether a commit exists, as it may have been collected as garbage. Nothing is cached for a
//! clone, which has objects of its own.

use std::{
    fmt,
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

use crate::untrusted::file::open_without_waiting;

/// How many bytes of objects are cached; the least recently used are evicted first.
const LIMIT: usize = 16 * 1024 * 1024;
/// The largest object that is cached: a few larger ones would leave no room for others.
const LARGEST: usize = 256 * 1024;

/// How much of a loose object's file is read at once. Source files and directories are seldom larger.
const SMALL_FILE: usize = 16 * 1024;

/// The cache. A cheap handle: all clones share the objects.
#[derive(Clone)]
pub(crate) struct RecentObjects(Arc<Mutex<MemoryCappedHashmap>>);

/// The lookup that gix calls for each object.
struct Lookup {
    /// If none, nothing is cached; the lookup still keeps gix from blocking on a pipe.
    recent: Option<RecentObjects>,
    /// The directory of the repository's own objects.
    directory: Arc<Path>,
}

impl RecentObjects {
    /// Makes reads of objects through `git` look into this cache first.
    pub(crate) fn attach(&self, git: &mut gix::Repository) {
        set_object_cache(git, Some(self.clone()));
    }
}

/// Keeps reads of loose objects through `git` from blocking on a pipe in the place of an object. Nothing is cached.
pub(crate) fn guard(git: &mut gix::Repository) {
    set_object_cache(git, None);
}

fn set_object_cache(git: &mut gix::Repository, recent: Option<RecentObjects>) {
    let directory = Arc::<Path>::from(git.objects.store_ref().path());
    let lookup = move || Lookup { recent: recent.clone(), directory: Arc::clone(&directory) };
    git.objects.set_object_cache(move || Box::new(lookup()));
}

impl Default for RecentObjects {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(MemoryCappedHashmap::new(LIMIT))))
    }
}

impl Object for Lookup {
    fn put(&mut self, id: ObjectId, kind: Kind, data: &[u8]) {
        let Some(recent) = &self.recent else { return };
        if matches!(kind, Kind::Tree | Kind::Blob) && data.len() <= LARGEST {
            recent.0.lock().unwrap_or_else(PoisonError::into_inner).put(id, kind, data);
        }
    }

    fn get(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
        let recent = self.recent.as_ref();
        let kept = recent.and_then(|recent| recent.0.lock().unwrap_or_else(PoisonError::into_inner).get(id, out));
        kept.or_else(|| {
            let kind = read_loose(&self.directory, id, out)?;
            self.put(*id, kind, out);
            Some(kind)
        })
    }
}

/// The kind that is returned for a pipe, a directory or an empty file in the place of a loose object, with which gix
/// would block or fail. No caller asks for a tag, and an empty one is not valid.
const NO_OBJECT: Kind = Kind::Tag;

/// Reads a small loose object. gix maps the file into memory, which takes twice as many system calls. None for anything
/// that is not clearly a small loose object: gix looks then.
fn read_loose(directory: &Path, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
    let name = id.to_hex().to_string();
    let mut compressed = [0; SMALL_FILE];
    let mut file = open_without_waiting(&directory.join(&name[..2]).join(&name[2..])).ok()?;
    let length = match file.read(&mut compressed) {
        Ok(0) | Err(_) => {
            out.clear();
            return Some(NO_OBJECT);
        }
        Ok(length) => length,
    };
    let compressed = compressed.get(..length).filter(|_| length < SMALL_FILE)?;
    // The header has the kind and the length.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(directory: &Path) -> Lookup {
        Lookup { recent: Some(RecentObjects::default()), directory: directory.into() }
    }

    fn id(number: usize) -> ObjectId {
        gix::objs::compute_hash(gix::hash::Kind::Sha1, Kind::Blob, number.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes_first() {
        let place = tempfile::tempdir().unwrap();
        let mut lookup = lookup(place.path());
        let data = vec![7; LARGEST];
        let count = LIMIT / LARGEST + 1;
        for number in 0..count {
            lookup.put(id(number), Kind::Blob, &data);
        }
        let mut found = Vec::new();
        assert_eq!(lookup.get(&id(0), &mut found), None);
        assert_eq!(lookup.get(&id(count - 1), &mut found), Some(Kind::Blob));
        assert_eq!(found, data);
        lookup.put(id(count), Kind::Blob, &vec![7; LARGEST + 1]);
        assert_eq!(lookup.get(&id(count), &mut found), None, "it is too large");
        lookup.put(id(count), Kind::Commit, b"tree");
        assert_eq!(lookup.get(&id(count), &mut found), None, "the repository is asked for commits");
    }

    #[test]
    fn a_small_loose_object_is_what_gix_reads() {
        let place = tempfile::tempdir().unwrap();
        let git = gix::init(place.path()).unwrap();
        let mut noise = 1_u64;
        let mut byte = || {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (noise >> 56) as u8
        };
        let directory = git.objects.store_ref().path();
        // The last is larger than what is read at once.
        for (length, is_read) in [(0, true), (1, true), (40, true), (60, true), (5_000, true), (20_000, false)] {
            let data: Vec<u8> = (0..length).map(|_| byte()).collect();
            let id = git.write_blob(&data).unwrap().detach();
            let mut found = Vec::new();
            assert_eq!(read_loose(directory, &id, &mut found), is_read.then_some(Kind::Blob), "{length} bytes");
            assert!(!is_read || found == data, "{length} bytes");
            let file = directory.join(&id.to_string()[..2]).join(&id.to_string()[2..]);
            let whole = std::fs::read(&file).unwrap();
            std::fs::remove_file(&file).unwrap();
            std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
            assert_eq!(read_loose(directory, &id, &mut found), None, "half of {length} bytes");
        }
        assert_eq!(read_loose(directory, &id(1), &mut Vec::new()), None, "there is none");
        let name = id(1).to_string();
        std::fs::create_dir_all(directory.join(&name[..2]).join(&name[2..])).unwrap();
        assert_eq!(read_loose(directory, &id(1), &mut Vec::new()), Some(NO_OBJECT), "it is a directory");
    }
}
