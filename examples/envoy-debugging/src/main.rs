//! Runs the demonstration in a temporary directory: the agent is scripted, the files, logs, checks and commits are real.
//!
//! The protocol is that of the project in which it is started, if it has one, else the built-in one.

#![expect(clippy::print_stdout, reason = "a demonstration tells whoever runs it what happened")]

use clap::Parser as _;
use envoy_debugging::{Site, bug, demonstration, developer};
use interlocking::envoy::Library;
use std::error::Error;

/// Runs a demonstration in a temporary directory: an agent looks for a bug with debug logs, as the protocol `debugging` says, and
/// what it fixes is merged without them.
///
/// The agent is scripted, so no key and no server is needed; the files, logs, checks and commits are real. The protocol is that of
/// the project in which this is started, if it has one, else the one that comes along.
#[derive(clap::Parser)]
struct Arguments {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    Arguments::parse();
    let place = tempfile::tempdir()?;
    let site = Site::create(place.path())?;
    let library = Library::discover(std::env::current_dir()?);
    let report = demonstration(&library, &site, developer()?)?.start(bug()).await?;
    println!("fixed in {} attempts: the removal of the logs took the first along", report.visits_of("fix"));
    let outcome = report.outcome.name();
    let fixed = report.outcome.finished().ok_or_else(|| format!("the run is {outcome}"))?;
    println!("merged as {}, without logs:\n", fixed.commit);
    println!("{}", std::fs::read_to_string(place.path().join("project/tide.sh"))?);
    Ok(())
}
