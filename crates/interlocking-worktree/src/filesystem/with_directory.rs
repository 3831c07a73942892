//! Making a file's directory only where it is missing.

use std::{io::ErrorKind, path::Path};

use crate::filesystem::own_paths;

/// Somebody else takes the directory away when it is empty; not so often in a row.
const ATTEMPTS: u32 = 100;

/// Attempts what needs the directory of `file`; if that is missing, makes it and attempts once more.
pub(crate) fn with_directory<T>(file: &Path, attempt: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    let is_missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
    // It was there when it was to be made, and was taken away before it was looked at.
    let is_fleeting = |error: &std::io::Error| is_missing(error) || error.kind() == ErrorKind::AlreadyExists;
    for _ in 0..ATTEMPTS {
        match (attempt(), file.parent()) {
            (Err(error), Some(directory)) if is_missing(&error) => match own_paths::create_dir_all(directory) {
                Err(error) if !is_fleeting(&error) => return Err(error),
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
                // A file in its place stands for a directory that is there at first and then is not.
                1 => fs::write(&directory, "").and(Err(ErrorKind::NotFound.into())),
                2 => fs::remove_file(&directory).and(Err(ErrorKind::NotFound.into())),
                _ => fs::write(directory.join("file"), "text"),
            }
        });
        written.unwrap();
        assert_eq!(attempts.get(), 3);
    }
}
