//! A snapshot of a workspace, with as much as is needed to find changes later.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::error::{CassetteError, of_workspace};
use crate::drivers::untrusted_files;

/// How old a change must be for a file's times to be reliable. The clock of a file system ticks every few milliseconds,
/// so a file that was just changed can be changed again without a change of its times. Such a file is read instead,
/// unless it is too large to be recorded. (Git has the same problem with racy entries of its index.)
const FRESH: Duration = Duration::from_millis(100);

/// The first bytes of the tag file in a cache directory, such as that of a build; see <https://bford.info/cachedir/>.
const CACHE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The entries of a workspace, by their paths relative to it.
#[derive(Debug, Default)]
pub(super) struct Snapshot(BTreeMap<PathBuf, Entry>);

/// An entry. A file has the digest of its content if its times are not reliable.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Directory,
    Link(PathBuf),
    File { stamp: Stamp, mode: u32, digest: Option<u64> },
}

/// Metadata that changes with every write, once the file system's clock has ticked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds of the inode's last change (`ctime`), and the inode number. A program can set the time
    /// of the last modification, but not these.
    changed: (i64, i64, u64),
}

/// The differences between two snapshots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    pub(super) removed: Vec<PathBuf>,
    /// New or changed entries, in the order of their paths. Only empty directories are listed.
    pub(super) written: Vec<PathBuf>,
}

impl Snapshot {
    /// Scans `workspace`, except for git's own directories, caches and entries with these names. Links are not
    /// followed, and anything other than files, directories and links is ignored.
    ///
    /// Freshly changed files are read if they have at most `longest` bytes: 0 for a snapshot that is only compared with
    /// an earlier one.
    pub(super) fn take(workspace: &Path, without: &BTreeSet<OsString>, longest: u64) -> Result<Self, CassetteError> {
        let mut snapshot = Self::default();
        if workspace.is_dir() {
            snapshot.enter(workspace, Path::new(""), without, longest, SystemTime::now())?;
        }
        Ok(snapshot)
    }

    fn enter(
        &mut self,
        workspace: &Path,
        directory: &Path,
        without: &BTreeSet<OsString>,
        longest: u64,
        now: SystemTime,
    ) -> Result<(), CassetteError> {
        let here = workspace.join(directory);
        let failed = |error: io::Error| of_workspace(&here, error);
        for found in fs::read_dir(&here).map_err(failed)? {
            let found = found.map_err(failed)?;
            let name = found.file_name();
            if name == OsStr::new(".git") || without.contains(&name) {
                continue;
            }
            let (path, relative) = (found.path(), directory.join(&name));
            let entry = match look(&path, longest, now) {
                Ok(Some(entry)) => entry,
                // The entry is neither a file nor a directory nor a link, or it was removed during the scan.
                Ok(None) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(of_workspace(&path, error)),
            };
            if entry == Entry::Directory {
                if is_cache(&path) {
                    continue;
                }
                self.enter(workspace, &relative, without, longest, now)?;
            }
            self.0.insert(relative, entry);
        }
        Ok(())
    }

    /// The differences in a later snapshot of the same workspace.
    pub(super) fn compared_with(&self, later: &Self, workspace: &Path) -> Result<Differences, CassetteError> {
        let mut differences = Differences::default();
        for (path, entry) in &self.0 {
            // An entry whose kind has changed, such as from file to directory, is removed before it is written anew.
            if later.0.get(path).is_none_or(|now| !now.is_kind_of(entry)) {
                differences.removed.push(path.clone());
            }
        }
        for (path, entry) in &later.0 {
            let is_same = match (self.0.get(path), entry) {
                (Some(Entry::Directory), Entry::Directory) => true,
                (_, Entry::Directory) => later.has_entries_in(path),
                (Some(before), entry) => {
                    let file = workspace.join(path);
                    before.is_same(entry, &file).map_err(|error| of_workspace(&file, error))?
                }
                (None, _) => false,
            };
            if !is_same {
                differences.written.push(path.clone());
            }
        }
        Ok(differences)
    }

