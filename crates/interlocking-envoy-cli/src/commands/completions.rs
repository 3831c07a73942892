//! `completions`: prints a shell's completion script.

use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::Io;
use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  envoy completions bash > /etc/bash_completion.d/envoy")]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn completions(arguments: &Arguments, io: &mut Io) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command(), "envoy", &mut script);
    io.print(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
