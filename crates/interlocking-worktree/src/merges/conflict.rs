//! Conflicts: what two sides did to a file that cannot be merged.

use std::{collections::BTreeMap, fmt};

use gix::{
    bstr::{BStr, BString, ByteSlice as _},
    diff::tree_with_rewrites::Change,
    index::entry::{Mode, Stage},
    merge::tree::{
        Conflict as GitConflict, Outcome, ResolutionFailure, TreatAsUnresolved, apply_index_entries::RemovalMode,
    },
};

use crate::values::{
    git_error::{Doing as _, GitError},
    id::BlobId,
    path::RepositoryPath,
};

/// A path that cannot be merged without a decision: one that git would leave in three stages of the index.
///
/// It holds the contents of all sides: the merge left nothing in the object database. [`Conflict::to_prompt`] describes
/// it for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: RepositoryPath,
    /// What the sides did.
    pub kind: ConflictKind,
    /// Where the file belongs, if it was put aside under a made-up name (`path`, with `~` and the name of a side at its
    /// end), because something else is at its path.
    pub place: Option<RepositoryPath>,
    /// The rename that is involved, if there is one.
    pub renamed: Option<Renamed>,
    /// The common ancestor's side; none if the path did not exist.
    pub base: Option<ConflictSide>,
    /// The side of the worktree's commit, or of the commit that is merged into; none if the path does not exist there.
    pub ours: Option<ConflictSide>,
    /// The side of the commit that is picked or merged; none if the path does not exist there.
    pub theirs: Option<ConflictSide>,
    /// Both sides in one text with `<<<<<<<` markers, if git would write such a text. It is not in the object database.
    pub marked: Option<Vec<u8>>,
}

/// The file of one side at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictSide {
    /// The id of the contents; for a submodule, its commit. The id for the base of two histories that were merged into
    /// each other before may not be in the object database.
    pub blob: BlobId,
    /// The kind of file.
    pub kind: FileKind,
    /// The contents; for a symbolic link its target, for a submodule nothing.
    pub contents: Vec<u8>,
}

/// The kind of a path in a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link.
    SymbolicLink,
    /// Another repository, stored as the id of a commit.
    Submodule,
}

/// A file that one or both sides renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The original path.
    pub from: RepositoryPath,
    /// Where it is in our commit, if it was renamed there.
    pub ours: Option<RepositoryPath>,
    /// Where it is in theirs, if it was renamed there.
    pub theirs: Option<RepositoryPath>,
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
    /// A rename is involved, and only one side has the path: both sides renamed a file differently, both gave a file
    /// this name, or a directory is in the way of the new name. See [`Conflict::renamed`].
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

impl fmt::Display for FileKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::File => "file",
            Self::Executable => "executable file",
            Self::SymbolicLink => "symbolic link",
            Self::Submodule => "submodule",
        })
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.path, self.kind)
    }
}

type Sides = [Option<(Mode, gix::ObjectId)>; 3];

