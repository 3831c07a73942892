//! Files of a checkout, which an agent may have written: no link is followed, and they are put back.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// How long a file may be, in bytes: more than any source file has.
const LONGEST: u64 = 8 * 1024 * 1024;

/// Where a file of the checkout is. The path may be an agent's, and so is what lies there.
///
/// # Errors
///
/// With [`io::ErrorKind::InvalidInput`] where the path leads elsewhere, or to no regular file; otherwise what the system says.
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

/// What stands in a file.
///
/// # Errors
///
/// With [`io::ErrorKind::InvalidData`] where that is no text or more than any source file has; otherwise what the system says.
pub(crate) fn read(file: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 8 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Puts a file back, at the latest when it goes.
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
        // Whoever can still be told of a failure was told by `now`.
        let _ = fs::write(self.file, self.text);
    }
}
