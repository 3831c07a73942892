//! Making a file's directory only where it is missing.

use std::{io::ErrorKind, path::Path};

use crate::ours;

/// Somebody else takes the directory away when it is empty; not so often in a row.
const ATTEMPTS: u32 = 100;

/// Attempts what needs the directory of `file`; if that is missing, makes it and attempts once more.
pub(crate) fn with_directory<T>(file: &Path, attempt: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    let is_missing = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
    for _ in 0..ATTEMPTS {
        match (attempt(), file.parent()) {
            (Err(error), Some(directory)) if is_missing(&error) => match ours::create_dir_all(directory) {
                Err(error) if !is_missing(&error) => return Err(error),
                _ => {}
            },
            (result, _) => return result,
        }
    }
    attempt()
}
