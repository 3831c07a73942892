//! The index of a tree, made from that of another: only what differs between the two trees is read.

use std::collections::HashSet;

use gix::{
    ObjectId,
    bstr::{BString, ByteSlice as _},
    diff::tree::{Recorder, recorder::Change},
    index::entry::{Flags, Mode, Stage, Stat},
    objs::TreeRefIter,
};

use crate::git_error::{Doing as _, GitError};

/// The index of a tree, and which of its paths differ from the other's.
pub(crate) struct Between {
    pub(crate) index: gix::index::State,
    /// In both or in the new one alone, with another version.
    pub(crate) changed: HashSet<BString>,
    /// In the old one alone.
    pub(crate) gone: HashSet<BString>,
}

/// `old` is the index of `old_tree`: what is the same in `new_tree` keeps its times and flags.
pub(crate) fn between(
    git: &gix::Repository,
    old: &gix::index::State,
    old_tree: ObjectId,
    new_tree: ObjectId,
) -> Result<Between, GitError> {
    let doing = || format!("comparing the trees {old_tree} and {new_tree}");
    // Not `diff_tree_to_tree`, which makes ready for comparing files too.
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
    let (mut changed, mut new) = (HashSet::with_capacity(added.len()), Vec::new());
    for (path, mode, id) in added {
        // Most are in both: sorting tens of thousands of entries anew takes longer than all else.
        match index.entry_index_by_path_and_stage(path.as_bstr(), Stage::Unconflicted) {
            Some(number) => {
                let entry = &mut index.entries_mut()[number];
                (entry.stat, entry.id, entry.flags, entry.mode) = (Stat::default(), id, Flags::empty(), mode);
            }
            None => new.push((path.clone(), mode, id)),
        }
        gone.remove(&path);
        changed.insert(path);
    }
    if !gone.is_empty() {
        index.remove_entries(|_, path, _| gone.contains(path));
    }
    if !new.is_empty() {
        for (path, mode, id) in new {
            index.dangerously_push_entry(Stat::default(), id, Flags::empty(), mode, path.as_bstr());
        }
        index.sort_entries();
    }
    Ok(Between { index, changed, gone })
}
