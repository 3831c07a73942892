//! Reading the commits that were made in a clone.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use gix::{
    ObjectId,
    objs::{CommitRef, Kind, TreeRefIter},
    prelude::Find as _,
};

use crate::{
    clones::import::{ImportError, referenced},
    repository::Repository,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        worktree_error::WorktreeError,
    },
    worktrees::worktree::Worktree,
};

/// The commits of a clone since its base, with all their new objects, in memory. They are untrusted until
/// [`Repository::import`] has checked them.
#[derive(Debug, Clone)]
pub struct ClonedCommits {
    pub(crate) base: CommitId,
    pub(crate) tip: CommitId,
    pub(crate) objects: Arc<HashMap<ObjectId, (Kind, Vec<u8>)>>,
}

/// The commits of a clone could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// It is a worktree of its repository, which has its commits already.
    #[error("{} is not a clone: its commits are in its repository already", path.display())]
    NotAClone {
        /// The worktree.
        path: std::path::PathBuf,
    },
    /// An object is missing in the clone.
    #[error("the {what} {id} is missing in the clone")]
    Missing {
        /// The kind of object.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The objects have more than [`ClonedCommits::MAX_BYTES`].
    #[error("the commits since {base} hold more than {} MiB; commit less, or ignore what is built", ClonedCommits::MAX_BYTES >> 20)]
    TooLarge {
        /// The base.
        base: CommitId,
    },
    /// The clone is not as it was when it was created.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// Something could not be read.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Commits could not be fetched from a clone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// They could not be read in the clone.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// They could not be taken into this repository.
    #[error(transparent)]
    Import(#[from] ImportError),
}

impl ClonedCommits {
    /// The most bytes that the new objects may have, uncompressed: they are held in memory.
    pub const MAX_BYTES: usize = 1 << 30;

    /// The commit that they are based on.
    #[must_use]
    pub fn base(&self) -> CommitId {
        self.base
    }

    /// The newest commit; the base if there are no new commits.
    #[must_use]
    pub fn tip(&self) -> CommitId {
        self.tip
    }
}

impl Repository {
    /// Fetches the commits that were made in a clone after `base`: writes the objects here after checking each, and
    /// sets the branch of the clone's name here from `expected` (none: it must not exist) to the clone's newest commit.
    /// Returns that commit.
    ///
    /// This is [`Worktree::export_since`] and [`Repository::import`] in one. If the clone's agent is not trusted and
    /// may still be running, run the former confined to the clone.
    ///
    /// # Errors
    ///
    /// See [`FetchError`]; no reference has changed.
    pub fn fetch_from_clone(
        &self,
        clone: &Worktree,
        base: CommitId,
        expected: Option<CommitId>,
    ) -> Result<CommitId, FetchError> {
        let commits = clone.export_since(base)?;
        let Some(branch) = clone.branch() else {
            return Err(ExportError::NotAClone { path: clone.path().to_owned() }.into());
        };
        Ok(self.import(&commits, branch, expected)?)
    }
}

impl Worktree {
    /// Reads the commits of a clone since `base` and all their new objects. Nothing is written.
    ///
    /// # Errors
    ///
    /// See [`ExportError`].
    pub fn export_since(&self, base: CommitId) -> Result<ClonedCommits, ExportError> {
        self.export(base, None)
    }

    /// Like [`export_since`](Self::export_since), for the commits up to `tip` instead of the clone's newest.
    ///
    /// # Errors
    ///
    /// See [`ExportError`].
    pub fn export_up_to(&self, base: CommitId, tip: CommitId) -> Result<ClonedCommits, ExportError> {
        self.export(base, Some(tip))
    }

    fn export(&self, base: CommitId, tip: Option<CommitId>) -> Result<ClonedCommits, ExportError> {
        if !self.is_clone() {
            return Err(ExportError::NotAClone { path: self.path().to_owned() });
        }
        let (git, head) = self.open_with_head()?;
        let tip = tip.unwrap_or(head);
        let mut reading = Reading { git: &git, base, objects: HashMap::new(), bytes: 0 };
        let known = reading.reachable_from_base()?;
        let mut waiting = vec![(Kind::Commit, tip.git())];
        let mut seen = HashSet::new();
        while let Some((kind, id)) = waiting.pop() {
            if id == base.git() || known.contains(&id) || !seen.insert(id) {
                continue;
            }
            let data = reading.read(kind, id)?;
            let references = referenced(kind, &data).map_err(|cause| GitError::new(format!("reading {id}"), cause))?;
            waiting.extend(references);
            reading.keep(kind, id, data)?;
        }
        Ok(ClonedCommits { base, tip, objects: Arc::new(reading.objects) })
    }
}

struct Reading<'git> {
    git: &'git gix::Repository,
    base: CommitId,
    objects: HashMap<ObjectId, (Kind, Vec<u8>)>,
    bytes: usize,
}

impl Reading<'_> {
    fn read(&self, kind: Kind, id: ObjectId) -> Result<Vec<u8>, ExportError> {
        let doing = || format!("reading the {kind} {id}");
        // Read directly from the object store: the base's parents are missing there, because the clone is shallow.
        let mut data = Vec::new();
        match self.git.objects.try_find(&id, &mut data).doing(doing)? {
            Some(found) if found.kind == kind => {}
            _ => return Err(ExportError::Missing { what: name(kind), id: id.to_string() }),
        }
        Ok(data)
    }

    fn keep(&mut self, kind: Kind, id: ObjectId, data: Vec<u8>) -> Result<(), ExportError> {
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > ClonedCommits::MAX_BYTES {
            return Err(ExportError::TooLarge { base: self.base });
        }
        self.objects.insert(id, (kind, data));
        Ok(())
    }

    /// The objects that need not be read because the clone's origin has them. This trusts the clone: if the clone lies,
    /// an object will be missing and the commits are not imported.
    fn reachable_from_base(&self) -> Result<HashSet<ObjectId>, ExportError> {
        let commit = self.read(Kind::Commit, self.base.git())?;
        let doing = || format!("reading the commit {}", self.base);
        let tree = CommitRef::from_bytes(&commit, gix::hash::Kind::Sha1).doing(doing)?.tree();
        let mut known = HashSet::from([tree]);
        let mut waiting = vec![tree];
        while let Some(id) = waiting.pop() {
            let data = self.read(Kind::Tree, id)?;
            for entry in TreeRefIter::from_bytes(&data, gix::hash::Kind::Sha1) {
                let entry = entry.doing(doing)?;
                let id = entry.oid.to_owned();
                if known.insert(id) && entry.mode.is_tree() {
                    waiting.push(id);
                }
            }
        }
        Ok(known)
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Commit => "commit",
        Kind::Tree => "tree",
        Kind::Blob => "file",
        Kind::Tag => "tag",
    }
}
