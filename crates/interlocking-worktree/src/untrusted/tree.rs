//! Checks of trees: whether git would make them, and how large they become.
//!
//! A program that can write objects can write a tree that leads out of a working tree, a tree that git refuses, a tree
//! of so many levels that recursion exhausts the stack, or a small tree whose parts are reused so often that it has
//! more files than any disk can hold. So every tree is walked before anything else is done with it.

use std::{
    cmp::Ordering,
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use gix::{
    ObjectId,
    bstr::{BStr, ByteSlice as _},
    objs::Kind,
    prelude::Find as _,
};

use crate::{
    untrusted::{Limits, Refused, path},
    values::git_error::{Doing as _, GitError},
};

/// The size of a tree with everything below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    /// The length of its longest path in bytes.
    longest: usize,
    /// The number of files, including submodules.
    files: u64,
    /// The size in bytes of the index that it needs.
    index: u64,
    /// Whether all modes are written as today's git writes them.
    has_modern_modes: bool,
}

/// The size in bytes of an index entry without its path.
const ENTRY: u64 = 72;

/// How many trees are cached per repository. A project of twenty thousand files has about a thousand.
const MAX_CACHED: usize = 1 << 18;

type Known = HashMap<ObjectId, Extent>;

/// Trees that passed the check, by the directory of the objects: an object's id is the hash of its contents, so the
/// result stays valid. Nothing is cached for clones, whose agents can replace objects.
static CHECKED: LazyLock<Mutex<HashMap<PathBuf, Arc<Mutex<Known>>>>> = LazyLock::new(Mutex::default);

/// Refuses a tree that git would not make, or that needs a larger index than [`Limits::index`]. Modes may be written as
/// early versions of git did.
pub(crate) fn check(git: &gix::Repository, tree: ObjectId) -> Result<(), GitError> {
    extent(git, tree).map(drop)
}

/// Like [`check`], for a tree `to` that replaces `from`: if all modes of `from` are as today's git writes them, those
/// of `to` must be, too.
pub(crate) fn check_successor(git: &gix::Repository, from: ObjectId, to: ObjectId) -> Result<(), GitError> {
    if extent(git, to)?.has_modern_modes || !extent(git, from)?.has_modern_modes {
        return Ok(());
    }
    Err(refused(to, "it has modes that git does not write today".to_owned()))
}

fn extent(git: &gix::Repository, tree: ObjectId) -> Result<Extent, GitError> {
    let read = |id: ObjectId, buffer: &mut Vec<u8>| {
        let doing = || format!("reading the tree {id}");
        if id == ObjectId::empty_tree(id.kind()) {
            // Git knows the empty tree, whether it is stored or not.
            buffer.clear();
            return Ok(());
        }
        match git.objects.try_find(&id, buffer).doing(doing)? {
            Some(found) if found.kind == Kind::Tree => Ok(()),
            Some(found) => Err(GitError::new(doing(), format!("it is a {}", found.kind))),
            None => Err(GitError::new(doing(), "it is missing")),
        }
    };
    let limits = Limits::of(git);
    if super::git_directory::is_of_clone(git) {
        return walk(tree, &mut Known::new(), limits, read);
    }
    let directory = git.objects.store_ref().path();
    let directory = std::fs::canonicalize(directory).doing(|| format!("resolving {}", directory.display()))?;
    let known = Arc::clone(CHECKED.lock().unwrap_or_else(PoisonError::into_inner).entry(directory).or_default());
    // A thread that walks the same trees at the same time waits, and then finds them cached.
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.len() > MAX_CACHED {
        known.clear();
    }
    walk(tree, &mut known, limits, read)
}

/// A tree that is being walked.
struct Open {
    id: ObjectId,
    /// The length of its path in bytes, with a slash at the end.
    prefix: usize,
    extent: Extent,
    /// Its directories that are still to be walked, with the lengths of their names.
    directories: Vec<(ObjectId, usize)>,
}

