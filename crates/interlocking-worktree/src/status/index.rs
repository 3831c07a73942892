//! Reading, changing and writing the index file.

use std::collections::HashSet;

use gix::{
    ObjectId,
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage, Stat},
};

use crate::{
    filesystem::directory::Directory,
    untrusted,
    values::{
        git_error::{Doing as _, GitError},
        path::RepositoryPath,
    },
};

/// Reads the index from disk, or returns an empty one.
///
/// With `reveal`, the flags "assume unchanged" and "skip worktree" are cleared, except for "skip worktree" in a sparse
/// checkout where there is no file, as git does. An agent that sets these flags in its worktree would hide a change from
/// every later comparison.
pub(crate) fn read(git: &gix::Repository, reveal: bool) -> Result<gix::index::File, GitError> {
    Ok(read_with_tree(git, reveal)?.0)
}

/// Like [`read`], and returns the tree that has exactly its entries; none if there is no such tree.
pub(crate) fn read_with_tree(
    git: &gix::Repository,
    reveal: bool,
) -> Result<(gix::index::File, Option<ObjectId>), GitError> {
    let path = git.index_path();
    let (state, tree) = match untrusted::index::read(git, &path)? {
        Some(found) => {
            let mut state = found.index.state.clone();
            state.set_timestamp(filetime::FileTime::from_system_time(found.written));
            (state, found.index.tree().doing(|| format!("computing the tree of {}", path.display()))?)
        }
        None => (gix::index::State::new(git.object_hash()), Some(ObjectId::empty_tree(git.object_hash()))),
    };
    let mut index = gix::index::File::from_state(state, path);
    if reveal {
        let is_sparse = git.config_snapshot().boolean("core.sparseCheckout") == Some(true);
        let absent = if is_sparse { absent(git, &index)? } else { HashSet::new() };
        for (number, entry) in index.entries_mut().iter_mut().enumerate() {
            entry.flags.remove(Flags::ASSUME_VALID);
            if !absent.contains(&number) {
                entry.flags.remove(Flags::SKIP_WORKTREE);
            }
        }
    }
    Ok((index, tree))
}

/// The numbers of the entries with the flag "skip worktree" for which nothing is in the working tree.
fn absent(git: &gix::Repository, index: &gix::index::State) -> Result<HashSet<usize>, GitError> {
    let Some(root) = git.workdir() else { return Ok(HashSet::new()) };
    let doing = || format!("looking for files that the index of {} hides", root.display());
    let root = Directory::open(root).doing(doing)?;
    let entries = index.entries().iter().enumerate();
    let skipped = entries.filter(|(_, entry)| entry.flags.contains(Flags::SKIP_WORKTREE));
    let absent = skipped.filter_map(|(number, entry)| match has_nothing_at(&root, entry.path(index)) {
        Ok(has_nothing) => has_nothing.then_some(Ok(number)),
        Err(error) => Some(Err(error)),
    });
    absent.collect::<std::io::Result<_>>().doing(doing)
}

/// Whether there is nothing at a path, and nothing else in the place of a directory above it, such as a link.
fn has_nothing_at(root: &Directory, path: &BStr) -> std::io::Result<bool> {
    let mut opened: Option<Directory> = None;
    for part in path.split(|byte| *byte == b'/') {
        let directory = opened.as_ref().unwrap_or(root);
        match directory.directory(part)? {
            Some(inside) => opened = Some(inside),
            None => return Ok(directory.metadata(part)?.is_none()),
        }
    }
    Ok(false)
}

/// The paths that a merge left unresolved.
pub(crate) fn conflicted(index: &gix::index::State) -> Vec<RepositoryPath> {
    let unresolved = index.entries().iter().filter(|entry| entry.stage() != gix::index::entry::Stage::Unconflicted);
    let mut paths: Vec<_> = unresolved.map(|entry| RepositoryPath::from_git(entry.path(index))).collect();
    // Up to three stages of one path are adjacent.
    paths.dedup();
    paths
}

