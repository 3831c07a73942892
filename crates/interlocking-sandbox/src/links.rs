//! Hard links that lead out of a place: a file with a second name elsewhere is as readable by the first.

#[cfg(unix)]
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The files below `roots` that have more names than are found there, one path of each, ordered.
///
/// A confined program cannot make such a link itself. Build tools link within a place, which is no way out; package
/// managers that link from a common store make many. Symbolic links are not followed.
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
    let mut waiting: Vec<PathBuf> = roots.to_vec();
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
