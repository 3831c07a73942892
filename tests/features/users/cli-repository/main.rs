//! A program with the operator's commands, for runs over a git repository.

#[path = "../shout.rs"]
mod shout;

use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Prepared, Start};
use interlocking::prelude::*;
use shout::{SHOUT, Shout};
use std::process::ExitCode;

async fn begin(
    options: RepositoryOptions,
    location: Location,
    start: Start,
) -> Result<(String, Prepared<Shout>), CommandError> {
    let run = RepositoryRun::begin(location, &options, start, ()).await?;
    Ok(("hello".to_owned(), prepare(run).await?))
}

async fn resume(options: RepositoryOptions, start: Start) -> Result<Prepared<Shout>, CommandError> {
    prepare(RepositoryRun::resume(&options, start).await?).await
}

async fn prepare(run: RepositoryRun) -> Result<Prepared<Shout>, CommandError> {
    run.prepare(Run::new(SHOUT), &BuildAccess::default(), None).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    Cli::new("shout", resume).with_new_runs(begin).main().await
}
