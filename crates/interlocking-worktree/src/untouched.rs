//! What of a working tree needs no closer look: tracked files that are as the index says, by their times and sizes alone, and
//! directories in which nothing is but what is tracked.
//!
//! gix looks at each file by its whole path, and at each name with all rules for what is ignored. Nearly all files have not
//! changed, and nearly all names are tracked: to see that, a directory is opened once, and its files are looked at in it,
//! which takes a fraction of the time. Whatever is not plainly so is left to gix.

use std::{ops::Range, path::Path};

use gix::bstr::BString;

/// What was seen of a part of the index.
pub(crate) struct Seen {
    /// Of each entry of the part: whether its file is plainly the same, and gix would say so.
    pub(crate) untouched: Vec<bool>,
    /// Files and directories that are not tracked and lie in directories that are, whether ignored or not.
    pub(crate) unknown: Vec<BString>,
    /// Whether that cannot be said, so that each name is for gix to judge.
    pub(crate) is_odd: bool,
}

/// Looks at the files of the entries in `range`, and, if `lists`, at what else is in their directories.
#[cfg(not(unix))]
pub(crate) fn look(
    _: &Path,
    _: &gix::index::File,
    range: Range<usize>,
    _: gix::index::entry::stat::Options,
    _lists: bool,
) -> Seen {
    Seen { untouched: vec![false; range.len()], unknown: Vec::new(), is_odd: true }
}

#[cfg(unix)]
pub(crate) use walk::{look, stat};

#[cfg(unix)]
mod walk {
    use super::*;
    use crate::entries::for_each_entry;
    use gix::{
        bstr::{BStr, ByteSlice as _},
        index::entry::{Flags, Mode, Stage, Stat},
    };
    use rustix::{
        fs::{AtFlags, CWD, FileType, Mode as OpenMode, OFlags, openat, statat},
        io::Errno,
    };
    use std::os::fd::OwnedFd;

    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    const HIDING: Flags = Flags::INTENT_TO_ADD.union(Flags::SKIP_WORKTREE).union(Flags::ASSUME_VALID);

    /// Looks at the files of the entries in `range`, and, if `lists`, at what else is in their directories.
    pub(crate) fn look(
        root: &Path,
        index: &gix::index::File,
        range: Range<usize>,
        options: gix::index::entry::stat::Options,
        lists: bool,
    ) -> Seen {
        let seen = Seen { untouched: vec![false; range.len()], unknown: Vec::new(), is_odd: false };
        let mut walk = Walk { index, options, lists, first: range.start, seen };
        match openat(CWD, root, DIRECTORY.difference(OFlags::NOFOLLOW), OpenMode::empty()) {
            Ok(opened) => walk.directory(&opened, BStr::new(""), range),
            Err(_) => walk.seen.is_odd = true,
        }
        walk.seen
    }

    struct Walk<'a> {
        index: &'a gix::index::File,
        options: gix::index::entry::stat::Options,
        lists: bool,
        first: usize,
        seen: Seen,
    }

    impl<'a> Walk<'a> {
        /// The directory `prefix`, which is empty or ends with a slash; the entries of `range` are all below it.
        fn directory(&mut self, opened: &OwnedFd, prefix: &BStr, range: Range<usize>) {
            let index = self.index;
            let mut tracked: Vec<&'a [u8]> = Vec::new();
            let mut number = range.start;
            while number < range.end {
                let entry = &index.entries()[number];
                let path = entry.path(index);
                let rest = &path[prefix.len()..];
                let Some(end) = rest.find_byte(b'/') else {
                    tracked.push(rest);
                    self.file(opened, entry, number, rest);
                    number += 1;
                    continue;
                };
                // Part by part, so that a link in a directory's place is not followed.
                let (name, below) = (rest[..end].as_bytes(), &path[..prefix.len() + end + 1]);
                tracked.push(name);
                let entries = &index.entries()[number..range.end];
                let count = entries.partition_point(|entry| entry.path(index).starts_with(below));
                match openat(opened, name, DIRECTORY, OpenMode::empty()) {
                    Ok(directory) => self.directory(&directory, below.as_bstr(), number..number + count),
                    Err(Errno::NOENT) => {}
                    // A file or a link is there instead.
                    Err(Errno::NOTDIR | Errno::LOOP) => self.seen.unknown.push(below[..below.len() - 1].into()),
                    Err(_) => self.seen.is_odd = true,
                }
                number += count;
            }
            if self.lists {
                tracked.sort_unstable();
                self.list(opened, prefix, &tracked).unwrap_or_else(|_| self.seen.is_odd = true);
            }
        }

        fn file(&mut self, opened: &OwnedFd, entry: &gix::index::Entry, number: usize, name: &[u8]) {
            let Ok(found) = statat(opened, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
            let kind = FileType::from_raw_mode(found.st_mode);
            if kind == FileType::Directory && entry.mode != Mode::COMMIT {
                // What is in it is not tracked.
                self.seen.unknown.push(entry.path(self.index).to_owned());
            }
            if entry.stage() != Stage::Unconflicted
                || entry.flags.intersects(HIDING)
                || entry.stat.is_racy(self.index.timestamp(), self.options)
            {
                return;
            }
            let is_executable = found.st_mode & 0o100 != 0;
            let is_of_kind = match (kind, entry.mode) {
                (FileType::RegularFile, Mode::FILE) => !is_executable,
                (FileType::RegularFile, Mode::FILE_EXECUTABLE) => is_executable,
                (FileType::Symlink, Mode::SYMLINK) => true,
                _ => false,
            };
            self.seen.untouched[number - self.first] = is_of_kind && stat(&found) == entry.stat;
        }

        /// Notes what is in a directory and not tracked.
        fn list(&mut self, opened: &OwnedFd, prefix: &BStr, tracked: &[&[u8]]) -> std::io::Result<()> {
            for_each_entry(opened, |name, _| {
                let name = name.to_bytes();
                if tracked.binary_search(&name).is_ok() {
                    return Ok(());
                }
                if name.eq_ignore_ascii_case(b".git") {
                    // A repository in a tracked directory.
                    self.seen.is_odd |= !prefix.is_empty();
                    return Ok(());
                }
                let path = BString::from([prefix.as_bytes(), name].concat());
                // It may be tracked in a part of the index that somebody else looks at.
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

    /// As the index notes it.
    pub(crate) fn stat(found: &rustix::fs::Stat) -> Stat {
        use gix::index::entry::stat::Time;
        Stat {
            mtime: Time { secs: found.st_mtime as u32, nsecs: found.st_mtime_nsec as u32 },
            ctime: Time { secs: found.st_ctime as u32, nsecs: found.st_ctime_nsec as u32 },
            dev: found.st_dev as u32,
            ino: found.st_ino as u32,
            uid: found.st_uid,
            gid: found.st_gid,
            size: found.st_size as u32,
        }
    }
}