/// The unresolved conflicts of a merge, by path, as git would leave them in the index. Empty if the merge succeeded.
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
    let mut renames = BTreeMap::new();
    let mut places = BTreeMap::new();
    for conflict in outcome.conflicts.iter().filter(|conflict| conflict.is_unresolved(how)) {
        let path = conflict.ours.location().to_owned();
        // gix puts some conflicts in no stage of the index, and some under another path.
        let sides = sides_of(conflict);
        if !by_path.iter().any(|(known, of)| is_about(known.as_bstr(), conflict) && shares_a_side(of, &sides)) {
            by_path.insert(path.clone(), sides);
        }
        if let Some(aside) = aside_path(conflict) {
            places.insert(aside.to_owned(), RepositoryPath::from_git(path.as_bstr()));
        }
        if let Some(merge) = conflict.content_merge() {
            let blob = git.find_blob(merge.merged_blob_id).doing(doing)?;
            if blob.data.contains_str("<<<<<<<") {
                marked.insert(path, blob.data.clone());
            }
        }
        if let Some(renamed) = renamed_in(conflict) {
            for path in [Some(&renamed.from), renamed.ours.as_ref(), renamed.theirs.as_ref()].into_iter().flatten() {
                renames.entry(path.clone()).or_insert_with(|| renamed.clone());
            }
        }
    }
    let side = |side: Option<(Mode, gix::ObjectId)>| match side {
        Some((mode, id)) => side_of(git, mode, id).map(Some),
        None => Ok(None),
    };
    let mut conflicts = Vec::with_capacity(by_path.len());
    for (path, sides) in by_path {
        let (marked, place) = (marked.remove(&path), places.remove(&path));
        let path = RepositoryPath::from_git(path.as_bstr());
        let [base, ours, theirs] = sides;
        conflicts.push(Conflict {
            kind: kind_of(&sides),
            place,
            renamed: renames.remove(&path),
            base: side(base)?,
            ours: side(ours)?,
            theirs: side(theirs)?,
            marked,
            path,
        });
    }
    Ok(conflicts)
}

fn side_of(git: &gix::Repository, mode: Mode, id: gix::ObjectId) -> Result<ConflictSide, GitError> {
    let kind = match mode {
        Mode::COMMIT => FileKind::Submodule,
        Mode::SYMLINK => FileKind::SymbolicLink,
        Mode::FILE_EXECUTABLE => FileKind::Executable,
        _ => FileKind::File,
    };
    let contents = if kind == FileKind::Submodule || mode.contains(Mode::DIR) {
        Vec::new()
    } else {
        git.find_blob(id).doing(|| format!("reading {id}"))?.data.clone()
    };
    Ok(ConflictSide { blob: BlobId::from_git(id), kind, contents })
}

/// Whether a path of the index belongs to a conflict: it is one of the conflict's paths, or a name that was made up
/// from one.
fn is_about(path: &BStr, conflict: &GitConflict) -> bool {
    let sources = [&conflict.ours, &conflict.theirs].map(|change| match change {
        Change::Rewrite { source_location, .. } => source_location.as_bstr(),
        other => other.location(),
    });
    let mut all = [conflict.ours.location(), conflict.theirs.location()].into_iter().chain(sources);
    all.any(|known| path.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"~")))
}

fn shares_a_side(one: &Sides, other: &Sides) -> bool {
    one.iter().zip(other).any(|(one, other)| one.is_some() && one == other)
}

/// The made-up name of a file whose path is taken.
fn aside_path(conflict: &GitConflict) -> Option<&BStr> {
    match &conflict.resolution {
        Err(ResolutionFailure::OursModifiedTheirsDirectoryThenOursRenamed {
            renamed_unique_path_to_modified_blob: aside,
        })
        | Err(ResolutionFailure::OursDirectoryTheirsNonDirectoryTheirsRenamed {
            renamed_unique_path_of_theirs: aside,
        })
        | Err(ResolutionFailure::OursAddedTheirsAddedTypeMismatch { their_unique_location: aside }) => {
            Some(aside.as_bstr())
        }
        _ => None,
    }
}

fn renamed_in(conflict: &GitConflict) -> Option<Renamed> {
    /// The old and the new path of a file that a side renamed.
    fn rename(change: &Change) -> Option<(&BStr, &BStr)> {
        match change {
            Change::Rewrite { source_location, location, copy: false, .. } => {
                Some((source_location.as_bstr(), location.as_bstr()))
            }
            _ => None,
        }
    }
    let (ours, theirs) = (rename(&conflict.ours), rename(&conflict.theirs));
    let (from, _) = ours.or(theirs)?;
    let to = |rename: Option<(&BStr, &BStr)>| {
        rename.filter(|(source, _)| *source == from).map(|(_, to)| RepositoryPath::from_git(to))
    };
    Some(Renamed { from: RepositoryPath::from_git(from), ours: to(ours), theirs: to(theirs) })
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
