//! A first pass over a working tree: finds the tracked files that are unchanged by their stat data alone, and the
//! directories that hold only tracked files.
//!
//! Nearly all files are unchanged, and nearly all names are tracked. To find these quickly, each directory is opened
//! once, and its files are read relative to it. Paths are opened part by part, so that a link in the place of a
//! directory is not followed.

use std::{ops::Range, path::Path};

use gix::{
    bstr::{BStr, BString, ByteSlice as _},
    index::entry::{Flags, Mode, Stage},
};

use crate::filesystem::{
    directory::{Directory, EntryMetadata, Kind},
    entries::for_each_entry,
};

/// The result for a part of the index.
pub(crate) struct Seen {
    /// The state of each entry of the part.
    pub(crate) states: Vec<State>,
    /// Untracked files and directories in directories with tracked files, whether ignored or not.
    pub(crate) unknown: Vec<BString>,
}

/// The state of a tracked file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum State {
    /// Its stat data is the same.
    Untouched,
    /// It may be unchanged or not.
    Touched(EntryMetadata),
    /// It does not exist, or something else is in the place of a directory above it.
    Absent,
}

/// How many nested directories are open at once. An agent can nest directories deeper than the number of files that a
/// process may have open.
pub(crate) const DEEPEST: usize = 128;

/// Git's flags for entries that are not to be compared.
const HIDING: Flags = Flags::INTENT_TO_ADD.union(Flags::SKIP_WORKTREE).union(Flags::ASSUME_VALID);

/// Reads the state of the files of the entries in `range` and, if `lists`, finds other files in their directories. With
/// `folds`, `.GIT` counts as `.git`.
///
/// # Errors
///
/// If a directory cannot be read.
pub(crate) fn read_states(
    root: &Path,
    index: &gix::index::File,
    range: Range<usize>,
    options: gix::index::entry::stat::Options,
    lists: bool,
    folds: bool,
) -> std::io::Result<Seen> {
    let seen = Seen { states: vec![State::Absent; range.len()], unknown: Vec::new() };
    let mut walk = Walk { index, options, lists, folds, first: range.start, seen, deeper: Vec::new() };
    let root = Directory::open(root)?;
    walk.directory(&root, BStr::new(""), range, 0)?;
    while let Some((path, range)) = walk.deeper.pop() {
        if let Some(directory) = root.below(path[..path.len() - 1].as_bstr())? {
            walk.directory(&directory, path, range, 0)?;
        }
    }
    Ok(walk.seen)
}

struct Walk<'a> {
    index: &'a gix::index::File,
    options: gix::index::entry::stat::Options,
    lists: bool,
    folds: bool,
    first: usize,
    seen: Seen,
    /// Directories that are read later, when those above them are closed.
    deeper: Vec<(&'a BStr, Range<usize>)>,
}

impl<'a> Walk<'a> {
    /// Reads the directory `prefix`, which is empty or ends with a slash; all entries of `range` are below it.
    fn directory(
        &mut self,
        opened: &Directory,
        prefix: &BStr,
        range: Range<usize>,
        depth: usize,
    ) -> std::io::Result<()> {
        let index = self.index;
        let mut tracked: Vec<&'a [u8]> = Vec::new();
        let mut number = range.start;
        while number < range.end {
            let entry = &index.entries()[number];
            let path = entry.path(index);
            let rest = &path[prefix.len()..];
            let Some(end) = rest.find_byte(b'/') else {
                tracked.push(rest);
                self.file(opened, entry, number, rest)?;
                number += 1;
                continue;
            };
            let (name, below) = (rest[..end].as_bytes(), path[..prefix.len() + end + 1].as_bstr());
            tracked.push(name);
            let entries = &index.entries()[number..range.end];
            let count = entries.partition_point(|entry| entry.path(index).starts_with(below));
            match opened.directory(name).map_err(|error| at(error, below))? {
                Some(_) if depth == DEEPEST => self.deeper.push((below, number..number + count)),
                Some(directory) => self.directory(&directory, below, number..number + count, depth + 1)?,
                // There is nothing, a file or a link in its place.
                None => {
                    if opened.metadata(name)?.is_some() {
                        self.seen.unknown.push(below[..below.len() - 1].into());
                    }
                }
            }
            number += count;
        }
        if self.lists {
            tracked.sort_unstable();
            self.list(opened, prefix, &tracked)?;
        }
        Ok(())
    }

    fn file(
        &mut self,
        opened: &Directory,
        entry: &gix::index::Entry,
        number: usize,
        name: &[u8],
    ) -> std::io::Result<()> {
        let Some(found) = opened.metadata(name)? else { return Ok(()) };
        if found.kind == Kind::Directory && entry.mode != Mode::COMMIT {
            // The contents of the directory are not tracked.
            self.seen.unknown.push(entry.path(self.index).to_owned());
        }
        let is_of_kind = match (found.kind, entry.mode) {
            (Kind::File, Mode::FILE) => !found.is_executable,
            (Kind::File, Mode::FILE_EXECUTABLE) => found.is_executable,
            (Kind::Link, Mode::SYMLINK) => true,
            _ => false,
        };
        let is_untouched = is_of_kind
            && found.stat == entry.stat
            && entry.stage() == Stage::Unconflicted
            && !entry.flags.intersects(HIDING)
            && !entry.stat.is_racy(self.index.timestamp(), self.options);
        self.seen.states[number - self.first] = if is_untouched { State::Untouched } else { State::Touched(found) };
        Ok(())
    }

    /// Notes the untracked entries of a directory.
    fn list(&mut self, opened: &Directory, prefix: &BStr, tracked: &[&[u8]]) -> std::io::Result<()> {
        for_each_entry(opened, |name, _| {
            let name = name.to_bytes();
            if tracked.binary_search(&name).is_ok() || is_git(name, self.folds) {
                return Ok(());
            }
            let path = BString::from([prefix.as_bytes(), name].concat());
            // It may be tracked in a part of the index that another thread handles.
            let below = BString::from([path.as_bytes(), b"/"].concat());
            let is_tracked = self.index.entry_by_path(path.as_bstr()).is_some()
                || self.index.prefixed_entries_range(below.as_bstr()).is_some();
            if !is_tracked {
                self.seen.unknown.push(path);
            }
            Ok(())
        })
    }
}

/// Whether this is the name `.git`, which git does not track.
pub(crate) fn is_git(name: &[u8], folds: bool) -> bool {
    name == b".git" || folds && name.eq_ignore_ascii_case(b".git")
}

/// Adds the path to an error's message.
pub(crate) fn at(error: std::io::Error, path: &BStr) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{path}: {error}"))
}