/// Removes the `gone` paths from an index and adds or replaces entries, with no flags set.
///
/// Most entries exist already and are replaced in place: sorting tens of thousands of entries again takes longer.
///
/// # Errors
///
/// If a path would be a file and a directory, as in a worktree that changes during the comparison: git does not accept
/// such an index.
pub(crate) fn change<'path>(
    index: &mut gix::index::State,
    gone: &HashSet<BString>,
    versions: impl IntoIterator<Item = (&'path BStr, ObjectId, Mode, Stat)>,
) -> Result<(), GitError> {
    if !gone.is_empty() {
        index.remove_entries(|_, path, entry| entry.stage() == Stage::Unconflicted && gone.contains(path));
    }
    let mut added = Vec::new();
    for (path, id, mode, stat) in versions {
        match index.entry_index_by_path_and_stage(path, Stage::Unconflicted) {
            Some(number) => {
                let entry = &mut index.entries_mut()[number];
                (entry.stat, entry.id, entry.flags, entry.mode) = (stat, id, Flags::empty(), mode);
            }
            None => added.push((path, id, mode, stat)),
        }
    }
    if added.is_empty() {
        return Ok(());
    }
    for (path, id, mode, stat) in &added {
        index.dangerously_push_entry(*stat, *id, Flags::empty(), *mode, path);
    }
    index.sort_entries();
    match added.iter().find_map(|(path, ..)| file_and_directory(index, path)) {
        None => Ok(()),
        Some(path) => Err(GitError::new(
            format!("recording {path}"),
            "it is a file, and a directory with files: it changes while it is looked at; try again",
        )),
    }
}

/// The path, or the directory above it, that the index has as a file although it also has entries below it.
fn file_and_directory<'path>(index: &gix::index::State, path: &'path BStr) -> Option<&'path BStr> {
    let mut above = path.find_iter(b"/").map(|end| path[..end].as_bstr());
    above.find(|above| index.entry_by_path_and_stage(above, Stage::Unconflicted).is_some()).or_else(|| {
        let mut below = path.to_owned();
        below.push(b'/');
        let below = index.prefixed_entries(below.as_bstr()).unwrap_or_default();
        below.iter().any(|entry| entry.stage() == Stage::Unconflicted).then_some(path)
    })
}

/// The bytes of an index file.
///
/// `tree` is the tree that has exactly these entries, if it is known. It is written into the extension `TREE`
/// (gitformat-index(5)), for the root only, for git's sake; this crate does not trust that extension, see
/// [`tree_of`](crate::status::index_tree::tree_of).
pub(crate) fn to_bytes(index: &gix::index::File, tree: Option<ObjectId>) -> gix::Result<Vec<u8>> {
    let options = gix::index::write::Options {
        // Extensions from the index that was read would tell git that changed directories have not changed.
        extensions: gix::index::write::Extensions::Given { tree_cache: false, end_of_index_entry: false },
        ..Default::default()
    };
    let mut bytes = Vec::with_capacity(index.entries().len() * 112 + 256);
    gix::index::State::write_to(index, &mut bytes, options)?;
    if let Some(tree) = tree {
        let root = format!("\0{} 0\n", index.entries().len());
        let length = u32::try_from(root.len() + tree.as_slice().len()).unwrap_or_default();
        for part in [b"TREE".as_slice(), &length.to_be_bytes(), root.as_bytes(), tree.as_slice()] {
            bytes.extend_from_slice(part);
        }
    }
    let mut hasher = gix::hash::hasher(index.object_hash());
    hasher.update(&bytes);
    bytes.extend_from_slice(hasher.try_finalize()?.as_slice());
    Ok(bytes)
}

/// Whether the file is a `.gitattributes` file.
pub(crate) fn has_attributes(path: &BStr) -> bool {
    path.strip_suffix(b".gitattributes").is_some_and(|above| above.is_empty() || above.ends_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(paths: &[&str]) -> Result<(), String> {
        let mut index = gix::index::State::new(gix::hash::Kind::Sha1);
        let nothing = HashSet::new();
        paths
            .iter()
            .try_for_each(|path| {
                let id = ObjectId::empty_blob(gix::hash::Kind::Sha1);
                change(&mut index, &nothing, [((*path).into(), id, Mode::FILE, Stat::default())])
            })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn no_path_is_a_file_and_a_directory() {
        assert_eq!(changed(&["src", "src-more/lib.rs", "src.rs", "other/src/lib.rs"]), Ok(()));
        let because = "it is a file, and a directory with files: it changes while it is looked at; try again";
        for paths in [["src", "src/lib.rs"], ["src/lib.rs", "src"], ["src/a/b/c.rs", "src/a"]] {
            let file = paths.iter().min_by_key(|path| path.len()).unwrap();
            assert_eq!(changed(&paths), Err(format!("recording {file}: {because}")));
            assert_eq!(changed(&[paths[0], "src-more", paths[1]]), Err(format!("recording {file}: {because}")));
        }
    }
}
