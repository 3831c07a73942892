//! A cache of indexes that were read or written recently.
//!
//! Decoding an index and computing its tree takes about as long as checking a quarter of its files. Both depend only on
//! the bytes of the file, so they are cached with the bytes: a read of exactly the same bytes gives the same index.
//! Neither the file's own checksum nor its times are trusted for that.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use gix::{ObjectId, index::State};

use crate::{status::index_tree::tree_of, untrusted::Limits};

/// The most bytes of files that are cached; the decoded data is about as large. The least recently used are evicted.
const MAX_BYTES: usize = 16 << 20;

/// A checked index and its bytes.
pub(crate) struct KnownIndex {
    bytes: Vec<u8>,
    limits: Limits,
    pub(crate) state: State,
    /// What is wrong with its extensions if gix decodes them.
    pub(super) for_gix: Result<(), String>,
    tree: OnceLock<Option<ObjectId>>,
}

/// Indexes with the paths of their files; the most recently used is at the end.
#[derive(Default)]
struct Cache(VecDeque<(PathBuf, Arc<KnownIndex>)>);

static CACHE: Mutex<Cache> = Mutex::new(Cache(VecDeque::new()));

impl KnownIndex {
    /// An index that was decoded from these bytes.
    pub(super) fn read(bytes: Vec<u8>, limits: Limits, state: State, for_gix: Result<(), String>) -> Self {
        Self { bytes, limits, state, for_gix, tree: OnceLock::new() }
    }

    /// An index that was encoded to these bytes. `tree` is the tree that has exactly these entries, if it is known.
    pub(crate) fn written(bytes: Vec<u8>, limits: Limits, state: State, tree: Option<ObjectId>) -> Self {
        let tree = tree.map_or_else(OnceLock::new, |tree| OnceLock::from(Some(tree)));
        let known = Self { bytes, limits, state, for_gix: Ok(()), tree };
        debug_assert_eq!(known.difference_when_decoded(), None, "what was written is what is read");
        known
    }

    /// The tree that has exactly its entries; none if there is no such tree.
    pub(crate) fn tree(&self) -> gix::Result<Option<ObjectId>> {
        if let Some(tree) = self.tree.get() {
            return Ok(*tree);
        }
        let tree = tree_of(&self.state)?;
        Ok(*self.tree.get_or_init(|| tree))
    }

    /// How it differs from the index that its bytes decode to.
    fn difference_when_decoded(&self) -> Option<String> {
        let read = match super::index::decode(&self.bytes, self.state.object_hash(), self.limits) {
            Ok((read, _)) => read,
            Err(error) => return Some(format!("it is not read: {error:?}")),
        };
        let entries = |state: &State| {
            let entries = state.entries().iter();
            entries
                .map(|entry| (entry.path(state).to_owned(), entry.id, entry.mode, entry.flags, entry.stat))
                .collect::<Vec<_>>()
        };
        let (written, read_entries) = (entries(&self.state), entries(&read));
        if written != read_entries {
            return Some(format!("entries: {written:?} are read as {read_entries:?}"));
        }
        let tree = self.tree.get()?;
        let found = tree_of(&read);
        let is_same = found.as_ref().is_ok_and(|found| found == tree);
        (!is_same).then(|| format!("tree: {tree:?} is read as {found:?}"))
    }
}

impl Cache {
    fn find(&mut self, path: &Path, bytes: &[u8], hash: gix::hash::Kind, limits: Limits) -> Option<Arc<KnownIndex>> {
        let position = self.0.iter().position(|(found, _)| found == path)?;
        let (path, known) = self.0.remove(position)?;
        let is_same = known.limits == limits && known.state.object_hash() == hash && known.bytes == bytes;
        let found = is_same.then(|| Arc::clone(&known));
        if is_same {
            self.0.push_back((path, known));
        }
        found
    }

    fn keep(&mut self, path: &Path, known: &Arc<KnownIndex>) {
        self.0.retain(|(found, _)| found != path);
        self.0.push_back((path.to_owned(), Arc::clone(known)));
        let mut bytes: usize = self.0.iter().map(|(_, known)| known.bytes.len()).sum();
        while bytes > MAX_BYTES
            && let Some((_, oldest)) = self.0.pop_front()
        {
            bytes -= oldest.bytes.len();
        }
    }
}

/// The cached index of a path, if it has exactly these bytes.
pub(super) fn find(path: &Path, bytes: &[u8], hash: gix::hash::Kind, limits: Limits) -> Option<Arc<KnownIndex>> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).find(path, bytes, hash, limits)
}

/// Caches the index of a path.
pub(crate) fn keep(path: &Path, known: &Arc<KnownIndex>) {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).keep(path, known);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(length: usize) -> Arc<KnownIndex> {
        let state = State::new(gix::hash::Kind::Sha1);
        Arc::new(KnownIndex::read(vec![7; length], Limits::default(), state, Ok(())))
    }

    #[test]
    fn the_same_bytes_at_the_same_path_are_known_and_nothing_else() {
        let (mut cache, hash, limits) = (Cache::default(), gix::hash::Kind::Sha1, Limits::default());
        let (one, other) = (Path::new("/test/one/index"), Path::new("/test/other/index"));
        cache.keep(one, &known(10));
        assert!(cache.find(one, &[7; 10], hash, limits).is_some());
        assert!(cache.find(other, &[7; 10], hash, limits).is_none());
        assert!(cache.find(one, &[7; 10], hash, Limits { index: 9, ..limits }).is_none(), "other limits");
        assert!(cache.find(one, &[7; 10], hash, limits).is_none(), "what is out of date goes");
        cache.keep(one, &known(10));
        assert!(cache.find(one, &[7; 9], hash, limits).is_none());
        assert!(cache.find(one, &[7; 10], hash, limits).is_none());

        cache.keep(one, &known(10));
        cache.keep(other, &known(MAX_BYTES));
        assert!(cache.find(one, &[7; 10], hash, limits).is_none(), "there is no room for both");
        assert!(cache.find(other, &vec![7; MAX_BYTES], hash, limits).is_some());
        cache.keep(other, &known(MAX_BYTES + 1));
        assert!(cache.find(other, &vec![7; MAX_BYTES + 1], hash, limits).is_none(), "it is too large");
    }
}
