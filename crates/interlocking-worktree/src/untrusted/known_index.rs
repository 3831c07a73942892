//! Indexes that were read or written a moment ago.
//!
//! To decode an index and to compute its tree takes about as long as to look at a quarter of its files. Both follow from the
//! bytes of the file alone, so they are kept with these: who reads the very same bytes again has the same index. Neither what the
//! file says of itself nor its times are believed for that.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError},
};

use gix::{ObjectId, index::State};

use crate::{status::index_tree::tree_of, untrusted::Limits};

/// The most bytes of files that are kept; what was decoded from them is about as large. Those that were used last stay.
const MOST: usize = 16 << 20;

/// A sound index and the bytes that it is written as.
pub(crate) struct KnownIndex {
    bytes: Vec<u8>,
    limits: Limits,
    pub(crate) state: State,
    /// What is wrong with its extensions where gix looks into them.
    pub(super) for_gix: Result<(), String>,
    tree: OnceLock<Option<ObjectId>>,
}

/// By the path of the file; the one that was used last is at the end.
type Kept = VecDeque<(PathBuf, Arc<KnownIndex>)>;

static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);

impl KnownIndex {
    /// What was decoded from these bytes.
    pub(super) fn read(bytes: Vec<u8>, limits: Limits, state: State, for_gix: Result<(), String>) -> Self {
        Self { bytes, limits, state, for_gix, tree: OnceLock::new() }
    }

    /// What these bytes were made from. `tree`: the one that has exactly these entries, where it is known.
    pub(crate) fn written(bytes: Vec<u8>, limits: Limits, state: State, tree: Option<ObjectId>) -> Self {
        let tree = tree.map_or_else(OnceLock::new, |tree| OnceLock::from(Some(tree)));
        let known = Self { bytes, limits, state, for_gix: Ok(()), tree };
        debug_assert_eq!(known.differs_from_what_is_read(), None, "what was written is what is read");
        known
    }

    /// The tree that has exactly its entries. None where no tree has.
    pub(crate) fn tree(&self) -> gix::Result<Option<ObjectId>> {
        if let Some(tree) = self.tree.get() {
            return Ok(*tree);
        }
        let tree = tree_of(&self.state)?;
        Ok(*self.tree.get_or_init(|| tree))
    }

    /// In what it differs from what its bytes are read as.
    fn differs_from_what_is_read(&self) -> Option<String> {
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

/// The index at a path, if these bytes are what was read or written there.
pub(super) fn find(path: &Path, bytes: &[u8], hash: gix::hash::Kind, limits: Limits) -> Option<Arc<KnownIndex>> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let position = kept.iter().position(|(found, _)| found == path)?;
    let (path, known) = kept.remove(position)?;
    let is_same = known.limits == limits && known.state.object_hash() == hash && known.bytes == bytes;
    let found = is_same.then(|| Arc::clone(&known));
    if is_same {
        kept.push_back((path, known));
    }
    found
}

pub(crate) fn keep(path: &Path, known: &Arc<KnownIndex>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|(found, _)| found != path);
    kept.push_back((path.to_owned(), Arc::clone(known)));
    let mut bytes: usize = kept.iter().map(|(_, known)| known.bytes.len()).sum();
    while bytes > MOST
        && let Some((_, oldest)) = kept.pop_front()
    {
        bytes -= oldest.bytes.len();
    }
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
        let (hash, limits) = (gix::hash::Kind::Sha1, Limits::default());
        let (one, other) = (Path::new("/test/one/index"), Path::new("/test/other/index"));
        keep(one, &known(10));
        assert!(find(one, &[7; 10], hash, limits).is_some());
        assert!(find(other, &[7; 10], hash, limits).is_none());
        assert!(find(one, &[7; 10], hash, Limits { index: 9, ..limits }).is_none(), "other limits");
        assert!(find(one, &[7; 10], hash, limits).is_none(), "what is out of date goes");
        keep(one, &known(10));
        assert!(find(one, &[7; 9], hash, limits).is_none());
        assert!(find(one, &[7; 10], hash, limits).is_none());

        keep(one, &known(10));
        keep(other, &known(MOST));
        assert!(find(one, &[7; 10], hash, limits).is_none(), "there is no room for both");
        assert!(find(other, &vec![7; MOST], hash, limits).is_some());
        keep(other, &known(MOST + 1));
        assert!(find(other, &vec![7; MOST + 1], hash, limits).is_none(), "it is too large");
    }
}
