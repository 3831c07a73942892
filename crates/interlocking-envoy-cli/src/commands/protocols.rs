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
        let line = |name: &dyn std::fmt::Display, from: &dyn std::fmt::Display| {
            format!("{}\n", on_one_line(&format!("{name} ({from})")))
        };
        let lines = listed.iter().map(|listed| match &listed.file {
            Some(file) => line(&listed.name, &file.display()),
            None => line(&listed.name, &"comes with envoy"),
        });
        lines.collect()
    })?;
    Ok(Exit::Done)
}
