//! Files of a checkout that are something else for a while.

use std::fs;
use std::io;
use std::path::Path;

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
