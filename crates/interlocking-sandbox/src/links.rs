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
    use std::os::unix::fs::MetadataExt as _;
    struct Linked {
        names: u64,
        found: std::collections::BTreeSet<PathBuf>,
    }
    let mut linked: HashMap<(u64, u64), Linked> = HashMap::new();
    // A root may be a symbolic link.
    let mut waiting = Vec::new();
    for root in roots {
        waiting.push(std::fs::canonicalize(root).map_err(|error| unreadable(root, &error))?);
    }
    while let Some(path) = waiting.pop() {
        let Some(metadata) = unless_deleted(&path, std::fs::symlink_metadata(&path))? else { continue };
        if metadata.is_dir() {
            waiting.extend(unless_deleted(&path, entries(&path))?.unwrap_or_default());
        } else if metadata.nlink() > 1 {
            let entry = linked
                .entry((metadata.dev(), metadata.ino()))
                .or_insert_with(|| Linked { names: metadata.nlink(), found: std::collections::BTreeSet::new() });
            // A set, as a file is found twice if a root lies in another root.
            entry.found.insert(path);
        }
    }
    let mut leading_out: Vec<PathBuf> = linked
        .into_values()
        .filter(|linked| (linked.found.len() as u64) < linked.names)
        .filter_map(|linked| linked.found.into_iter().next())
        .collect();
    leading_out.sort();
    Ok(leading_out)
}

/// Returns nothing: programs are not confined on these systems.
#[cfg(not(unix))]
pub fn links_leading_out(_roots: &[PathBuf]) -> Result<Vec<PathBuf>, PrepareError> {
    Ok(Vec::new())
}

/// The result of reading a path; `None` if the path was deleted after it was listed.
#[cfg(unix)]
fn unless_deleted<T>(path: &Path, read: std::io::Result<T>) -> Result<Option<T>, PrepareError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

#[cfg(unix)]
fn unreadable(path: &Path, error: &std::io::Error) -> PrepareError {
    PrepareError::Path { path: path.to_owned(), cause: error.to_string() }
}

#[cfg(unix)]
fn entries(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    std::fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect()
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
