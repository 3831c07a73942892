//! The file of `--events`.

use crate::reserved_file::ReservedFile;
use interlocking_runtime::Event;
use interlocking_sqlite::private;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// The file that a run's events are written to. The file is left unchanged until the first event, as the run may be refused
/// before.
pub(crate) struct EventFile {
    // Closed before the file is removed.
    file: File,
    reserved: ReservedFile,
    /// Whether events are appended to the file's contents, instead of replacing them.
    adds: bool,
    has_events: bool,
}

impl EventFile {
    /// Opens the file; creates it if it does not exist.
    pub(crate) fn open(path: &Path, adds: bool) -> io::Result<Self> {
        let (reserved, file) = ReservedFile::open(path.to_owned())?;
        Ok(Self { file, reserved, adds, has_events: false })
    }

    /// Writes an event as one line of JSON.
    pub(crate) fn write(&mut self, event: &Event) -> io::Result<()> {
        if !self.has_events {
            self.has_events = true;
            if self.file.metadata()?.is_file() {
                let open = if self.adds { private::append_file } else { private::create_file };
                self.file = open(self.reserved.path())?;
            }
        }
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
