//! Executable bits that a merge must not bring back.
//!
//! gix merges the modes of a file that one side renamed by preferring the executable one. Git takes the side that changed
//! the bit, so a bit that was taken away stays away.

use gix::{
    diff::tree_with_rewrites::Change,
    merge::tree::{Outcome, Resolution},
    objs::tree::{EntryKind, EntryMode},
};

use crate::git_error::{Doing as _, GitError};

/// Takes the executable bit off renamed files from which one side took it.
pub(crate) fn keep_bits_off(git: &gix::Repository, outcome: &mut Outcome<'_>) -> Result<(), GitError> {
    let doing = || "merging modes".to_owned();
    let paths: Vec<_> = outcome
        .conflicts
        .iter()
        .filter(|conflict| lost_its_bit(&conflict.ours, &conflict.theirs))
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

/// Whether the file was executable, and one side alone took that away.
fn lost_its_bit(ours: &Change, theirs: &Change) -> bool {
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
