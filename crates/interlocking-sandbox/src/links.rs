//! Finds hard links that lead out of a place: a file outside that has a second name in the place is accessible by that name.

use crate::prepare_error::PrepareError;
#[cfg(unix)]
use std::collections::HashMap;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

/// Returns the files below `roots` that have more hard links than are found there: one path for each file, sorted.
///
/// A confined program cannot make such a link itself. Build tools make hard links within a place, which do not lead out. Package
/// managers that link files from a shared store make many that do. Symbolic links below the roots are not followed, and files
/// that are deleted during the search are skipped.
///
/// # Errors
///
/// [`PrepareError::Path`] with the root that does not exist, or the path below a root that cannot be read.
#[cfg(unix)]
pub fn links_leading_out(roots: &[PathBuf]) -> Result<Vec<PathBuf>, PrepareError> {
    use crate::deletion::{entries::for_each_entry, is_directory};
    use rustix::fs::{AtFlags, CWD, FileType, statat};
    use std::os::unix::ffi::OsStrExt as _;
    struct Linked {
        names: usize,
        found: std::collections::BTreeSet<PathBuf>,
    }
    let mut linked = HashMap::new();
    let mut note = |path: PathBuf, found: &rustix::fs::Stat| {
        let names = usize::try_from(found.st_nlink).unwrap_or(usize::MAX);
        if names > 1 {
            let new = || Linked { names, found: std::collections::BTreeSet::new() };
            // A set, as a file is found twice if a root lies in another root.
            linked.entry((found.st_dev, found.st_ino)).or_insert_with(new).found.insert(path);
        }
    };
    let mut waiting = Vec::new();
    for root in roots {
        // A root may be a symbolic link, or a file.
        let path = std::fs::canonicalize(root).map_err(|error| unreadable(root, &error))?;
        let found = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW).map_err(std::io::Error::from);
        match unless_deleted(&path, found)? {
            Some(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => waiting.push(path),
            Some(found) => note(path, &found),
            None => {}
        }
    }
    while let Some(directory) = waiting.pop() {
        let Some(opened) = unless_deleted(&directory, open(&directory))? else { continue };
        let listed = for_each_entry(&opened, |name, kind| {
            let path = directory.join(std::ffi::OsStr::from_bytes(name.to_bytes()));
            let looked = is_directory(&opened, name, kind).and_then(|is_directory| match is_directory {
                true => Ok(None),
                false => Ok(Some(statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?)),
            });
            match looked {
                Ok(None) => waiting.push(path),
                Ok(Some(found)) => note(path, &found),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            Ok(())
        });
        unless_deleted(&directory, listed)?;
    }
    let mut leading_out: Vec<PathBuf> = linked
        .into_values()
        .filter(|linked| linked.found.len() < linked.names)
        .filter_map(|linked| linked.found.into_iter().next())
        .collect();
    leading_out.sort();
    Ok(leading_out)
}

/// Opens a directory whose path may be longer than the system allows: in parts that it does allow.
#[cfg(unix)]
fn open(directory: &Path) -> std::io::Result<std::os::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, openat};
    /// The shortest limit of any system, `PATH_MAX` of macOS, less the last name.
    const LONGEST: usize = 1024 - 256;
    let mut opened = None;
    let mut part = PathBuf::new();
    let open_part = |opened: Option<&std::os::fd::OwnedFd>, part: &Path| match opened {
        Some(above) => openat(above, part, crate::deletion::DIRECTORY, Mode::empty()),
        None => openat(CWD, part, crate::deletion::DIRECTORY, Mode::empty()),
    };
    for name in directory.components() {
        part.push(name);
        if part.as_os_str().len() > LONGEST {
            opened = Some(open_part(opened.as_ref(), &part)?);
            part.clear();
        }
    }
    match opened {
        Some(opened) if part.as_os_str().is_empty() => Ok(opened),
        opened => Ok(open_part(opened.as_ref(), &part)?),
    }
}

