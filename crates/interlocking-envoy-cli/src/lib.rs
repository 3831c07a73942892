//! The command `envoy` as a function. Its input and output are parameters, so that tests and other programs can call it. The
//! functionality is that of [`interlocking_envoy`]; `docs/book/src/envoy.md` in the repository describes the command for users.
//!
//! **Invariant:** all output goes through [`Io`], and only `main` ends the process.
//! **Invariant:** a command does nothing that the library cannot do.

mod exit;
mod error;
mod io;
mod command_line;
mod commands;

pub use command_line::{command, execute};
pub use exit::Exit;
pub use io::Io;

use command_line::{tell, wants_json};
use error::CommandError;
use std::process::ExitCode;

/// Executes the process's command line, and returns the exit code for the process.
pub fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    let exit = match Io::of_process() {
        Ok(mut io) => execute(words, &mut io),
        // Without a current directory no command can work.
        Err(error) => {
            let error = CommandError::new(format!("the current directory cannot be used: {error}"));
            let mut io = Io::new("", std::io::empty(), std::io::stdout(), std::io::stderr());
            tell(&error, wants_json(&words), &mut io)
        }
    };
    exit.into()
}
