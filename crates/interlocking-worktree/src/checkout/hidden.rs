//! Files at which git is told not to look: entries marked "assume unchanged" or "skip worktree", as in a sparse checkout.
//!
//! A [survey](crate::status::survey) passes over them, so it does not find what the user changed in them.

use std::collections::HashSet;

use gix::{
    bstr::{BString, ByteSlice as _},
    index::entry::Flags,
};

use crate::{
    status::{
        change::{Change, ChangeKind},
        examine::compare,
    },
    values::{git_error::GitError, path::RepositoryPath},
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
