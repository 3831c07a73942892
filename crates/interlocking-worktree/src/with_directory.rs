//! Making a file's directory only where it is missing.

use std::{io::ErrorKind, path::Path};

/// Attempts what needs the directory of `file`; if that is missing, makes it and attempts once more.
pub(crate) fn with_directory<T>(file: &Path, attempt: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    match (attempt(), file.parent()) {
        (Err(error), Some(directory)) if error.kind() == ErrorKind::NotFound => {
            std::fs::create_dir_all(directory)?;
            attempt()
        }
        (result, _) => result,
    }
}
