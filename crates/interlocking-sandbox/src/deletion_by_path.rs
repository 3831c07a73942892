//! Deletes directories completely, on systems whose programs are not confined: by path, as the standard library does.

use std::{io, path::Path};

/// Deletes a directory with everything in it. It may be missing.
///
/// # Errors
///
/// If something could not be deleted.
pub fn delete_tree(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
