//! The program: `run`, `resume`, `show`, `answer` and the operator's other commands. `--help` lists them.

use interlocking::cli::{Agents, Cli, Start};
use interlocking::prelude::*;
use project_name::graph::BestOfThree;
use std::process::ExitCode;

/// The options of a new run.
#[derive(clap::Args)]
struct New {
    /// What to answer
    question: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let set_up =
        |agents: Agents, _: Start| async move { agents.bind(Run::new(BestOfThree::default())) };
    Cli::new("project-name", set_up)
        .with_about("Answers a question three times, and gives the best answer")
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_entry(|new: New, _| Ok(new.question))
        .main()
        .await
}
