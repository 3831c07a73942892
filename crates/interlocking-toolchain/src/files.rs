//! Files of a checkout, which an agent may have written: finds them without following links, and restores them.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// The longest file that is read, in bytes: longer than any source file.
const LONGEST: u64 = 8 * 1024 * 1024;

/// The absolute path of a file of the checkout. An agent may have chosen the path and written what is there.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if the path leads out of the checkout, through a link, or to anything but a regular file;
/// otherwise the system's error.
pub(crate) fn locate(checkout: &Path, path: &str) -> io::Result<PathBuf> {
    let no_file = || {
        let said = "it is no file of the checkout, relative to it and without links";
        io::Error::new(io::ErrorKind::InvalidInput, said)
    };
    let mut at = checkout.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => continue,
            Component::Normal(name) => at.push(name),
            _ => return Err(no_file()),
        }
        let kind = at.symlink_metadata()?.file_type();
        if !kind.is_dir() && !kind.is_file() {
            return Err(no_file());
        }
    }
    if at.is_file() { Ok(at) } else { Err(no_file()) }
}

/// The text of a file.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] if the file is not UTF-8 or is longer than 8 MiB; otherwise the system's error.
pub(crate) fn read(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 8 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Restores a file's text, at the latest when this guard is dropped.
pub(crate) struct Restore<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a str,
}

impl Restore<'_> {
    pub(crate) fn now(self) -> io::Result<()> {
        fs::write(self.file, self.text)
    }
}

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        // A caller that can handle a failure calls `now`, which returns it.
        let _ = fs::write(self.file, self.text);
    }
}
