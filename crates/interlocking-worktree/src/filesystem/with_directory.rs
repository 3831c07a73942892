//! Creating a file's directory only if it is missing.

use std::{io::ErrorKind, path::Path};

use crate::filesystem::own_paths;

/// Another process may remove the directory while it is empty, but not this often in a row.
const ATTEMPTS: u32 = 100;

/// Runs `attempt`, which needs the directory of `file`; if that is missing, creates it and retries.
pub(crate) fn with_directory<T>(file: &Path, attempt: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    let is_missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
    // The directory existed when it was to be created, and was removed before it was checked.
    let is_transient = |error: &std::io::Error| is_missing(error) || error.kind() == ErrorKind::AlreadyExists;
    for _ in 0..ATTEMPTS {
        match (attempt(), file.parent()) {
            (Err(error), Some(directory)) if is_missing(&error) => match own_paths::create_dir_all(directory) {
                Err(error) if !is_transient(&error) => return Err(error),
                _ => {}
            },
            (result, _) => return result,
        }
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs};

    use super::*;

    #[test]
    fn a_directory_that_goes_while_it_is_made_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("directory");
        let attempts = Cell::new(0);
        let written = with_directory(&directory.join("file"), || {
            attempts.set(attempts.get() + 1);
            match attempts.get() {
                // A file in its place stands for a directory that exists at first and then does not.
                1 => fs::write(&directory, "").and(Err(ErrorKind::NotFound.into())),
                2 => fs::remove_file(&directory).and(Err(ErrorKind::NotFound.into())),
                _ => fs::write(directory.join("file"), "text"),
            }
        });
        written.unwrap();
        assert_eq!(attempts.get(), 3);
    }
}
