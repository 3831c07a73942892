//! What two sides made of a file, when no merge of them is right.

use std::{collections::BTreeMap, fmt};

use gix::{
    bstr::{BString, ByteSlice as _},
    index::entry::{Mode, Stage},
    merge::tree::{Conflict as GitConflict, Outcome, TreatAsUnresolved, apply_index_entries::RemovalMode},
};

use crate::{
    git_error::{Doing as _, GitError},
    id::BlobId,
    path::RepositoryPath,
};

/// A path that cannot be merged without a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: RepositoryPath,
    /// What the sides did.
    pub kind: ConflictKind,
    /// The contents both sides began with; none if the path was not there.
    pub base: Option<BlobId>,
    /// The contents in the worktree's commit; none if the path is not there.
    pub ours: Option<BlobId>,
    /// The contents in the commit that is picked or merged; none if the path is not there.
    pub theirs: Option<BlobId>,
    /// Both sides in one text with `<<<<<<<` markers, if git would write one. It is in no object database.
    pub marked: Option<Vec<u8>>,
}

/// What two sides did to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConflictKind {
    /// Both changed the same lines, or a binary file.
    Content,
    /// Both added it, differently.
    BothAdded,
    /// We deleted (or renamed) it, they changed it.
    DeletedByUs,
    /// They deleted (or renamed) it, we changed it.
    DeletedByThem,
    /// One has a file, the other a symbolic link, a directory or a submodule.
    TypeMismatch,
    /// A rename is involved: the path is there on one side alone.
    Rename,
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Content => "both changed it",
            Self::BothAdded => "both added it",
            Self::DeletedByUs => "deleted by us, changed by them",
            Self::DeletedByThem => "changed by us, deleted by them",
            Self::TypeMismatch => "of different types",
            Self::Rename => "renamed",
        })
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.path, self.kind)
    }
}

type Sides = [Option<(Mode, gix::ObjectId)>; 3];

/// The unresolved conflicts of a merge, by path, as git would leave them in the index. Empty: it merged.
pub(crate) fn conflicts_of(git: &gix::Repository, outcome: &mut Outcome<'_>) -> Result<Vec<Conflict>, GitError> {
    let doing = || "reading the conflicts of a merge".to_owned();
    let how = TreatAsUnresolved::git();
    if !outcome.has_unresolved_conflicts(how) {
        return Ok(Vec::new());
    }
    let tree = outcome.tree.write().doing(doing)?.detach();
    let mut index = git.index_from_tree(&tree).doing(doing)?;
    outcome.index_changed_after_applying_conflicts(&mut index, how, RemovalMode::Prune);

    let mut by_path: BTreeMap<BString, Sides> = BTreeMap::new();
    for entry in index.entries() {
        let side = match entry.stage() {
            Stage::Unconflicted => continue,
            Stage::Base => 0,
            Stage::Ours => 1,
            Stage::Theirs => 2,
        };
        let sides = by_path.entry(entry.path(&index).to_owned()).or_default();
        sides[side] = Some((entry.mode, entry.id));
    }
    let mut marked = BTreeMap::new();
    for conflict in outcome.conflicts.iter().filter(|conflict| conflict.is_unresolved(how)) {
        let path = conflict.ours.location().to_owned();
        // Some conflicts have no place of their own in the index.
        by_path.entry(path.clone()).or_insert_with(|| sides_of(conflict));
        if let Some(merge) = conflict.content_merge() {
            let blob = git.find_blob(merge.merged_blob_id).doing(doing)?;
            if blob.data.contains_str("<<<<<<<") {
                marked.insert(path, blob.data.clone());
            }
        }
    }
    Ok(by_path
        .into_iter()
        .map(|(path, sides)| {
            let blob = |side: usize| sides[side].map(|(_, id)| BlobId::from_git(id));
            Conflict {
                kind: kind_of(&sides),
                base: blob(0),
                ours: blob(1),
                theirs: blob(2),
                marked: marked.remove(&path),
                path: RepositoryPath::from_git(path.as_bstr()),
            }
        })
        .collect())
}

fn sides_of(conflict: &GitConflict) -> Sides {
    conflict.entries().map(|entry| entry.map(|entry| (Mode::from(entry.mode), entry.id)))
}

fn kind_of(sides: &Sides) -> ConflictKind {
    let is_file = |mode: Mode| mode == Mode::FILE || mode == Mode::FILE_EXECUTABLE;
    match sides {
        [_, Some((ours, _)), Some((theirs, _))] if is_file(*ours) != is_file(*theirs) => ConflictKind::TypeMismatch,
        [Some(_), Some(_), Some(_)] => ConflictKind::Content,
        [None, Some(_), Some(_)] => ConflictKind::BothAdded,
        [Some(_), None, Some(_)] => ConflictKind::DeletedByUs,
        [Some(_), Some(_), None] => ConflictKind::DeletedByThem,
        _ => ConflictKind::Rename,
    }
}
