//! What the program works on, reads and writes to.

use crate::error::CommandError;
use crate::exit::Exit;
use serde::Serialize;
use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// What the program works on, reads and writes to.
pub struct Surroundings {
    directory: PathBuf,
    input: Box<dyn BufRead>,
    output: Box<dyn Write>,
    messages: Box<dyn Write>,
}

impl Surroundings {
    /// The process's own.
    ///
    /// # Errors
    ///
    /// Where the process has no current directory.
    pub fn of_process() -> io::Result<Self> {
        let input = io::BufReader::new(io::stdin());
        Ok(Self::new(std::env::current_dir()?, input, io::stdout(), io::stderr()))
    }

    /// Others: a directory to start from, what is read, where results go and where all else goes.
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

    /// The directory that the program was started in.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The next line that is read, without its end; none at the end.
    pub(crate) fn line(&mut self) -> Result<Option<String>, CommandError> {
        let mut line = String::new();
        match self.input.read_line(&mut line)? {
            0 => Ok(None),
            _ => Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned())),
        }
    }

    /// Prints the result. Characters that would steer a terminal are written out, here and in all messages: a project's files
    /// are whoever's wrote them.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), CommandError> {
        let written = self.output.write_all(written_out(text).as_bytes()).and_then(|()| self.output.flush());
        written.map_err(|error| {
            CommandError::new(format!("the result could not be written to standard output: {error}"))
                .with_exit(Exit::Output)
        })
    }

    /// Prints the result: as JSON, or as the text that it is for people.
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
        // Nobody to read it is no reason to stop.
        let _ = writeln!(self.messages, "{}", written_out(text));
    }
}

/// The text with every character written out, as `\u001b`, that a terminal obeys, or that makes it show what follows in another
/// order. JSON still means the same: there they stand in strings alone.
fn written_out(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for character in text.chars() {
        let is_layout = matches!(character, '\n' | '\t');
        let is_direction = matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if (character.is_control() && !is_layout) || is_direction {
            written.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            written.push(character);
        }
    }
    written
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("directory", &self.directory).finish_non_exhaustive()
    }
}
