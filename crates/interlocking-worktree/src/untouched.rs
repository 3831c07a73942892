//! Which tracked files are as the index says, by their times and sizes alone.
//!
//! gix looks at each file by its whole path. Nearly all files have not changed, and to see that, a directory is opened once
//! and its files are looked at in it, which takes a fraction of the time. Whatever is not plainly the same is left to gix.

use std::path::Path;

#[cfg(unix)]
use gix::{
    bstr::{BStr, ByteSlice as _},
    index::entry::{Flags, Mode, Stage, Stat},
};

/// By the number of the entry: whether its file is plainly the same, and gix would say so.
#[cfg(unix)]
pub(crate) fn untouched(root: &Path, index: &gix::index::File, options: gix::index::entry::stat::Options) -> Vec<bool> {
    use rustix::fs::{AtFlags, CWD, FileType, Mode as OpenMode, OFlags, openat, statat};
    const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    let mut untouched = vec![false; index.entries().len()];
    let Ok(root) = openat(CWD, root, DIRECTORY.difference(OFlags::NOFOLLOW), OpenMode::empty()) else {
        return untouched;
    };
    // From part to part, so that a link in a directory's place is not followed.
    let open = |directory: &BStr| {
        let mut opened = root.try_clone().ok()?;
        for part in directory.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            opened = openat(&opened, part, DIRECTORY, OpenMode::empty()).ok()?;
        }
        Some(opened)
    };
    let hiding = Flags::INTENT_TO_ADD | Flags::SKIP_WORKTREE | Flags::ASSUME_VALID;
    let mut current: Option<(&BStr, _)> = None;
    for (number, entry) in index.entries().iter().enumerate() {
        if entry.stage() != Stage::Unconflicted
            || entry.flags.intersects(hiding)
            || entry.stat.is_racy(index.timestamp(), options)
        {
            continue;
        }
        let path = entry.path(index);
        let (directory, name) = path.rsplit_once_str("/").unwrap_or((b"", path));
        let directory = directory.as_bstr();
        if current.as_ref().is_none_or(|(name, _)| *name != directory) {
            current = Some((directory, open(directory)));
        }
        let Some((_, Some(opened))) = &current else { continue };
        let Ok(found) = statat(opened, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_executable = found.st_mode & 0o100 != 0;
        let is_of_kind = match (FileType::from_raw_mode(found.st_mode), entry.mode) {
            (FileType::RegularFile, Mode::FILE) => !is_executable,
            (FileType::RegularFile, Mode::FILE_EXECUTABLE) => is_executable,
            (FileType::Symlink, Mode::SYMLINK) => true,
            _ => false,
        };
        untouched[number] = is_of_kind && stat(&found) == entry.stat;
    }
    untouched
}

#[cfg(not(unix))]
pub(crate) fn untouched(_: &Path, index: &gix::index::File, _: gix::index::entry::stat::Options) -> Vec<bool> {
    vec![false; index.entries().len()]
}

/// As the index notes it.
#[cfg(unix)]
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
