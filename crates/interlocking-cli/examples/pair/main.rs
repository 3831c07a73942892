//! A program that lets two agents write into a git repository, and lands what passes its check: with all commands of `interlocking::cli`.
//!
//! ```console
//! $ pair run "a greeting" --agent claude --run-id r1
//! $ pair resume r1        # after an interrupt or a crash; finds its worktrees again
//! ```

mod graph;

use graph::Pair;
use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Prepared, Start};
use interlocking::prelude::*;
use std::process::ExitCode;

/// The options of a new run.
#[derive(clap::Args)]
struct New {
    /// What to write
    task: String,

    #[command(flatten)]
    location: Location,
}

async fn begin(options: RepositoryOptions, new: New, start: Start) -> Result<(String, Prepared<Pair>), CommandError> {
    let run = RepositoryRun::begin(new.location, &options, start, ()).await?;
    Ok((new.task, prepare(run).await?))
}

async fn resume(options: RepositoryOptions, start: Start) -> Result<Prepared<Pair>, CommandError> {
    prepare(RepositoryRun::resume(&options, start).await?).await
}

async fn prepare(run: RepositoryRun) -> Result<Prepared<Pair>, CommandError> {
    let access = BuildAccess { commands: vec!["sh check.sh".to_owned()], ..BuildAccess::default() };
    run.prepare(Run::new(Pair::default()), &access, None).await
}

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::new("pair", resume).with_new_runs(begin).with_cleanup(RepositoryRun::<()>::clean_up);
    cli.with_about("Lets two agents write a program and its check, and lands what passes").main().await
}
