//! The command line: its commands, and the execution of the chosen one.

use crate::commands::{cleanup, completions, gate, man, protocol, protocols};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::Io;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

#[derive(Debug, Parser)]
#[command(name = "envoy", version, about = "Workflow protocols for coding agents", after_help = after_help())]
struct Arguments {
    /// Print the result as one JSON value, and errors too
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: EnvoyCommand,
}

#[derive(Debug, Subcommand)]
enum EnvoyCommand {
    /// Print a protocol: its inputs, its outputs and its steps, in the order in which they are done
    Protocol(protocol::Arguments),
    /// List the protocols that there are
    Protocols(protocols::Arguments),
    /// What a protocol's steps ask for
    #[command(
        subcommand,
        after_help = "Examples:\n  envoy plan cleanup-debug-logs --dry-run\n  envoy plan block-prompt-variants-gate 3 B"
    )]
    Plan(Plan),
    /// Print a script that completes this command line in a shell
    Completions(completions::Arguments),
    /// Print the manual page, in roff
    #[command(after_help = "Examples:\n  envoy man | man -l -\n  envoy man > /usr/local/share/man/man1/envoy.1")]
    Man,
}

#[derive(Debug, Subcommand)]
enum Plan {
    /// Remove the debug logs under [DEBUG-TEMP] markers from the current worktree
    CleanupDebugLogs(cleanup::Arguments),
    /// Settle what becomes of a variant: main, alternative or discard
    BlockPromptVariantsGate(gate::Arguments),
}

/// The definition of the command line, for completions, manual pages and documentation.
pub fn command() -> clap::Command {
    Arguments::command()
}

/// Executes the command line `words`, which begins with the program's name.
pub fn execute(words: impl IntoIterator<Item = impl Into<OsString>>, io: &mut Io) -> Exit {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let json = wants_json(&words);
    follow(words, io).unwrap_or_else(|error| tell(&error, json, io))
}

/// Whether errors are printed as JSON. Searches the unparsed arguments, as parsing them may be what fails.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    words.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

/// Prints an error, and returns its exit code.
pub(crate) fn tell(error: &CommandError, json: bool, io: &mut Io) -> Exit {
    match json {
        true => io.tell(&error.to_json().to_string()),
        false => io.tell(&format!("error: {error}")),
    }
    error.exit()
}

fn follow(words: Vec<OsString>, io: &mut Io) -> Result<Exit, CommandError> {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            let shown = error.render().to_string();
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                return Err(CommandError::new(format!("there is no command\n\n{}", shown.trim_end())));
            }
            return Err(CommandError::new(shown.trim_end().trim_start_matches("error: ")));
        }
        // Help, or the version.
        Err(error) => {
            io.print(&error.render().to_string())?;
            return Ok(Exit::Done);
        }
    };
    let Arguments { json, command } = arguments;
    match command {
        EnvoyCommand::Protocol(arguments) => protocol::protocol(&arguments, json, io),
        EnvoyCommand::Protocols(arguments) => protocols::protocols(&arguments, json, io),
        EnvoyCommand::Plan(Plan::CleanupDebugLogs(arguments)) => cleanup::cleanup(arguments, json, io),
        EnvoyCommand::Plan(Plan::BlockPromptVariantsGate(arguments)) => gate::gate(arguments, json, io),
        EnvoyCommand::Completions(arguments) => completions::completions(&arguments, io),
        EnvoyCommand::Man => man::man(io),
    }
}

fn after_help() -> String {
    format!("{}\n\nThe result goes to standard output, all else to standard error.", Exit::help())
}
