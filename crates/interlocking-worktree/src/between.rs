//! The index of a tree, made from that of another: only what differs between the two trees is read.

use std::collections::HashSet;

use gix::{
    ObjectId,
    bstr::{BString, ByteSlice as _},
    diff::tree_with_rewrites::Change,
    index::entry::{Flags, Mode, Stage, Stat},
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
    let trees = (git.find_tree(old_tree).doing(doing)?, git.find_tree(new_tree).doing(doing)?);
    let options = gix::diff::Options::default().with_rewrites(None);
    let mut gone = HashSet::new();
    let mut added = Vec::new();
    for change in git.diff_tree_to_tree(&trees.0, &trees.1, options).doing(doing)? {
        let (location, before, after) = match change {
            Change::Addition { location, entry_mode, id, .. } => (location, None, Some((entry_mode, id))),
            Change::Deletion { location, entry_mode, .. } => (location, Some(entry_mode), None),
            Change::Modification { location, previous_entry_mode, entry_mode, id, .. } => {
                (location, Some(previous_entry_mode), Some((entry_mode, id)))
            }
            // Not looked for.
            Change::Rewrite { .. } => return Err(GitError::new(doing(), "a rename was reported")),
        };
        if before.is_some_and(|mode| mode.is_no_tree()) {
            gone.insert(location.clone());
        }
        // Directories are reported beside their files.
        if let Some((mode, id)) = after.filter(|(mode, _)| mode.is_no_tree()) {
            added.push((location, Mode::from(mode.kind()), id));
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
