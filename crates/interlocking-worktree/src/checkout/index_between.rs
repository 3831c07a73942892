//! Making the index of a tree from that of another, reading only what differs between the two trees.

use std::collections::HashSet;

use gix::{
    ObjectId,
    bstr::{BString, ByteSlice as _},
    diff::tree::{Recorder, recorder::Change},
    index::entry::{Mode, Stat},
    objs::TreeRefIter,
};

use crate::{
    status::index,
    values::git_error::{Doing as _, GitError},
};

/// The index of a tree, and which of its paths differ from the other's.
pub(crate) struct Between {
    pub(crate) index: gix::index::State,
    /// The paths that were changed or added.
    pub(crate) changed: HashSet<BString>,
    /// The paths that were removed.
    pub(crate) gone: HashSet<BString>,
}

/// `old` is the index of `old_tree`. Entries that are the same in `new_tree` keep their stat data and flags.
pub(crate) fn between(
    git: &gix::Repository,
    old: &gix::index::State,
    old_tree: ObjectId,
    new_tree: ObjectId,
) -> Result<Between, GitError> {
    let doing = || format!("comparing the trees {old_tree} and {new_tree}");
    // Not `diff_tree_to_tree`, which also prepares for comparing files.
    let trees = (git.find_tree(old_tree).doing(doing)?, git.find_tree(new_tree).doing(doing)?);
    let (old_entries, new_entries) = (
        TreeRefIter::from_bytes(&trees.0.data, git.object_hash()),
        TreeRefIter::from_bytes(&trees.1.data, git.object_hash()),
    );
    let mut recorder = Recorder::default();
    gix::diff::tree(old_entries, new_entries, gix::diff::tree::State::default(), &git.objects, &mut recorder)
        .map_err(|error| GitError::new(doing(), error.to_string()))?;
    let mut gone = HashSet::new();
    let mut added = Vec::new();
    for change in recorder.records {
        let (path, before, after) = match change {
            Change::Addition { path, entry_mode, oid, .. } => (path, None, Some((entry_mode, oid))),
            Change::Deletion { path, entry_mode, .. } => (path, Some(entry_mode), None),
            Change::Modification { path, previous_entry_mode, entry_mode, oid, .. } => {
                (path, Some(previous_entry_mode), Some((entry_mode, oid)))
            }
        };
        // Directories are reported beside their files.
        if let Some((mode, id)) = after.filter(|(mode, _)| mode.is_no_tree()) {
            added.push((path.clone(), Mode::from(mode.kind()), id));
        }
        if before.is_some_and(|mode| mode.is_no_tree()) {
            gone.insert(path);
        }
    }
    let mut index = old.clone();
    index.remove_tree();
    index.remove_resolve_undo();
    for (path, _, _) in &added {
        gone.remove(path);
    }
    let versions = added.iter().map(|(path, mode, id)| (path.as_bstr(), *id, *mode, Stat::default()));
    index::change(&mut index, &gone, versions)?;
    let changed = added.into_iter().map(|(path, _, _)| path).collect();
    Ok(Between { index, changed, gone })
}
