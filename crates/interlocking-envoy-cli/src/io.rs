//! The program's directory, input and output.

use crate::error::CommandError;
use crate::exit::Exit;
use interlocking_document::written_out;
use serde::Serialize;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The program's directory, input and output.
pub struct Io {
    directory: PathBuf,
    input: Box<dyn BufRead>,
    output: Box<dyn Write>,
    messages: Box<dyn Write>,
}

impl Io {
    /// The current directory and the standard streams of the process.
    ///
    /// # Errors
    ///
    /// If the process has no current directory.
    pub fn of_process() -> io::Result<Self> {
        let input = io::BufReader::new(io::stdin());
        Ok(Self::new(std::env::current_dir()?, input, io::stdout(), io::stderr()))
    }

    /// Another directory and other streams: `output` is for results, and `messages` for everything else.
    pub fn new(
        directory: impl Into<PathBuf>,
        input: impl BufRead + 'static,
        output: impl Write + 'static,
        messages: impl Write + 'static,
    ) -> Self {
        Self {
            directory: directory.into(),
            input: Box::new(input),
            output: Box::new(output),
            messages: Box::new(messages),
        }
    }

    /// The directory in which the program was started.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Reads the next line, without its line end; `None` at the end of the input.
    pub(crate) fn line(&mut self) -> Result<Option<String>, CommandError> {
        let mut line = String::new();
        let read = self.input.read_line(&mut line);
        match read.map_err(|error| CommandError::new(format!("standard input cannot be read: {error}")))? {
            0 => Ok(None),
            _ => Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned())),
        }
    }

    /// Prints the result. Results and messages are printed with control characters escaped, as anyone may have written a
    /// project's files.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.output.write_all(written_out(text).as_bytes()).and_then(|()| self.output.flush());
        written.map_err(|error| {
            CommandError::new(format!("the result could not be written to standard output: {error}"))
                .with_exit(Exit::Output)
        })
    }

    /// Prints the result: `value` as JSON, or `text` for people.
    pub(crate) fn result(
        &mut self,
        json: bool,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), CommandError> {
        let text = if json { serde_json::to_string_pretty(value)? + "\n" } else { text() };
        self.print(&text)
    }

    /// Prints a line that is not the result.
    pub(crate) fn tell(&mut self, text: &str) {
        // The program goes on if standard error is closed.
        let _ = writeln!(self.messages, "{}", written_out(text));
    }
}

/// The text with its line breaks escaped: one in a file's name or text would begin a line that looks like another.
pub(crate) fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\u000a")
}

impl fmt::Debug for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Io").field("directory", &self.directory).finish_non_exhaustive()
    }
}
