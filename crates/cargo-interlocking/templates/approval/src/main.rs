//! The program: `run`, `resume`, `show`, `answer` and the operator's other commands. `--help` lists them.

use interlocking::cli::{Agents, Cli, Start};
use interlocking::prelude::*;
use project_name::graph::{Assignment, Correspondence};
use std::process::ExitCode;

/// The options of a new run.
#[derive(clap::Args)]
struct New {
    /// What to write about
    about: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let set_up =
        |agents: Agents, _: Start| async move { agents.bind(Run::new(Correspondence::default())) };
    Cli::new("project-name", set_up)
        .with_about("Writes a letter, which goes out once a person has approved it")
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_entry(|new: New, _| {
            Ok(Assignment {
                about: new.about,
                wish: None,
            })
        })
        .main()
        .await
}
