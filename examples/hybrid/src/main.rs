//! Runs the Hybrid protocol from the command line: the demonstration, or one's own specification, agents, repository.

mod beside;
mod bindings;
mod cli;
mod desk;
mod preparing;
mod site;
mod summary;
mod waiting;
mod whereabouts;

use crate::cli::Specification;
use crate::desk::Desk;
use interlocking::cli::{Cli, CommandError};
use std::process::ExitCode;
use std::sync::Arc;

const ABOUT: &str = "\
Runs the Hybrid protocol: tests and implementation are written blind to each other, attacked, then verified.

Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or \
configuration; the files, builds, tests and commits are real.

The roles of the agents are types, adversary, types_fix, tests, impl and fix.";

#[tokio::main]
async fn main() -> ExitCode {
    let desk = Arc::new(Desk::default());
    let (entry, ending, leaving) = (desk.clone(), desk.clone(), desk.clone());
    let set_up = move |options, start| {
        let desk = desk.clone();
        async move { desk.set_up(options, start).await }
    };
    let exit = Cli::new("hybrid", set_up)
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_entry(move |specification: Specification, _| Ok::<_, CommandError>(entry.take(&specification)?))
        .with_ending(move |report, start| {
            let desk = ending.clone();
            async move { desk.conclude(report, start).await }
        })
        .with_clearing_up(Desk::clear_cancelled)
        .running_by_default()
        .main()
        .await;
    leaving.clear().await;
    exit
}
