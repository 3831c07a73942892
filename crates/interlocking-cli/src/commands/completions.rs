//! `completions`: prints a shell's completion script.

use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(
    arguments: &Arguments,
    mut command: Command,
    name: &str,
    console: &Console,
) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    console.print(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