    fn has_entries_in(&self, directory: &Path) -> bool {
        use std::ops::Bound;
        let mut after = self.0.range::<Path, _>((Bound::Excluded(directory), Bound::Unbounded));
        after.next().is_some_and(|(path, _)| path.starts_with(directory))
    }
}

impl Entry {
    fn is_kind_of(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether `now`, the entry at `file`, equals this entry. A file that has gone since does not.
    fn is_same(&self, now: &Self, file: &Path) -> io::Result<bool> {
        let Self::File { stamp, mode, digest } = self else { return Ok(self == now) };
        let Self::File { stamp: stamp_now, mode: mode_now, .. } = now else { return Ok(false) };
        if mode != mode_now || stamp.size != stamp_now.size {
            return Ok(false);
        }
        let Some(digest) = digest else { return Ok(stamp == stamp_now) };
        match digest_of(file, stamp.size) {
            Ok(digest_now) => Ok(*digest == digest_now),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn look(path: &Path, longest: u64, now: SystemTime) -> io::Result<Option<Entry>> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_dir() {
        return Ok(Some(Entry::Directory));
    }
    if metadata.is_symlink() {
        return Ok(Some(Entry::Link(fs::read_link(path)?)));
    }
    if !metadata.is_file() {
        return Ok(None);
    }
    let stamp = stamp(&metadata);
    let is_read = stamp.size <= longest && is_fresh(&stamp, now);
    let digest = if is_read { Some(digest_of(path, stamp.size)?) } else { None };
    Ok(Some(Entry::File { stamp, mode: mode(&metadata), digest }))
}

fn is_fresh(stamp: &Stamp, now: SystemTime) -> bool {
    let Some(limit) = now.checked_sub(FRESH) else { return true };
    let (seconds, nanoseconds, _) = stamp.changed;
    let changed = u64::try_from(seconds).ok().and_then(|seconds| {
        let since = Duration::new(seconds, u32::try_from(nanoseconds).ok()?);
        SystemTime::UNIX_EPOCH.checked_add(since)
    });
    [stamp.modified, changed].into_iter().any(|time| time.is_none_or(|time| time >= limit))
}

#[cfg(unix)]
fn stamp(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt as _;
    let changed = (metadata.ctime(), metadata.ctime_nsec(), metadata.ino());
    Stamp { size: metadata.len(), modified: metadata.modified().ok(), changed }
}

/// The time of the last change of the inode is not available, so the file is treated as freshly changed, and read.
#[cfg(not(unix))]
fn stamp(metadata: &Metadata) -> Stamp {
    Stamp { size: metadata.len(), modified: metadata.modified().ok(), changed: (-1, 0, 0) }
}

#[cfg(unix)]
pub(super) fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
}

#[cfg(not(unix))]
pub(super) fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o644 }
}

/// The digest of the first `size` bytes: the file may be growing.
fn digest_of(file: &Path, size: u64) -> io::Result<u64> {
    let mut file = untrusted_files::open(file)?.take(size);
    let (mut hasher, mut piece) = (DefaultHasher::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finish()),
            read => hasher.write(&piece[..read]),
        }
    }
}

