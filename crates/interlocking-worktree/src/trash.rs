//! Deleting directories: whole, and nothing but them.
//!
//! Each directory is opened without following a symbolic link and emptied through what was opened, so that whoever swaps
//! one for a link meanwhile gains nothing. What is mounted inside belongs to somebody else: nothing is deleted then.

use std::path::{Path, PathBuf};

#[cfg(unix)]
use crate::entries::for_each_entry;

/// Deletes a directory with all that is in it. None there is fine.
#[cfg(unix)]
pub(crate) fn delete_tree(directory: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
    if let Some(mount) = mounted_below(directory) {
        return Err(foreign(&mount));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = match openat(CWD, directory, flags, Mode::empty()) {
        Err(error) if error == rustix::io::Errno::NOENT => return Ok(()),
        Err(rustix::io::Errno::ACCESS) => {
            make_accessible(CWD, directory)?;
            openat(CWD, directory, flags, Mode::empty())?
        }
        opened => opened?,
    };
    let device = fstat(&root)?.st_dev;
    empty(&root, device, directory)?;
    drop(root);
    std::fs::remove_dir(directory)
}

#[cfg(not(unix))]
pub(crate) fn delete_tree(directory: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Deletes everything in an open directory. `path` is for messages.
#[cfg(unix)]
pub(crate) fn empty(directory: &impl std::os::fd::AsFd, device: rustix::fs::Dev, path: &Path) -> std::io::Result<()> {
    for_each_entry(directory, |name, kind| delete_entry(directory, name, kind, device, path))
}

/// Deletes one entry of an open directory, whatever it is. `kind` is what the directory says of it.
#[cfg(unix)]
pub(crate) fn delete_entry(
    directory: &impl std::os::fd::AsFd,
    name: &std::ffi::CStr,
    kind: rustix::fs::FileType,
    device: rustix::fs::Dev,
    path: &Path,
) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat, unlinkat};
    let delete_file = || match unlinkat(directory, name, AtFlags::empty()) {
        Err(rustix::io::Errno::ACCESS) => {
            make_accessible(directory, c".")?;
            Ok(unlinkat(directory, name, AtFlags::empty())?)
        }
        result => Ok(result?),
    };
    if ![FileType::Directory, FileType::Unknown].contains(&kind) {
        return delete_file();
    }
    let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return delete_file();
    }
    let path = path.join(std::ffi::OsStr::new(&*name.to_string_lossy()));
    if found.st_dev != device {
        return Err(foreign(&path));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inside = match openat(directory, name, flags, Mode::empty()) {
        Err(rustix::io::Errno::ACCESS) => {
            make_accessible(directory, name)?;
            openat(directory, name, flags, Mode::empty())?
        }
        opened => opened?,
    };
    empty(&inside, device, &path)?;
    drop(inside);
    Ok(unlinkat(directory, name, AtFlags::REMOVEDIR)?)
}

/// An owner may do anything with a directory, once it has said so.
#[cfg(unix)]
fn make_accessible(directory: impl std::os::fd::AsFd, name: impl rustix::path::Arg) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, Mode, chmodat};
    Ok(chmodat(directory, name, Mode::RWXU, AtFlags::empty())?)
}

fn foreign(path: &Path) -> std::io::Error {
    std::io::Error::other(format!("{} is another file system, mounted there: unmount it first", path.display()))
}

/// What is mounted in a directory or on it, by the system's list.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "it is the kernel that writes there")]
pub(crate) fn mounted_below(directory: &Path) -> Option<PathBuf> {
    let list = std::fs::read("/proc/self/mountinfo").ok()?;
    let directory = std::fs::canonicalize(directory).ok()?;
    mounts(&list).into_iter().find(|mount| mount.starts_with(&directory))
}

/// Only file systems of another device are told apart there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn mounted_below(_: &Path) -> Option<PathBuf> {
    None
}

/// The mount points in `mountinfo`: the fifth field, with blanks, tabs, line breaks and backslashes in octal.
#[cfg(target_os = "linux")]
fn mounts(list: &[u8]) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let plain = |field: &[u8]| {
        let mut path = Vec::with_capacity(field.len());
        let mut rest = field;
        while let Some((byte, after)) = rest.split_first() {
            let octal = (*byte == b'\\').then(|| after.get(..3)).flatten();
            let code = octal.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
            path.push(code.unwrap_or(*byte));
            rest = if code.is_some() { &after[3..] } else { after };
        }
        PathBuf::from(std::ffi::OsString::from_vec(path))
    };
    let lines = list.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4)).map(plain).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn mount_points_are_read_with_their_blanks() {
        let list = b"36 35 98:0 / /a\\040b rw shared:1 - ext3 /dev/root rw\n37 36 0:5 / /c\\134d rw - tmpfs tmpfs rw\n";
        assert_eq!(mounts(list), [PathBuf::from("/a b"), PathBuf::from("/c\\d")]);
    }

    #[test]
    fn what_a_link_leads_to_stays_and_what_is_closed_goes() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
        std::fs::create_dir_all(inside.join("deep/er")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "kept").unwrap();
        std::fs::write(inside.join("deep/er/file"), "x").unwrap();
        symlink(&outside, inside.join("link")).unwrap();
        symlink("nowhere", inside.join("deep/broken")).unwrap();
        std::fs::set_permissions(inside.join("deep/er"), PermissionsExt::from_mode(0o000)).unwrap();
        std::fs::set_permissions(inside.join("deep"), PermissionsExt::from_mode(0o500)).unwrap();
        delete_tree(&inside).unwrap();
        assert!(!inside.exists());
        assert!(outside.join("kept").exists());
        delete_tree(&inside).unwrap();
        // A link in the directory's own place is no directory.
        symlink(&outside, &inside).unwrap();
        assert!(delete_tree(&inside).is_err());
        assert!(outside.join("kept").exists());
    }
}
