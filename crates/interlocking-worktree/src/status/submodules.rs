//! Submodules that are checked out.

use std::path::Path;

use gix::{
    bstr::{BStr, ByteSlice as _},
    index::entry::Mode,
};

use crate::{
    filesystem::directory::{Directory, Kind},
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// The submodules whose directories have files. What they hold is not compared with anything, and may be found nowhere
/// else.
pub(crate) fn checked_out(index: &gix::index::State, root: &Path) -> Result<Vec<RepositoryPath>, GitError> {
    let opened = Directory::open(root).doing(|| format!("opening {}", root.display()))?;
    let mut found = Vec::new();
    for entry in index.entries().iter().filter(|entry| entry.mode == Mode::COMMIT) {
        let path = entry.path(index);
        if has_files(&opened, path).doing(|| format!("looking at {path} in {}", root.display()))? {
            found.push(RepositoryPath::from_git(path.as_bstr()));
        }
    }
    found.dedup();
    Ok(found)
}

fn has_files(root: &Directory, path: &BStr) -> std::io::Result<bool> {
    let Some((above, name)) = root.parent_of(path)? else { return Ok(false) };
    let is_directory = above.metadata(name)?.is_some_and(|found| found.kind == Kind::Directory);
    Ok(is_directory && !above.has_empty(name))
}
