//! `protocol`: prints a protocol.

use super::ProjectArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::{Io, on_one_line};
use clap::Args;
use interlocking_envoy::{ProtocolName, ReadError, ResolveError};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  envoy protocol debugging\n  envoy protocol debugging --json")]
pub(crate) struct Arguments {
    /// Its name: implementation, debugging, discovery, bug-discovery, or that of a file of the project's
    name: String,

    #[command(flatten)]
    project: ProjectArguments,
}

/// The most warnings that are printed: an agent may have written a file with thousands.
const MOST_TOLD: usize = 100;

pub(crate) fn protocol(arguments: &Arguments, json: bool, io: &mut Io) -> Result<Exit, CommandError> {
    // Not parsed by clap, which would report an empty name as a missing one.
    let name: ProtocolName = arguments.name.parse()?;
    let library = arguments.project.library(io.directory())?;
    let protocol = library.resolve(&name).map_err(command_error)?;
    for warning in protocol.warnings.iter().take(MOST_TOLD) {
        io.tell(&on_one_line(&format!("warning: {warning}")));
    }
    if let Some(further @ 1..) = protocol.warnings.len().checked_sub(MOST_TOLD) {
        io.tell(&format!("warning: and {further} further warnings, which --json prints"));
    }
    io.result(json, &protocol, || protocol.to_string())?;
    Ok(Exit::Done)
}

/// The error, with what the user can do about it.
fn command_error(error: ResolveError) -> CommandError {
    let missing = match &error {
        ResolveError::Read(error) => Some(error),
        ResolveError::Base { source, .. } => Some(&**source),
        _ => None,
    };
    let remedy = match (&error, missing) {
        (_, Some(ReadError::Unknown { available, .. })) => {
            let available: Vec<_> = available.iter().map(ToString::to_string).collect();
            Some(format!("write that file, or name one of {}", available.join(", ")))
        }
        (ResolveError::Cycle { .. }, _) => Some("let one of them extend none".to_owned()),
        _ => None,
    };
    let error = CommandError::from(error);
    match remedy {
        Some(remedy) => error.remedy(remedy),
        None => error,
    }
}
