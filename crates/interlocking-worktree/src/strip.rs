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
    use rustix::fs::{CWD, Mode, fstat, openat};
    let model = openat(CWD, model, walk::DIRECTORY, Mode::empty())?;
    let mut walk = walk::Walk {
        noted,
        keep,
        kept: vec![false; keep.len()],
        model: walk::Look::at(&model)?,
        device: 0,
        spare_link,
    };
    let root_directory = openat(CWD, root, walk::DIRECTORY, Mode::empty())?;
    walk.device = fstat(&root_directory)?.st_dev;
    walk.directory(&root_directory, root, 0, 0..keep.len())?;
    walk.check(&root_directory, root)?;
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
    use crate::{trash::delete_entry, untouched::stat};
    use rustix::fs::{AtFlags, Dev, Dir, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};
    use std::{collections::HashMap, ops::Range, os::fd::AsFd};

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
    #[derive(PartialEq, Eq)]
    pub(super) struct Look {
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
            Ok(Self { mode: found.st_mode, owner: (found.st_uid, found.st_gid), attributes })
        }
    }

    /// What is noted of one name in a directory.
    enum Child {
        File(usize),
        Directory(Range<usize>),
    }

    impl Walk<'_> {
        /// `range` is of the entries below this directory, whose paths begin with `prefix` bytes of it.
        pub(super) fn directory(
            &mut self,
            directory: &impl AsFd,
            path: &Path,
            prefix: usize,
            range: Range<usize>,
        ) -> std::io::Result<()> {
            let children = self.children(prefix, range);
            for entry in Dir::read_from(directory)? {
                let entry = entry?;
                let name = entry.file_name();
                if name == c"." || name == c".." || prefix == 0 && self.spare_link && name == c".git" {
                    continue;
                }
                match children.get(name.to_bytes()) {
                    Some(Child::File(number)) if self.keep[*number] => {
                        let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                        if stat(&found) == self.noted.entry(*number).stat && found.st_nlink == 1 {
                            self.kept[*number] = true;
                            continue;
                        }
                        delete_entry(directory, name, self.device, path)?;
                    }
                    Some(Child::Directory(range)) if self.is_directory(directory, name, entry.file_type())? => {
                        let inside = openat(directory, name, DIRECTORY, Mode::empty())?;
                        let path = path.join(std::ffi::OsStr::new(&*name.to_string_lossy()));
                        if fstat(&inside)?.st_dev != self.device {
                            return Err(std::io::Error::other(format!("{} is mounted there", path.display())));
                        }
                        self.directory(&inside, &path, prefix + name.to_bytes().len() + 1, range.clone())?;
                        if !self.kept[range.clone()].contains(&true) {
                            unlinkat(directory, name, AtFlags::REMOVEDIR)?;
                        } else {
                            self.check(&inside, &path)?;
                        }
                    }
                    _ => delete_entry(directory, name, self.device, path)?,
                }
            }
            Ok(())
        }

        pub(super) fn check(&self, directory: &impl AsFd, path: &Path) -> std::io::Result<()> {
            if Look::at(directory)? == self.model {
                return Ok(());
            }
            Err(std::io::Error::other(format!("{} is not as a new directory is", path.display())))
        }

        fn is_directory(&self, directory: &impl AsFd, name: &std::ffi::CStr, known: FileType) -> std::io::Result<bool> {
            Ok(match known {
                FileType::Unknown => {
                    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(found.st_mode) == FileType::Directory
                }
                known => known == FileType::Directory,
            })
        }

        fn children(&self, prefix: usize, range: Range<usize>) -> HashMap<Vec<u8>, Child> {
            let mut children: HashMap<Vec<u8>, Child> = HashMap::new();
            let mut number = range.start;
            while number < range.end {
                let path: &BStr = self.noted.entry(number).path(self.noted);
                let rest = &path[prefix..];
                let Some(end) = rest.find_byte(b'/') else {
                    children.insert(rest.to_vec(), Child::File(number));
                    number += 1;
                    continue;
                };
                let below = &path[..=prefix + end];
                let others = (number..range.end)
                    .take_while(|other| self.noted.entry(*other).path(self.noted).starts_with(below))
                    .count();
                children.insert(rest[..end].to_vec(), Child::Directory(number..number + others));
                number += others;
            }
            children
        }
    }
}
