//! Emptying a directory, except for the files that are to stay.
//!
//! A retired worktree keeps its untouched files. A file is untouched if its device, inode number, size, owner and times
//! are those that were noted when this crate wrote it. A program cannot set the change time: it changes when a program
//! writes to a file, changes its mode, owner or attributes, gives it another name, or moves it. So no contents are
//! compared, and git's index is not trusted: an agent can write that too.

use std::{
    ops::Range,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fs::fstat;

use crate::{
    checkout::files::delete_empty_above,
    filesystem::{
        deletion::{delete_entry, is_directory, open_inside},
        directory::Directory,
        entries::for_each_entry,
    },
    status::unchanged::DEEPEST,
    values::path::RepositoryPath,
};

/// What stays when a directory is emptied.
pub(crate) struct KeepRules<'a> {
    /// The files that may stay: those for which `judge` returns true, given the directory, the name in it and the
    /// file's number.
    pub(crate) noted: &'a gix::index::State,
    pub(crate) judge: &'a mut dyn FnMut(&Directory, &BStr, usize) -> std::io::Result<bool>,
    /// Paths at which everything stays.
    pub(crate) spared: &'a [RepositoryPath],
    /// Whether `.git` in the root stays.
    pub(crate) has_link: bool,
    /// A new directory. If a directory that stays differs from it in mode, owner or attributes, that is an error. If
    /// none, directories get the permissions that their owner needs.
    pub(crate) model: Option<&'a Path>,
}

/// Deletes everything in `root` except the untouched entries of `noted` for which `keep` is true, and returns which
/// those are. Directories with such files stay. `.git` in the root stays if `has_link`.
///
/// # Errors
///
/// If something could not be deleted, or a directory has a mode, owner or attributes that a new one (`model`) does not
/// have. The directory is then only fit for deletion.
pub(crate) fn keep_untouched(
    root: &Path,
    noted: &gix::index::State,
    keep: &[bool],
    model: &Path,
    has_link: bool,
) -> std::io::Result<Vec<bool>> {
    let mut judge = |directory: &Directory, name: &BStr, number: usize| {
        let is_noted = |found: crate::filesystem::directory::EntryMetadata| {
            found.stat == noted.entry(number).stat && !found.has_other_names
        };
        Ok(keep[number] && directory.metadata(name)?.is_some_and(is_noted))
    };
    empty_except(root, KeepRules { noted, judge: &mut judge, spared: &[], has_link, model: Some(model) })
}

/// Deletes everything in `root` except what is to stay, and returns for each noted file whether it stayed.
///
/// # Errors
///
/// If something could not be deleted, or a directory is not like the model. Some files are deleted then.
pub(crate) fn empty_except<'a>(root: &'a Path, rules: KeepRules<'a>) -> std::io::Result<Vec<bool>> {
    let model = rules.model.map(|model| Properties::of(&Directory::open(model)?)).transpose()?;
    let opened = Directory::open(root)?;
    let (device, count) = (fstat(&opened)?.st_dev, rules.noted.entries().len());
    let mut walk = Walk { rules, kept: vec![false; count], model, device, root, deeper: Vec::new() };
    walk.directory(&opened, BStr::new(""), 0..count, 0)?;
    while let Some((path, range)) = walk.deeper.pop() {
        let Some(directory) = opened.below(path.as_bstr())? else { continue };
        let stays = walk.directory(&directory, path.as_bstr(), range, 1)?;
        drop(directory);
        if !stays && let Some((above, name)) = opened.parent_of(path.as_bstr())? {
            above.remove_directory(name)?;
            delete_empty_above(&opened, path.as_bstr())?;
        }
    }
    Ok(walk.kept)
}

/// The properties of a directory that new files in it inherit, or that a program can see.
struct Properties {
    mode: u32,
    owner: (u32, u32),
    attributes: Vec<u8>,
}

impl Properties {
    fn of(directory: &impl AsFd) -> std::io::Result<Self> {
        let found = fstat(directory)?;
        let mut attributes = Vec::new();
        // Not every file system has extended attributes.
        if let Ok(length @ 1..) = rustix::fs::flistxattr(directory, &mut [0_u8; 0]) {
            attributes = vec![0; length];
            rustix::fs::flistxattr(directory, &mut attributes[..])?;
        }
        Ok(Self { mode: found.st_mode, owner: (found.st_uid, found.st_gid), attributes })
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.mode, self.owner, &self.attributes) == (other.mode, other.owner, &other.attributes)
    }
}

