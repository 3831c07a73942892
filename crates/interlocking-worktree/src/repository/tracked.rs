//! Whether git tracks a path, wherever that is.

use std::path::Path;

use gix::bstr::{BStr, ByteSlice as _};

use crate::{
    repository::{Configuration, OpenError, Repository, options},
    untrusted::{self, Limits, git_directory},
    values::git_error::Doing as _,
};

impl Repository {
    /// Whether git tracks what is at `path`, or anything below it: whether the index has it, of the working tree that
    /// contains `path`. Upper and lower case of ASCII count as equal, as on file systems that do not distinguish them.
    /// False in no working tree, and for the root of one. The path need not exist, but its parent must.
    ///
    /// What is tracked comes with every checkout of a commit, whoever has made that. Where the index has a form that this library
    /// does not read, such as a split or sparse one, the commit that is checked out tells.
    ///
    /// # Errors
    ///
    /// [`OpenError`] if the path's parent or the index cannot be read.
    pub fn tracks(path: impl AsRef<Path>) -> Result<bool, OpenError> {
        let path = path.as_ref();
        let doing = || format!("looking for {} in git's index", path.display());
        let path = std::path::absolute(path).doing(doing)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
        let parent = parent.canonicalize().doing(doing)?;
        let Ok((found, _trust)) = gix::discover::upwards(&parent) else { return Ok(false) };
        let (_, Some(root)) = found.into_repository_and_work_tree_directories() else { return Ok(false) };
        let (configuration, limits) = (Configuration::default(), Limits::default());
        git_directory::check_at(&root, limits)?;
        let git = gix::open_opts(&root, options(configuration, limits)).doing(doing)?;
        let root = root.canonicalize().doing(doing)?;
        let Ok(inside) = parent.strip_prefix(&root) else { return Ok(false) };
        let path = inside.join(name);
        let inside = gix::path::into_bstr(path.as_path()).doing(doing)?;
        let index = match untrusted::index::read(&git, &git.index_path()) {
            Ok(Some(index)) => index,
            Ok(None) => return Ok(false),
            Err(error) => {
                let Ok(tree) = git.head_tree() else { return Err(error.into()) };
                return Ok(tree.lookup_entry_by_path(&path).doing(doing)?.is_some());
            }
        };
        let state = &index.index.state;
        Ok(state.entries().iter().any(|entry| is_at_or_below(entry.path(state), &inside)))
    }
}

fn is_at_or_below(path: &BStr, directory: &BStr) -> bool {
    let Some((start, rest)) = path.split_at_checked(directory.len()) else { return false };
    start.eq_ignore_ascii_case(directory.as_bytes()) && (rest.is_empty() || rest[0] == b'/')
}
