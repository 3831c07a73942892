//! Hard links that lead out of a place: a file with a second name elsewhere is as readable by the first.

#[cfg(unix)]
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files below `roots` that have more names than are found there, one path of each, ordered.
///
/// A confined program cannot make such a link itself. Build tools link within a place, which is no way out; package
/// managers that link from a common store make many. Symbolic links below the roots are not followed.
///
/// # Errors
///
/// If a directory cannot be read.
#[cfg(unix)]
pub fn links_leading_out(roots: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    use std::os::unix::fs::MetadataExt as _;
    struct Linked {
        names: u64,
        found: std::collections::BTreeSet<PathBuf>,
    }
    let mut linked: HashMap<(u64, u64), Linked> = HashMap::new();
    // A root may itself be given by a link.
    let mut waiting = roots.iter().map(std::fs::canonicalize).collect::<std::io::Result<Vec<PathBuf>>>()?;
    while let Some(path) = waiting.pop() {
        let metadata = match std::fs::symlink_metadata(&path) {
            // Deleted since it was listed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            metadata => metadata?,
        };
        if metadata.is_dir() {
            waiting.extend(entries(&path)?);
        } else if metadata.nlink() > 1 {
            let entry = linked
                .entry((metadata.dev(), metadata.ino()))
                .or_insert_with(|| Linked { names: metadata.nlink(), found: std::collections::BTreeSet::new() });
            // One root may lie in another.
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

/// Where nothing is confined there is nothing to look for.
#[cfg(not(unix))]
pub fn links_leading_out(_roots: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    Ok(Vec::new())
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
        assert!(links_leading_out(&[at("absent")]).is_err());
    }
}