/// Walks a tree depth first, with an explicit stack.
fn walk(
    root: ObjectId,
    known: &mut Known,
    limits: Limits,
    mut find: impl FnMut(ObjectId, &mut Vec<u8>) -> Result<(), GitError>,
) -> Result<Extent, GitError> {
    if let Some(extent) = known.get(&root)
        && extent.index <= limits.index
    {
        return Ok(*extent);
    }
    let mut buffer = Vec::new();
    let mut open_tree = |id: ObjectId, prefix: usize| {
        find(id, &mut buffer)?;
        let (extent, directories) = read(&buffer, id.kind()).map_err(|problem| refused(id, problem))?;
        Ok::<_, GitError>(Open { id, prefix, extent, directories })
    };
    let mut stack = vec![open_tree(root, 0)?];
    while let Some(open) = stack.last_mut() {
        let Some(&(directory, name)) = open.directories.last() else {
            let Open { id, extent, .. } = *open;
            known.insert(id, extent);
            stack.pop();
            if stack.is_empty() {
                return Ok(extent);
            }
            // Its parent finds it in `known`.
            continue;
        };
        let id = open.id;
        let prefix = open.prefix + name + 1;
        let too_long = || refused(id, format!("it has paths of more than {} bytes", path::LONGEST));
        if prefix > path::LONGEST {
            return Err(too_long());
        }
        let Some(below) = known.get(&directory) else {
            stack.push(open_tree(directory, prefix)?);
            continue;
        };
        open.directories.pop();
        let extent = &mut open.extent;
        extent.longest = extent.longest.max(name + 1 + below.longest);
        extent.files = extent.files.saturating_add(below.files);
        let paths = below.files.saturating_mul(name as u64 + 1);
        extent.index = extent.index.saturating_add(below.index).saturating_add(paths);
        extent.has_modern_modes &= below.has_modern_modes;
        if open.prefix + extent.longest > path::LONGEST {
            return Err(too_long());
        }
        if extent.index > limits.index {
            let problem = format!("its files need an index of more than {} bytes, see `Limits::index`", limits.index);
            return Err(refused(id, problem));
        }
    }
    // Unreachable: the stack begins with the root, and completing the root returns.
    Err(refused(root, "it has no end".to_owned()))
}

fn refused(tree: ObjectId, problem: String) -> GitError {
    GitError::refused("reading a tree", Refused::Tree { tree: tree.to_string(), problem })
}

/// Decodes one tree: its own extent, without its directories, and these directories.
fn read(mut data: &[u8], hash: gix::hash::Kind) -> Result<(Extent, Vec<(ObjectId, usize)>), String> {
    let mut extent = Extent { longest: 0, files: 0, index: 0, has_modern_modes: true };
    let mut directories = Vec::new();
    let mut before: Option<(&BStr, bool)> = None;
    // Names of files that a later directory could have too: `a` is before `a.b`, which is before `a/`.
    let mut shadows: Vec<&BStr> = Vec::new();
    while !data.is_empty() {
        let cut = || "it is cut short".to_owned();
        let (mode, rest) = data.split_once_str(" ").ok_or_else(cut)?;
        let (name, rest) = rest.split_once_str("\0").ok_or_else(cut)?;
        let (id, rest) = rest.split_at_checked(hash.len_in_bytes()).ok_or_else(cut)?;
        let (name, id) = (name.as_bstr(), ObjectId::try_from(id).map_err(|error| error.to_string())?);
        data = rest;
        let problem = |problem: &str| format!("{:?}: {problem}", name.to_str_lossy());
        let is_directory = match mode {
            b"40000" => true,
            b"100644" | b"100755" | b"120000" | b"160000" => false,
            // Written by early versions of git, and by other programs.
            b"040000" => {
                extent.has_modern_modes = false;
                true
            }
            b"100664" => {
                extent.has_modern_modes = false;
                false
            }
            mode => return Err(problem(&format!("it has the mode {:?}", mode.as_bstr()))),
        };
        path::check_name(name, mode == b"120000").map_err(|error| problem(&error))?;
        if name.len() > path::LONGEST {
            return Err(problem("its name is longer than any path"));
        }
        if id.is_null() {
            return Err(problem("it has no contents"));
        }
        if let Some((before, was_directory)) = before {
            match compare((before, was_directory), (name, is_directory)) {
                Ordering::Less => {}
                Ordering::Equal => return Err(problem("it is there twice")),
                Ordering::Greater => return Err(problem("it is not in order")),
            }
        }
        shadows.retain(|shadow| name.starts_with(shadow));
        if is_directory && shadows.contains(&name) {
            return Err(problem("it is a file and a directory"));
        }
        before = Some((name, is_directory));
        if is_directory {
            directories.push((id, name.len()));
        } else {
            shadows.push(name);
            extent.longest = extent.longest.max(name.len());
            extent.files += 1;
            extent.index = extent.index.saturating_add(ENTRY + name.len() as u64);
        }
    }
    Ok((extent, directories))
}

