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

use std::process::ExitCode;

/// Executes the process's command line, and returns the exit code for the process.
pub fn main() -> ExitCode {
    let mut io = match Io::of_process() {
        Ok(io) => io,
        // Without a current directory no command can work.
        Err(_) => return Exit::Refused.into(),
    };
    execute(std::env::args_os(), &mut io).into()
}