/// Returns nothing: programs are not confined on these systems.
#[cfg(not(unix))]
pub fn links_leading_out(_roots: &[PathBuf]) -> Result<Vec<PathBuf>, PrepareError> {
    Ok(Vec::new())
}

/// The result of reading a path; `None` if what was listed there was deleted or replaced with something else.
#[cfg(unix)]
fn unless_deleted<T>(path: &Path, read: std::io::Result<T>) -> Result<Option<T>, PrepareError> {
    use rustix::io::Errno;
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error)
            if [Errno::NOENT, Errno::NOTDIR, Errno::LOOP]
                .map(|gone| Some(gone.raw_os_error()))
                .contains(&error.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

#[cfg(unix)]
fn unreadable(path: &Path, error: &std::io::Error) -> PrepareError {
    PrepareError::Path { path: path.to_owned(), cause: error.to_string() }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_names_outside_all_roots_count() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| std::fs::canonicalize(directory.path()).unwrap().join(path);
        for root in ["place/deep", "temporary", "outside"] {
            std::fs::create_dir_all(at(root)).unwrap();
        }
        for (file, link) in [
            ("place/built", "place/deep/built"),
            ("place/shared", "temporary/shared"),
            ("outside/secret", "place/deep/planted"),
        ] {
            std::fs::write(at(file), "x").unwrap();
            std::fs::hard_link(at(file), at(link)).unwrap();
        }
        let found = |roots: &[&str]| links_leading_out(&roots.iter().map(|root| at(root)).collect::<Vec<_>>()).unwrap();
        assert_eq!(found(&["place", "temporary"]), [at("place/deep/planted")]);
        assert_eq!(found(&["place", "place/deep", "temporary"]), [at("place/deep/planted")]);
        assert_eq!(found(&["place"]), [at("place/deep/planted"), at("place/shared")]);
        std::os::unix::fs::symlink(at("place"), at("link")).unwrap();
        assert_eq!(found(&["link", "temporary"]), [at("place/deep/planted")]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(directory.path()).unwrap();
        let named = |roots: &[PathBuf]| match links_leading_out(roots) {
            Err(PrepareError::Path { path, .. }) => path,
            other => panic!("{other:?}"),
        };
        assert_eq!(named(&[root.clone(), root.join("absent")]), root.join("absent"));
        let locked = root.join("locked");
        std::fs::create_dir(&locked).unwrap();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
        // Root can read it anyway.
        if std::fs::read_dir(&locked).is_err() {
            assert_eq!(named(&[root]), locked);
        }
    }

    #[test]
    fn directories_that_are_nested_beyond_the_longest_path_are_searched() {
        use rustix::fs::{CWD, Mode, linkat, mkdirat, openat};
        let place = tempfile::tempdir().unwrap();
        let (root, outside) = (place.path().join("root"), place.path().join("outside"));
        std::fs::create_dir(&root).unwrap();
        std::fs::write(&outside, "x").unwrap();
        let mut directory = openat(CWD, &root, crate::deletion::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            mkdirat(&directory, "nested", Mode::RWXU).unwrap();
            directory = openat(&directory, "nested", crate::deletion::DIRECTORY, Mode::empty()).unwrap();
        }
        linkat(CWD, &outside, &directory, "link", rustix::fs::AtFlags::empty()).unwrap();
        let found = links_leading_out(std::slice::from_ref(&root)).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].ends_with("nested/nested/link"));
        crate::deletion::delete_tree(&root).unwrap();
    }

    #[test]
    fn a_directory_that_is_deleted_meanwhile_is_passed_over() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let directory = tempfile::tempdir().unwrap();
        let (root, done) = (directory.path().to_owned(), AtomicBool::new(false));
        let deleted = root.join("of-another-turn");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::fs::create_dir(&deleted).unwrap();
                    std::fs::remove_dir(&deleted).unwrap();
                }
            });
            let found: Result<Vec<_>, _> = (0..5_000).map(|_| links_leading_out(std::slice::from_ref(&root))).collect();
            done.store(true, Ordering::Relaxed);
            assert!(found.unwrap().iter().all(Vec::is_empty));
        });
    }
}