/// Compares names in git's order: a directory's name counts with a slash at its end.
fn compare((one, one_is_directory): (&BStr, bool), (other, other_is_directory): (&BStr, bool)) -> Ordering {
    let common = one.len().min(other.len());
    one[..common].cmp(&other[..common]).then_with(|| {
        let next = |name: &BStr, is_directory: bool| match name.get(common) {
            Some(byte) => *byte,
            None if is_directory => b'/',
            None => 0,
        };
        next(one, one_is_directory).cmp(&next(other, other_is_directory))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trees by number.
    type Forest = HashMap<ObjectId, Vec<u8>>;

    fn id(number: u32) -> ObjectId {
        let mut id = [0; 20];
        id[..4].copy_from_slice(&number.wrapping_add(1).to_be_bytes());
        ObjectId::from(id)
    }

    fn tree(entries: &[(&str, &str, u32)]) -> Vec<u8> {
        let entry = |(mode, name, number): &(&str, &str, u32)| {
            [format!("{mode} {name}\0").as_bytes(), id(*number).as_slice()].concat()
        };
        entries.iter().flat_map(entry).collect()
    }

    fn walk_in(forest: &Forest, limits: Limits) -> Result<Extent, String> {
        let mut reads = 0;
        let find = |id: ObjectId, buffer: &mut Vec<u8>| {
            reads += 1;
            assert!(reads <= 10_000, "each is read once");
            buffer.clear();
            buffer.extend_from_slice(&forest[&id]);
            Ok(())
        };
        walk(id(0), &mut Known::new(), limits, find).map_err(|error| error.cause().to_owned())
    }

    #[test]
    fn what_git_would_not_make_is_refused() {
        let refused = |entries: &[(&str, &str, u32)]| {
            let forest = Forest::from([(id(0), tree(entries)), (id(1), tree(&[("100644", "f", 9)]))]);
            walk_in(&forest, Limits::default()).is_err()
        };
        for name in [".git", ".GIT", "..", ".", "", "a/b", "/a", "git~1", ".git\\x"] {
            assert!(refused(&[("100644", name, 9)]), "{name:?}");
            assert!(refused(&[("40000", name, 1)]), "{name:?}");
        }
        assert!(refused(&[("120000", ".gitmodules", 9)]));
        assert!(refused(&[("100644", "b", 9), ("100644", "a", 9)]));
        assert!(refused(&[("100644", "a", 9), ("100644", "a", 9)]));
        assert!(refused(&[("100644", "a", 9), ("40000", "a", 1)]));
        assert!(refused(&[("100644", "a", 9), ("100644", "a.b", 9), ("40000", "a", 1)]));
        assert!(refused(&[("40000", "a", 1), ("100644", "a.b", 9)]), "as a directory it is after that");
        assert!(refused(&[("100666", "a", 9)]));
        assert!(refused(&[("100644", "a", u32::MAX)]), "no contents");
        assert!(!refused(&[("100644", "a", 9), ("100644", "a.b", 9), ("40000", "b", 1), ("160000", "c", 9)]));
        let forest = Forest::from([(id(0), tree(&[("100644", "a", 9)])[..20].to_vec())]);
        assert_eq!(
            walk_in(&forest, Limits::default()).unwrap_err(),
            format!("the tree {} is not one that git makes: it is cut short", id(0))
        );
    }

    #[test]
    fn what_comes_of_a_tree_is_bounded_in_depth_and_in_all() {
        // Deeper than any path.
        let mut deep: Forest = (0..5_000).map(|number| (id(number), tree(&[("40000", "d", number + 1)]))).collect();
        deep.insert(id(5_000), tree(&[("100644", "f", 9)]));
        assert!(walk_in(&deep, Limits::default()).unwrap_err().contains("paths of more than 4096 bytes"));
        // A tree that contains itself.
        let cyclic = Forest::from([(id(0), tree(&[("40000", "d", 0)]))]);
        assert!(walk_in(&cyclic, Limits::default()).unwrap_err().contains("paths of more than 4096 bytes"));
        // Ten times the same directory on forty levels: ten to the fortieth files.
        let names: Vec<String> = (0..10).map(|name| name.to_string()).collect();
        let level = |number: u32| {
            let entries: Vec<_> = names.iter().map(|name| ("40000", name.as_str(), number + 1)).collect();
            (id(number), tree(&entries))
        };
        let mut bomb: Forest = (0..40).map(level).collect();
        bomb.insert(id(40), tree(&[("100644", "f", 9)]));
        assert!(walk_in(&bomb, Limits::default()).unwrap_err().contains("Limits::index"));

        let forest = Forest::from([
            (id(0), tree(&[("100644", "a", 9), ("40000", "dir", 1), ("040000", "other", 1)])),
            (id(1), tree(&[("100644", "file", 9), ("160000", "sub", 9)])),
        ]);
        let paths = ["a", "dir/file", "dir/sub", "other/file", "other/sub"];
        let index = paths.iter().map(|path| ENTRY + path.len() as u64).sum();
        let expected = Extent { longest: "other/file".len(), files: 5, index, has_modern_modes: false };
        assert_eq!(walk_in(&forest, Limits::default()), Ok(expected));
        assert_eq!(walk_in(&forest, Limits { index, ..Limits::default() }), Ok(expected));
        assert!(walk_in(&forest, Limits { index: index - 1, ..Limits::default() }).is_err());
    }
}
