//! Deletes directories completely, and nothing outside of them, whatever a confined program has made in them.
//!
//! Each directory is opened without following a symbolic link and emptied through the descriptor, so that a program
//! that replaces a directory with a link gains nothing; modes are changed in the same way. Another file system that is
//! mounted inside must not be deleted: nothing is deleted then.
//!
//! A program can nest directories deeper than the number of files that a process may have open, and deeper than the
//! longest path. So only a few dozen directories are open at once: deeper ones are moved up to the directory that is being
//! deleted, and deleted from there.

pub mod entries;

use std::path::{Path, PathBuf};

use entries::for_each_entry;
use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, SeekFrom, fchmod, fstat, openat, renameat, seek, statat, unlinkat},
    io::Errno,
};
use std::{
    ffi::CStr,
    os::fd::{AsFd, AsRawFd as _, OwnedFd},
};

/// How a directory is opened to list it, without following a link.
pub const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// How many nested directories are open at once.
const DEEPEST: usize = 64;

/// How many directories are moved up before giving up because a program seems to create new ones all the time.
const PATIENCE: usize = 100_000;

/// Deletes a directory with everything in it, whatever its permissions. It may be missing.
///
/// # Errors
///
/// If it is a link or another file, something could not be deleted, or another file system is mounted there.
pub fn delete_tree(directory: &Path) -> std::io::Result<()> {
    if let Some(mount) = mounted_below(directory) {
        return Err(mounted_error(&mount));
    }
    let root = match openat(CWD, directory, DIRECTORY, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ACCESS) => open_and_chmod(CWD, directory)?,
        opened => opened?,
    };
    TreeDeletion::of(&root)?.all(&root, directory)?;
    drop(root);
    std::fs::remove_dir(directory)
}

/// Deletes one entry of an open directory, whatever it is. `kind` is the kind that the directory's listing gives.
/// `path` is the directory's path, for messages.
///
/// # Errors
///
/// If something could not be deleted, or another file system is mounted there.
pub fn delete_entry(directory: &impl AsFd, name: &CStr, kind: FileType, path: &Path) -> std::io::Result<()> {
    if !is_directory(directory, name, kind)? {
        return match unlinkat(directory, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            result => Ok(result?),
        };
    }
    let path = below(path, name);
    let inside = open_inside(directory, name, fstat(directory)?.st_dev, &path)?;
    TreeDeletion::of(&inside)?.all(&inside, &path)?;
    drop(inside);
    Ok(unlinkat(directory, name, AtFlags::REMOVEDIR)?)
}

