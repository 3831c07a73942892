//! Trees and file versions that were read a moment ago, for whoever reads them again.
//!
//! Worktrees of one pool begin at one commit, or at commits that differ in a few files: their trees, and the versions of the
//! files that are written again and again, are the same. An object is named by what it holds, so what is kept here cannot be
//! out of date. Commits are not kept: whether there is one is asked of the repository, which may have collected it as
//! garbage.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use gix::{
    ObjectId,
    objs::Kind,
    odb::pack::cache::{Object, object::MemoryCappedHashmap},
};

/// How many bytes of objects are kept; the least recently used go first.
const LIMIT: usize = 16 * 1024 * 1024;
/// No object larger than this is kept: a few would leave no room for others.
const LARGEST: usize = 256 * 1024;

/// Objects that were read. A cheap handle: all clones share them.
#[derive(Clone)]
pub(crate) struct RecentObjects(Arc<Mutex<MemoryCappedHashmap>>);

impl RecentObjects {
    /// Whatever reads objects through `git` looks here first.
    pub(crate) fn attach(&self, git: &mut gix::Repository) {
        let recent = self.clone();
        git.objects.set_object_cache(move || Box::new(recent.clone()));
    }
}

impl Default for RecentObjects {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(MemoryCappedHashmap::new(LIMIT))))
    }
}

impl Object for RecentObjects {
    fn put(&mut self, id: ObjectId, kind: Kind, data: &[u8]) {
        if matches!(kind, Kind::Tree | Kind::Blob) && data.len() <= LARGEST {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).put(id, kind, data);
        }
    }

    fn get(&mut self, id: &ObjectId, out: &mut Vec<u8>) -> Option<Kind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id, out)
    }
}

impl fmt::Debug for RecentObjects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RecentObjects").finish_non_exhaustive()
    }
}
