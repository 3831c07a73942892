//! Emptying a directory of everything but the files that are known to be untouched.
//!
//! Untouched is a file whose device, number, size, owner and times are those that were noted when this crate wrote it.
//! The time of change cannot be set by a program: whoever writes to a file, gives it another mode or owner, an attribute
//! or a second name, or moves it, changes that. So no content is compared, and nothing that git's index says is believed:
//! an agent writes that too.

use std::path::Path;

use gix::bstr::{BStr, ByteSlice as _};

/// Deletes everything in `root` but the entries of `noted` for which `keep` says so and which are untouched; says which
/// those are. Directories stay where such files are in them. `.git` in the root is left alone if `spare_link`.
///
/// # Errors
///
/// Something could not be deleted; or a directory has a mode, an owner or attributes that a new one would not have:
/// `model` is a new one. What is there is then fit for nothing but deletion.
#[cfg(unix)]
pub(crate) fn strip(
    root: &Path,
    noted: &gix::index::State,
    keep: &[bool],
    model: &Path,
    spare_link: bool,
) -> std::io::Result<Vec<bool>> {
    use rustix::fs::{CWD, Mode, openat};
    let model = walk::Look::at(&openat(CWD, model, walk::DIRECTORY, Mode::empty())?)?;
    let directory = openat(CWD, root, walk::DIRECTORY, Mode::empty())?;
    let look = walk::Look::at(&directory)?;
    let mut walk = walk::Walk { noted, keep, kept: vec![false; keep.len()], model, device: look.device, spare_link };
    walk.directory(&directory, root, 0, 0..keep.len())?;
    walk.check(&look, root)?;
    Ok(walk.kept)
}

/// Where files cannot be told apart by their times of change, none is untouched.
#[cfg(not(unix))]
pub(crate) fn strip(_: &Path, _: &gix::index::State, _: &[bool], _: &Path, _: bool) -> std::io::Result<Vec<bool>> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
mod walk {
    use super::*;
    use crate::{entries::for_each_entry, trash::delete_entry, untouched::stat};
    use rustix::fs::{AtFlags, Dev, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};
    use std::{ffi::CStr, ops::Range, os::fd::AsFd};

    pub(super) const DIRECTORY: OFlags =
        OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    pub(super) struct Walk<'a> {
        pub(super) noted: &'a gix::index::State,
        pub(super) keep: &'a [bool],
        pub(super) kept: Vec<bool>,
        pub(super) model: Look,
        pub(super) device: Dev,
        pub(super) spare_link: bool,
    }

    /// What a directory passes on to what is made in it, or shows to whoever looks.
    pub(super) struct Look {
        pub(super) device: Dev,
        mode: u32,
        owner: (u32, u32),
        attributes: Vec<u8>,
    }

    impl Look {
        pub(super) fn at(directory: &impl AsFd) -> std::io::Result<Self> {
            let found = fstat(directory)?;
            let mut attributes = Vec::new();
            // Not every file system has any.
            if let Ok(length @ 1..) = rustix::fs::flistxattr(directory, &mut [0_u8; 0]) {
                attributes = vec![0; length];
                rustix::fs::flistxattr(directory, &mut attributes[..])?;
            }
            Ok(Self { device: found.st_dev, mode: found.st_mode, owner: (found.st_uid, found.st_gid), attributes })
        }

        fn is_like(&self, other: &Self) -> bool {
            (self.mode, self.owner, &self.attributes) == (other.mode, other.owner, &other.attributes)
        }
    }

    /// What is noted of one name in a directory.
    enum Child {
        File(usize),
        Directory(Range<usize>),
    }

    impl<'a> Walk<'a> {
        /// `range` is of the entries below this directory, whose paths begin with `prefix` bytes of it.
        pub(super) fn directory(
            &mut self,
            directory: &impl AsFd,
            path: &Path,
            prefix: usize,
            range: Range<usize>,
        ) -> std::io::Result<()> {
            let children = self.children(prefix, range);
            for_each_entry(directory, |name, kind| {
                if prefix == 0 && self.spare_link && name == c".git" {
                    return Ok(());
                }
                let child = children.binary_search_by_key(&name.to_bytes(), |(child, _)| child);
                match child.ok().map(|number| &children[number].1) {
                    Some(Child::File(number)) if self.keep[*number] => {
                        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                        if stat(&found) == self.noted.entry(*number).stat && found.st_nlink == 1 {
                            self.kept[*number] = true;
                            return Ok(());
                        }
                        delete_entry(directory, name, kind, self.device, path)
                    }
                    Some(Child::Directory(range)) if is_directory(directory, name, kind)? => {
                        let inside = openat(directory, name, DIRECTORY, Mode::empty())?;
                        let path = path.join(std::ffi::OsStr::new(&*name.to_string_lossy()));
                        let look = Look::at(&inside)?;
                        if look.device != self.device {
                            return Err(std::io::Error::other(format!("{} is mounted there", path.display())));
                        }
                        self.directory(&inside, &path, prefix + name.to_bytes().len() + 1, range.clone())?;
                        if self.kept[range.clone()].contains(&true) {
                            self.check(&look, &path)
                        } else {
                            Ok(unlinkat(directory, name, AtFlags::REMOVEDIR)?)
                        }
                    }
                    _ => delete_entry(directory, name, kind, self.device, path),
                }
            })
        }

        pub(super) fn check(&self, look: &Look, path: &Path) -> std::io::Result<()> {
            if look.is_like(&self.model) {
                return Ok(());
            }
            Err(std::io::Error::other(format!("{} is not as a new directory is", path.display())))
        }

        /// What is noted in a directory, by name.
        fn children(&self, prefix: usize, range: Range<usize>) -> Vec<(&'a [u8], Child)> {
            let mut children = Vec::new();
            let mut number = range.start;
            while number < range.end {
                let path: &'a BStr = self.noted.entry(number).path(self.noted);
                let rest = &path[prefix..];
                let Some(end) = rest.find_byte(b'/') else {
                    children.push((rest.as_bytes(), Child::File(number)));
                    number += 1;
                    continue;
                };
                let below = &path[..=prefix + end];
                let others = &self.noted.entries()[number..range.end];
                let count = others.partition_point(|other| other.path(self.noted).starts_with(below));
                children.push((rest[..end].as_bytes(), Child::Directory(number..number + count)));
                number += count;
            }
            // An index has `a.b` before `a/b`.
            children.sort_unstable_by_key(|(name, _)| *name);
            children
        }
    }

    fn is_directory(directory: &impl AsFd, name: &CStr, kind: FileType) -> std::io::Result<bool> {
        Ok(match kind {
            FileType::Unknown => {
                let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(found.st_mode) == FileType::Directory
            }
            known => known == FileType::Directory,
        })
    }
}