fn is_cache(directory: &Path) -> bool {
    let read = || -> io::Result<bool> {
        let mut tag = vec![0; CACHE.len()];
        untrusted_files::open(&directory.join("CACHEDIR.TAG"))?.read_exact(&mut tag)?;
        Ok(tag == CACHE)
    };
    read().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(workspace: &Path, act: impl FnOnce()) -> Differences {
        let without = BTreeSet::from([OsString::from("node_modules")]);
        let before = Snapshot::take(workspace, &without, 1 << 20).unwrap();
        act();
        before.compared_with(&Snapshot::take(workspace, &without, 0).unwrap(), workspace).unwrap()
    }

    fn paths<const N: usize>(paths: [&str; N]) -> Vec<PathBuf> {
        paths.map(PathBuf::from).to_vec()
    }

    #[test]
    fn what_was_made_changed_and_removed_is_found() {
        let workspace = tempfile::tempdir().unwrap();
        let at = |path: &str| workspace.path().join(path);
        for directory in ["src", "old", "becomes-file", ".git", "node_modules", "target"] {
            fs::create_dir(at(directory)).unwrap();
        }
        for file in ["src/a", "src/b", "old/x", "becomes-file/y", "becomes-directory", "gone"] {
            fs::write(at(file), file).unwrap();
        }
        fs::write(at("target/CACHEDIR.TAG"), CACHE).unwrap();
        assert_eq!(differences(workspace.path(), || {}), Differences::default());
        let found = differences(workspace.path(), || {
            fs::write(at("src/a"), "SRC/A").unwrap();
            fs::remove_file(at("gone")).unwrap();
            fs::remove_dir_all(at("old")).unwrap();
            fs::remove_dir_all(at("becomes-file")).unwrap();
            fs::write(at("becomes-file"), "").unwrap();
            fs::remove_file(at("becomes-directory")).unwrap();
            fs::create_dir_all(at("becomes-directory/deep/empty")).unwrap();
            fs::create_dir(at("made")).unwrap();
            fs::write(at("made/z"), "").unwrap();
            for unseen in [".git/HEAD", "node_modules/m", "target/o", "src/.git"] {
                fs::write(at(unseen), "").unwrap();
            }
        });
        let removed = paths(["becomes-directory", "becomes-file", "becomes-file/y", "gone", "old", "old/x"]);
        let written = paths(["becomes-directory/deep/empty", "becomes-file", "made/z", "src/a"]);
        assert_eq!(found, Differences { removed, written });
    }

    /// The changes have the same size, and happen within one tick of the file system's clock.
    #[test]
    fn a_change_right_after_another_one_is_found() {
        let workspace = tempfile::tempdir().unwrap();
        let file = workspace.path().join("file");
        for round in 0..50 {
            fs::write(&file, "one").unwrap();
            let found = differences(workspace.path(), || fs::write(&file, "two").unwrap());
            assert_eq!(found.written, paths(["file"]), "{round}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn modes_and_links_are_a_part_of_it() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let workspace = tempfile::tempdir().unwrap();
        let at = |path: &str| workspace.path().join(path);
        fs::write(at("script"), "").unwrap();
        symlink("script", at("link")).unwrap();
        symlink("elsewhere", at("other")).unwrap();
        let found = differences(workspace.path(), || {
            fs::set_permissions(at("script"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::remove_file(at("link")).unwrap();
            symlink("gone", at("link")).unwrap();
            fs::remove_file(at("other")).unwrap();
            fs::write(at("other"), "").unwrap();
            symlink("/", at("root")).unwrap();
        });
        let (removed, written) = (paths(["other"]), paths(["link", "other", "root", "script"]));
        assert_eq!(found, Differences { removed, written });
    }

    /// Opening the pipe would wait for a writer, and reading the file would take hours.
    #[cfg(unix)]
    #[test]
    fn a_pipe_named_like_a_tag_and_a_huge_file_are_not_read() {
        let workspace = tempfile::tempdir().unwrap();
        let at = |path: &str| workspace.path().join(path);
        let found = differences(workspace.path(), || {
            fs::create_dir(at("x")).unwrap();
            let made = std::process::Command::new("mkfifo").arg(at("x/CACHEDIR.TAG")).status().unwrap();
            assert!(made.success());
            fs::File::create(at("huge")).unwrap().set_len(1 << 40).unwrap();
        });
        assert_eq!(found.written, paths(["huge", "x"]), "a pipe is not recorded, so its directory is empty");
        assert_eq!(differences(workspace.path(), || {}), Differences::default());
    }

    #[test]
    fn a_workspace_that_is_not_there_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("later");
        let found = differences(&workspace, || {
            fs::create_dir(&workspace).unwrap();
            fs::write(workspace.join("a"), "").unwrap();
        });
        assert_eq!(found.written, paths(["a"]));
    }
}
