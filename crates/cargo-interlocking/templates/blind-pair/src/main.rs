//! The program: `run`, `resume`, `show` and the operator's other commands, over a git repository. `--help` lists them.

use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Prepared, Start};
use interlocking::prelude::*;
use project_name::graph::BlindPair;
use std::process::ExitCode;

/// The options of a new run.
#[derive(clap::Args)]
struct New {
    /// What to write
    task: String,

    #[command(flatten)]
    location: Location,
}

async fn begin(
    options: RepositoryOptions,
    new: New,
    start: Start,
) -> Result<(String, Prepared<BlindPair>), CommandError> {
    let run = RepositoryRun::begin(new.location, &options, start, ()).await?;
    Ok((new.task, prepare(run).await?))
}

async fn resume(
    options: RepositoryOptions,
    start: Start,
) -> Result<Prepared<BlindPair>, CommandError> {
    prepare(RepositoryRun::resume(&options, start).await?).await
}

async fn prepare(run: RepositoryRun) -> Result<Prepared<BlindPair>, CommandError> {
    // The commands that the agents may run.
    let access = BuildAccess {
        commands: vec!["sh check.sh".to_owned()],
        ..BuildAccess::default()
    };
    run.prepare(Run::new(BlindPair::default()), &access, None)
        .await
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("project-name", resume)
        .with_new_runs(begin)
        .with_cleanup(RepositoryRun::<()>::clean_up)
        .with_about("Has code and its tests written blind to each other, and lands what passes")
        .with_version(env!("CARGO_PKG_VERSION"))
        .main()
        .await
}