struct Walk<'a> {
    rules: KeepRules<'a>,
    kept: Vec<bool>,
    model: Option<Properties>,
    device: rustix::fs::Dev,
    root: &'a Path,
    /// Directories that are walked later, when those above them are closed.
    deeper: Vec<(BString, Range<usize>)>,
}

/// The noted entry of a name in a directory.
enum Child {
    File(usize),
    Directory(Range<usize>),
}

/// Whether a name is spared.
#[derive(PartialEq, Eq)]
enum Spared {
    No,
    /// Something in the directory is spared.
    Inside,
    Yes,
}

impl Walk<'_> {
    /// Empties a directory. `range` is the range of the entries below it, `path` its path. Returns whether anything in
    /// it stays.
    fn directory(
        &mut self,
        directory: &Directory,
        path: &BStr,
        range: Range<usize>,
        depth: usize,
    ) -> std::io::Result<bool> {
        let properties = Properties::of(directory)?;
        if self.model.is_none() {
            directory.make_writable()?;
        }
        let noted = self.rules.noted;
        let prefix = if path.is_empty() { 0 } else { path.len() + 1 };
        let children = children(noted, prefix, range);
        let mut stays = false;
        for_each_entry(directory, |name, kind| {
            let bytes = name.to_bytes().as_bstr();
            if prefix == 0 && self.rules.has_link && bytes == ".git" {
                return Ok(());
            }
            let spared = self.spared(path, bytes);
            let child = children.binary_search_by_key(&name.to_bytes(), |(child, _)| child);
            let child = child.ok().map(|number| &children[number].1);
            let inside = match child {
                Some(Child::Directory(range)) => Some(range.clone()),
                _ => (spared == Spared::Inside).then_some(0..0),
            };
            let stays_there = match (inside, child) {
                _ if spared == Spared::Yes => true,
                (Some(range), _) if is_directory(directory, name, kind)? => {
                    let below = join(path, bytes);
                    let opened = open_inside(directory, name, self.device, &on_disk(self.root, below.as_bstr()))?;
                    if depth == DEEPEST {
                        self.deeper.push((below, range));
                        true
                    } else {
                        if !self.directory(&Directory::from(opened), below.as_bstr(), range, depth + 1)? {
                            return directory.remove_directory(bytes);
                        }
                        true
                    }
                }
                (None, Some(Child::File(number))) => {
                    self.kept[*number] = (self.rules.judge)(directory, bytes, *number)?;
                    self.kept[*number]
                }
                _ => false,
            };
            if !stays_there {
                return delete_entry(directory, name, kind, &on_disk(self.root, path));
            }
            stays = true;
            Ok(())
        })?;
        // A directory that is deleted need not be like the model; the root stays.
        if (stays || prefix == 0) && self.model.as_ref().is_some_and(|model| !properties.is_like(model)) {
            let path = on_disk(self.root, path);
            return Err(std::io::Error::other(format!("{} is not as a new directory is", path.display())));
        }
        Ok(stays)
    }

    fn spared(&self, directory: &BStr, name: &BStr) -> Spared {
        if self.rules.spared.is_empty() {
            return Spared::No;
        }
        let path = RepositoryPath::from_git(join(directory, name).as_bstr());
        let mut spared = self.rules.spared.iter();
        if spared.clone().any(|spared| path.is_in(spared)) {
            Spared::Yes
        } else if spared.any(|spared| spared.is_in(&path)) {
            Spared::Inside
        } else {
            Spared::No
        }
    }
}

/// The noted entries of a directory, by name. Its path and a slash are the first `prefix` bytes of the paths in
/// `range`.
fn children(noted: &gix::index::State, prefix: usize, range: Range<usize>) -> Vec<(&[u8], Child)> {
    let mut children = Vec::new();
    let mut number = range.start;
    while number < range.end {
        let path = noted.entry(number).path(noted);
        let rest = &path[prefix..];
        let Some(end) = rest.find_byte(b'/') else {
            children.push((rest.as_bytes(), Child::File(number)));
            number += 1;
            continue;
        };
        let below = &path[..=prefix + end];
        let others = &noted.entries()[number..range.end];
        let count = others.partition_point(|other| other.path(noted).starts_with(below));
        children.push((rest[..end].as_bytes(), Child::Directory(number..number + count)));
        number += count;
    }
    // An index has `a.b` before `a/b`.
    children.sort_unstable_by_key(|(name, _)| *name);
    children
}

fn join(directory: &BStr, name: &BStr) -> BString {
    if directory.is_empty() { name.to_owned() } else { [directory.as_bytes(), b"/", name].concat().into() }
}

/// A path for a message.
fn on_disk(root: &Path, path: &BStr) -> PathBuf {
    root.join(&*path.to_str_lossy())
}
