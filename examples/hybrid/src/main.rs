//! Runs the Hybrid protocol from the command line: the demonstration, or a specification, agents and repository of your own.

mod cli;
mod session;
mod summary;

use interlocking::cli::Cli;
use interlocking::cli::repository::RepositoryRun;
use std::process::ExitCode;

const ABOUT: &str = "\
Runs the Hybrid protocol: tests and implementation are written blind to each other, attacked, then verified.

Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or \
configuration; the files, builds, tests and commits are real.

The roles of the agents are types, adversary, types_fix, tests, impl, conflict, fix and mutation.";

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("hybrid", session::resume)
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_new_runs(session::begin)
        .with_cleanup(RepositoryRun::<session::Facts>::clean_up)
        .running_by_default()
        .main()
        .await
}
