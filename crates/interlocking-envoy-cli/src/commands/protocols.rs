//! `protocols`: lists the available protocols.

use super::ProjectArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::io::{Io, on_one_line};
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  envoy protocols")]
pub(crate) struct Arguments {
    #[command(flatten)]
    project: ProjectArguments,
}

pub(crate) fn protocols(arguments: &Arguments, json: bool, io: &mut Io) -> Result<Exit, CommandError> {
    let listed = arguments.project.library(io.directory())?.list()?;
    io.result(json, &listed, || {
        let lines = listed.iter().map(|listed| {
            let line = match &listed.file {
                Some(file) => format!("{} ({})", listed.name, file.display()),
                None => format!("{} (comes with envoy)", listed.name),
            };
            on_one_line(&line) + "\n"
        });
        lines.collect()
    })?;
    Ok(Exit::Done)
}
