//! Corrections where gix decides a merge differently from git, or finds a conflict where git does not.
//!
//! - The executable bit of a file that one side renamed and from which the other side removed the bit: gix prefers the
//!   bit; git takes the side that changed it, so a removed bit stays removed.
//! - A binary file of which one side changed the mode and the other the contents: gix finds a conflict; git takes both.
//!   The same applies if both sides wrote the same contents and one also changed the mode.

use gix::{
    diff::tree_with_rewrites::Change,
    merge::tree::{Outcome, Resolution, TreatAsUnresolved},
    objs::tree::{EntryKind, EntryMode},
};

use crate::values::git_error::{Doing as _, GitError};

/// Corrects the outcome as git would decide.
pub(crate) fn settle(git: &gix::Repository, outcome: &mut Outcome<'_>) -> Result<(), GitError> {
    keep_bits_removed(git, outcome)?;
    take_both(outcome)
}

/// Takes the contents of the side that changed them, or the contents that both sides wrote, and the mode of the side
/// that changed it.
fn take_both(outcome: &mut Outcome<'_>) -> Result<(), GitError> {
    let doing = || "merging modes and contents".to_owned();
    let mut settled = Vec::new();
    for (position, conflict) in outcome.conflicts.iter().enumerate() {
        let (
            Change::Modification {
                location,
                previous_entry_mode: before,
                previous_id: base,
                entry_mode: our_mode,
                id: ours,
            },
            Change::Modification { entry_mode: their_mode, id: theirs, .. },
        ) = (&conflict.ours, &conflict.theirs)
        else {
            continue;
        };
        let are_files = [before, our_mode, their_mode].into_iter().all(|mode| mode.is_blob());
        let is_one = ours == base || theirs == base || ours == theirs;
        if !are_files || !is_one || !conflict.is_unresolved(TreatAsUnresolved::git()) {
            continue;
        }
        let contents = if ours == base { theirs } else { ours };
        let mode = if our_mode == before { their_mode } else { our_mode };
        outcome.tree.upsert(location, mode.kind(), *contents).doing(doing)?;
        settled.push(position);
    }
    for position in settled.into_iter().rev() {
        outcome.conflicts.remove(position);
    }
    Ok(())
}

/// Removes the executable bit from renamed files if one side removed it.
fn keep_bits_removed(git: &gix::Repository, outcome: &mut Outcome<'_>) -> Result<(), GitError> {
    let doing = || "merging modes".to_owned();
    let paths: Vec<_> = outcome
        .conflicts
        .iter()
        .filter(|conflict| one_side_removed_bit(&conflict.ours, &conflict.theirs))
        .filter_map(|conflict| match &conflict.resolution {
            Ok(Resolution::OursModifiedTheirsRenamedAndChangedThenRename {
                final_location: Some(location), ..
            }) => Some(location.clone()),
            Ok(_) => [&conflict.ours, &conflict.theirs]
                .into_iter()
                .find(|change| matches!(change, Change::Rewrite { .. }))
                .map(|change| change.location().to_owned()),
            Err(_) => None,
        })
        .collect();
    if paths.is_empty() {
        return Ok(());
    }
    let tree = git.find_tree(outcome.tree.write().doing(doing)?).doing(doing)?;
    for path in paths {
        let entry = tree.lookup_entry(path.split(|byte| *byte == b'/')).doing(doing)?;
        if let Some(entry) = entry.filter(|entry| entry.mode().kind() == EntryKind::BlobExecutable) {
            outcome.tree.upsert(&path, EntryKind::Blob, entry.object_id()).doing(doing)?;
        }
    }
    Ok(())
}

/// Whether the file was executable and only one side removed the bit.
fn one_side_removed_bit(ours: &Change, theirs: &Change) -> bool {
    fn before_and_after(change: &Change) -> Option<(EntryMode, EntryMode)> {
        match change {
            Change::Rewrite { source_entry_mode, entry_mode, copy: false, .. } => {
                Some((*source_entry_mode, *entry_mode))
            }
            Change::Modification { previous_entry_mode, entry_mode, .. } => Some((*previous_entry_mode, *entry_mode)),
            _ => None,
        }
    }
    let (Some(ours), Some(theirs)) = (before_and_after(ours), before_and_after(theirs)) else {
        return false;
    };
    let kinds = [ours.1.kind(), theirs.1.kind()];
    ours.0.kind() == EntryKind::BlobExecutable
        && theirs.0.kind() == EntryKind::BlobExecutable
        && kinds.contains(&EntryKind::Blob)
        && kinds.contains(&EntryKind::BlobExecutable)
}
