//! The command `envoy`, as a function: what it reads and where it writes is given, so that tests and other programs can
//! call it. What it does is [`interlocking_envoy`]'s; `docs/book/src/envoy.md` in the repository says it for users.
//!
//! **Invariant:** everything is printed through [`Surroundings`], and the process is ended by `main` alone.
//! **Invariant:** a command does nothing that the library cannot do.

mod exit;
mod error;
mod surroundings;
mod command_line;
mod commands;

pub use command_line::{command, execute};
pub use exit::Exit;
pub use surroundings::Surroundings;

use std::process::ExitCode;

/// Does what the process's command line says, and gives the code that the process is to end with.
pub fn main() -> ExitCode {
    let mut surroundings = match Surroundings::of_process() {
        Ok(surroundings) => surroundings,
        // Without a current directory there is nothing that any command could work on.
        Err(_) => return Exit::Refused.into(),
    };
    execute(std::env::args_os(), &mut surroundings).into()
}
