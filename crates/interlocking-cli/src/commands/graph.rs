//! `graph`: the graph, drawn or as data.

use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use interlocking_core::draw;
use interlocking_core::table::Table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The language to draw it in
    #[arg(value_enum, value_name = "LANGUAGE", default_value = "mermaid")]
    language: Language,

    /// The same as `json`
    #[arg(long)]
    json: bool,
}

/// What a graph can be drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
    /// Its routing table.
    Json,
}

pub(crate) fn graph(arguments: &Arguments, table: &Table, console: &Console) -> Result<Exit, CommandError> {
    let text = match arguments.language {
        _ if arguments.json => table_json(table)?,
        Language::Mermaid => draw::mermaid(table),
        Language::Dot => draw::dot(table),
        Language::Json => table_json(table)?,
    };
    console.print(&text)?;
    Ok(Exit::Done)
}

fn table_json(table: &Table) -> Result<String, CommandError> {
    Ok(serde_json::to_string_pretty(table)? + "\n")
}
