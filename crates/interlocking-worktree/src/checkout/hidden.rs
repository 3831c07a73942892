//! Files that git does not look at: entries marked "assume unchanged" or "skip worktree", as in a sparse checkout.
//!
//! A [survey](crate::status::survey) passes over them, so it does not find what the user changed in them.

use std::collections::HashSet;

use gix::{
    bstr::{BString, ByteSlice as _},
    glob::pattern::Case,
    index::{State, entry::Flags},
    worktree::sparse::apply_patterns,
};

use crate::{
    status::{
        change::{Change, ChangeKind},
        examine::compare,
    },
    untrusted::{
        Limits,
        file::{self, Kind},
    },
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// The hidden files of some paths.
#[derive(Default)]
pub(crate) struct Hidden {
    /// Those that differ from the index.
    pub(crate) changed: Vec<Change>,
    /// Those that are not there. Something else may be in their place.
    pub(crate) absent: HashSet<BString>,
}

/// Compares those of `paths` that are hidden with the index.
pub(crate) fn hidden<'path>(
    git: &gix::Repository,
    index: &gix::index::File,
    paths: impl Iterator<Item = &'path BString>,
) -> Result<Hidden, GitError> {
    let hiding = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE;
    let numbers = paths.filter_map(|path| index.entry_index_by_path(path.as_bstr()).ok());
    let numbers: Vec<usize> = numbers.filter(|number| index.entry(*number).flags.intersects(hiding)).collect();
    if numbers.is_empty() {
        return Ok(Hidden::default());
    }
    let mut revealed = index.clone();
    for number in numbers {
        revealed.entries_mut()[number].flags.remove(hiding);
    }
    let mut found = Hidden::default();
    for (path, kind) in compare(git, &revealed, None, false)?.unstaged {
        match kind {
            // What is in the way of a file is not the file.
            ChangeKind::Untracked => {}
            ChangeKind::Deleted => drop(found.absent.insert(path)),
            kind => found.changed.push(Change { path: RepositoryPath::from_git(path.as_bstr()), kind }),
        }
    }
    Ok(found)
}

/// Marks those of the `new` entries of an index that a sparse checkout leaves out, and returns their paths.
pub(crate) fn leave_out<'path>(
    git: &gix::Repository,
    index: &mut State,
    new: impl Iterator<Item = &'path BString>,
) -> Result<HashSet<BString>, GitError> {
    let configuration = git.config_snapshot();
    let is_set = |name| configuration.boolean(name);
    let source = git.git_dir().join("info/sparse-checkout");
    if is_set("core.sparseCheckout") != Some(true) {
        return Ok(HashSet::new());
    }
    let Some(patterns) = file::read(&source, Kind::Rules(Limits::of(git)))? else { return Ok(HashSet::new()) };
    let mut entries = State::new(git.object_hash());
    for path in new {
        if let Some(entry) = index.entry_by_path(path.as_bstr()) {
            entries.dangerously_push_entry(entry.stat, entry.id, entry.flags, entry.mode, path.as_bstr());
        }
    }
    entries.sort_entries();
    let is_cone = is_set("core.sparseCheckoutCone") != Some(false);
    let case = if is_set("core.ignoreCase") == Some(true) { Case::Fold } else { Case::Sensitive };
    apply_patterns(&mut entries, &patterns.bytes, &source, is_cone, case)
        .doing(|| format!("applying {}", source.display()))?;
    let mut left_out = HashSet::new();
    for entry in entries.entries().iter().filter(|entry| entry.flags.contains(Flags::SKIP_WORKTREE)) {
        let path = entry.path(&entries);
        if let Ok(number) = index.entry_index_by_path(path) {
            index.entries_mut()[number].flags = entry.flags;
            left_out.insert(path.to_owned());
        }
    }
    Ok(left_out)
}
