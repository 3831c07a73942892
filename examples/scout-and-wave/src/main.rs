//! Runs Scout-and-Wave from the command line: the demonstration, or a task, agents and repository of your own.

mod approval;
mod begin;
mod commands;
mod status;

use crate::begin::{begin, clean_up, resume};
use interlocking::cli::Cli;
use std::process::ExitCode;

const ABOUT: &str = "\
Runs Scout-and-Wave: a scout reads a project and plans, a person approves, and waves of agents work side by side.

Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or
configuration; the files, builds, tests, commits and merges are real. It stops for a person's approval; --approve gives it.

The roles of the agents are scout and agent.";

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("scout-and-wave", resume)
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_new_runs(begin)
        .with_cleanup(clean_up)
        .with_command("check", "Say whether a task is one for the protocol, and write nothing", commands::check)
        .with_command("scout", "Plan a task, and write the document", commands::scout)
        .with_command("bootstrap", "Plan a project without code, and build it", commands::bootstrap)
        .with_command("wave", "Go on with the next wave of a document", commands::wave)
        .with_command(
            "recover",
            "Go on with a document after a run whose journal is lost, by what that has left in git",
            commands::recover,
        )
        .with_command("quick", "Send two or three agents to work, without a document", commands::quick)
        .with_command("status", "Show the state of a run, its wave and its agents", status::status)
        .with_command("skill", "Print what teaches an agent to drive this program", commands::skill)
        .running_by_default()
        .main()
        .await
}