/// Like [`delete_entry`], by the name alone. The entry may be missing.
///
/// # Errors
///
/// As for [`delete_entry`], or if the name contains a zero byte.
pub fn delete_named(directory: &impl AsFd, name: &[u8], path: &Path) -> std::io::Result<()> {
    let name = std::ffi::CString::new(name)?;
    match delete_entry(directory, &name, FileType::Unknown, path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The state of emptying a directory.
struct TreeDeletion {
    device: rustix::fs::Dev,
    /// How many directories were moved up to it.
    moved: usize,
}

impl TreeDeletion {
    fn of(top: &OwnedFd) -> std::io::Result<Self> {
        Ok(Self { device: fstat(top)?.st_dev, moved: 0 })
    }

    fn all(mut self, top: &OwnedFd, path: &Path) -> std::io::Result<()> {
        loop {
            let before = self.moved;
            seek(top, SeekFrom::Start(0))?;
            self.directory(top, top, 1, path)?;
            if self.moved == before {
                return Ok(());
            }
            if self.moved > PATIENCE {
                return Err(std::io::Error::other(format!(
                    "{} is filled with new files as fast as they are removed",
                    path.display()
                )));
            }
        }
    }

    fn directory(&mut self, top: &OwnedFd, directory: &OwnedFd, depth: usize, path: &Path) -> std::io::Result<()> {
        make_writable(directory)?;
        for_each_entry(directory, |name, kind| {
            if !is_directory(directory, name, kind)? {
                return Ok(unlinkat(directory, name, AtFlags::empty())?);
            }
            let path = below(path, name);
            let inside = open_inside(directory, name, self.device, &path)?;
            if depth < DEEPEST {
                self.directory(top, &inside, depth + 1, &path)?;
                drop(inside);
                return Ok(unlinkat(directory, name, AtFlags::REMOVEDIR)?);
            }
            // Moving a directory to another parent writes to it.
            make_writable(&inside)?;
            self.move_up(top, directory, name)
        })
    }

    fn move_up(&mut self, top: &OwnedFd, directory: &OwnedFd, name: &CStr) -> std::io::Result<()> {
        const TAKEN: [Errno; 4] = [Errno::EXIST, Errno::NOTEMPTY, Errno::NOTDIR, Errno::ISDIR];
        loop {
            self.moved += 1;
            match renameat(directory, name, top, format!(".moved-up-{}", self.moved)) {
                Err(error) if TAKEN.contains(&error) && self.moved < PATIENCE => {}
                result => return Ok(result?),
            }
        }
    }
}

fn below(path: &Path, name: &CStr) -> PathBuf {
    path.join(std::ffi::OsStr::new(&*name.to_string_lossy()))
}

/// Whether an entry of an open directory is a directory itself. `kind` is the kind that the directory's listing gives.
///
/// # Errors
///
/// If the listing does not give the kind, and it cannot be read.
pub fn is_directory(directory: &impl AsFd, name: &CStr, kind: FileType) -> std::io::Result<bool> {
    Ok(match kind {
        FileType::Unknown => {
            let found = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(found.st_mode) == FileType::Directory
        }
        known => known == FileType::Directory,
    })
}

/// Opens a directory in another one, unless it is a mount point. If its mode denies its owner access, the mode is
/// changed. `device` is the device of the directory above, `path` the path for messages.
///
/// # Errors
///
/// If it cannot be opened, or another file system is mounted there.
pub fn open_inside(
    directory: &impl AsFd,
    name: &CStr,
    device: rustix::fs::Dev,
    path: &Path,
) -> std::io::Result<OwnedFd> {
    let inside = match open_unless_mounted(directory, name) {
        Err(Errno::ACCESS) => open_and_chmod(directory, name)?,
        Err(Errno::XDEV) => return Err(mounted_error(path)),
        opened => opened?,
    };
    if fstat(&inside)?.st_dev == device { Ok(inside) } else { Err(mounted_error(path)) }
}

/// A directory of the same file system can be mounted too, which device numbers do not show.
#[cfg(target_os = "linux")]
fn open_unless_mounted(directory: &impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    match openat2(directory, name, DIRECTORY, Mode::empty(), within) {
        // An old kernel, or a sandbox that does not allow the call.
        Err(Errno::NOSYS | Errno::PERM) => openat(directory, name, DIRECTORY, Mode::empty()),
        opened => opened,
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open_unless_mounted(directory: &impl AsFd, name: &CStr) -> Result<OwnedFd, Errno> {
    openat(directory, name, DIRECTORY, Mode::empty())
}

/// Opens a directory whose mode denies its owner access. The mode is changed on the descriptor that was opened without
/// following a link, so a replacement of the directory is not affected.
#[cfg(target_os = "linux")]
fn open_and_chmod(directory: impl AsFd, name: impl rustix::path::Arg) -> std::io::Result<OwnedFd> {
    use rustix::fs::chmodat;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let found = openat(directory, name, flags, Mode::empty())?;
    // A descriptor opened with `O_PATH` allows no other way to change the mode.
    let itself = format!("/proc/self/fd/{}", found.as_raw_fd());
    chmodat(CWD, &itself, Mode::RWXU, AtFlags::empty())?;
    Ok(openat(&found, c".", DIRECTORY, Mode::empty())?)
}

#[cfg(all(unix, not(target_os = "linux")))]
fn open_and_chmod(directory: impl AsFd, name: impl rustix::path::Arg + Copy) -> std::io::Result<OwnedFd> {
    use rustix::fs::chmodat;
    chmodat(&directory, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(openat(&directory, name, DIRECTORY, Mode::empty())?)
}

/// Gives the owner all permissions on the directory.
fn make_writable(directory: &OwnedFd) -> std::io::Result<()> {
    let mode = fstat(directory)?.st_mode;
    if mode & 0o700 != 0o700 {
        fchmod(directory, Mode::RWXU)?;
    }
    Ok(())
}

fn mounted_error(path: &Path) -> std::io::Error {
    std::io::Error::other(format!("{} is another file system, mounted there: unmount it first", path.display()))
}

/// A mount point at or below a directory, from the system's list.
#[cfg(target_os = "linux")]
pub fn mounted_below(directory: &Path) -> Option<PathBuf> {
    let list = std::fs::read("/proc/self/mountinfo").ok()?;
    let directory = std::fs::canonicalize(directory).ok()?;
    mounts(&list).into_iter().find(|mount| mount.starts_with(&directory))
}

/// On other systems, only file systems of another device are detected.
#[cfg(not(target_os = "linux"))]
pub fn mounted_below(_: &Path) -> Option<PathBuf> {
    None
}

/// The mount points in `mountinfo`: the fifth field, in which blanks, tabs, line breaks and backslashes are octal.
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

    /// A link replaces a directory just before its mode is changed.
    #[test]
    fn the_mode_of_what_a_link_leads_to_stays() {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        std::fs::create_dir(&victim).unwrap();
        std::fs::set_permissions(&victim, PermissionsExt::from_mode(0o755)).unwrap();
        symlink(&victim, place.path().join("closed")).unwrap();
        let directory = std::fs::File::open(place.path()).unwrap();
        assert!(open_and_chmod(&directory, c"closed").is_err());
        assert_eq!(std::fs::metadata(&victim).unwrap().permissions().mode() & 0o777, 0o755);
    }

    /// Other entries have the names to which directories are moved up.
    #[test]
    fn names_that_are_taken_do_not_hinder() {
        let place = tempfile::tempdir().unwrap();
        let inside = place.path().join("inside");
        for name in [".moved-up-1/x", ".moved-up-3/y/z"] {
            std::fs::create_dir_all(inside.join(name)).unwrap();
        }
        std::fs::write(inside.join(".moved-up-2"), "file").unwrap();
        let deep = "d/".repeat(DEEPEST * 3);
        for name in ["a", "b", "c"] {
            std::fs::create_dir_all(inside.join(name).join(&deep)).unwrap();
        }
        delete_tree(&inside).unwrap();
        assert!(!inside.exists());
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
        // A link in the place of the directory itself is not a directory.
        symlink(&outside, &inside).unwrap();
        assert!(delete_tree(&inside).is_err());
        assert!(outside.join("kept").exists());
    }
}
