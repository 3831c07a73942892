//! A file that is opened before a run starts, so that one that cannot be written is reported at once.

use interlocking_sqlite::private;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// A file for what a run writes. If this process has created it and it is still empty, it is removed when this value is dropped:
/// the run was refused, did not start, or had nothing to write.
pub(crate) struct ReservedFile {
    path: PathBuf,
    /// Whether this process has created the file.
    is_new: bool,
}

impl ReservedFile {
    /// Opens the file to append to it: creates it if it does not exist, and keeps its contents.
    pub(crate) fn open(path: PathBuf) -> io::Result<(Self, File)> {
        let open = |options: &mut OpenOptions| options.append(true).open(&path);
        let (file, is_new) = match open(private::file_options().create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (open(private::file_options().create(true))?, false)
            }
            made => (made?, true),
        };
        Ok((Self { path, is_new }, file))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ReservedFile {
    fn drop(&mut self) {
        let is_empty = |metadata: fs::Metadata| metadata.is_file() && metadata.len() == 0;
        if self.is_new && fs::symlink_metadata(&self.path).is_ok_and(is_empty) {
            // An empty file that stays does no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}
