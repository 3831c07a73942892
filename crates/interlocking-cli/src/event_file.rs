//! The file of `--events`.

use interlocking_runtime::Event;
use interlocking_sqlite::private;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file that a run's events are written to. The file is left unchanged until the first event, as the run may be refused
/// before.
pub(crate) struct EventFile {
    path: PathBuf,
    file: File,
    /// Whether events are appended to the file's contents, instead of replacing them.
    adds: bool,
    /// Whether the file was created for this run.
    is_new: bool,
    has_events: bool,
}

impl EventFile {
    /// Opens the file; creates it if it does not exist.
    pub(crate) fn open(path: &Path, adds: bool) -> io::Result<Self> {
        let open = |options: &mut fs::OpenOptions| options.append(true).open(path);
        let (file, is_new) = match open(private::file_options().create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                (open(private::file_options().create(true))?, false)
            }
            made => (made?, true),
        };
        Ok(Self { path: path.to_owned(), file, adds, is_new, has_events: false })
    }

    /// Writes an event as one line of JSON.
    pub(crate) fn write(&mut self, event: &Event) -> io::Result<()> {
        if !self.has_events {
            self.has_events = true;
            if self.file.metadata()?.is_file() {
                let open = if self.adds { private::append_file } else { private::create_file };
                self.file = open(&self.path)?;
            }
        }
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// Removes the file if it was created for a run that did not start.
    pub(crate) fn abandon(self) -> io::Result<()> {
        if self.is_new && !self.has_events { fs::remove_file(self.path) } else { Ok(()) }
    }
}
