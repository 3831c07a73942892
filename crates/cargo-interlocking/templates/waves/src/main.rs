//! The program: `run`, `resume`, `show` and the operator's other commands, over a git repository. `--help` lists them.

use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Prepared, Start};
use interlocking::prelude::*;
use project_name::graph::{Goal, Waves};
use std::process::ExitCode;

/// The options of a new run.
#[derive(clap::Args)]
struct New {
    /// What to reach
    goal: String,

    #[command(flatten)]
    location: Location,
}

async fn begin(
    options: RepositoryOptions,
    new: New,
    start: Start,
) -> Result<(Goal, Prepared<Waves>), CommandError> {
    let run = RepositoryRun::begin(new.location, &options, start, ()).await?;
    Ok((Goal { text: new.goal }, prepare(run).await?))
}

async fn resume(options: RepositoryOptions, start: Start) -> Result<Prepared<Waves>, CommandError> {
    prepare(RepositoryRun::resume(&options, start).await?).await
}

async fn prepare(run: RepositoryRun) -> Result<Prepared<Waves>, CommandError> {
    // The agents may run no commands: list those of your project in `commands`.
    let access = BuildAccess::default();
    run.prepare(Run::new(Waves::default()), &access, None).await
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("project-name", resume)
        .with_new_runs(begin)
        .with_cleanup(RepositoryRun::<()>::clean_up)
        .with_about("Plans tasks in waves, has each wave done side by side, and lands the whole")
        .with_version(env!("CARGO_PKG_VERSION"))
        .main()
        .await
}
