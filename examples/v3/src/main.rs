//! Runs V3 from the command line: the demonstration, or a specification, agents and repository of your own.

use clap::Args;
use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{Cli, CommandError, Prepared, Start};
use interlocking::toolchain::Toolchain;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use v3::demo;
use v3::graph::V3;
use v3::run::{run, workspaces};
use v3::types::scaffold::ScaffoldInput;
use v3::types::spec::Spec;
use v3::workbench::{Workbench, suite_of};

const ABOUT: &str = "\
Runs V3: test-driven development as a recursive tree. A planner splits the work, children do their parts on branches of their own, tests
are written before what makes them pass, and each merge is judged before it lands.

Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or
configuration; the files, builds, tests, commits and merges are real.

The roles of the agents are scaffold, tdd, impl, merger and rebaser.";

/// What a run is to build, and where: settled when it starts.
#[derive(Debug, Args)]
#[command(mut_arg("repo", |repo| repo.requires("spec").help(
    "The git repository for --spec [default: the one that the program is started in]"
)))]
struct New {
    /// What is to be built, as a TOML file: a crate of your own is built by it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    /// How it is built and tested, as a TOML file [default: by cargo]
    #[arg(long, value_name = "FILE", requires = "spec")]
    toolchain: Option<PathBuf>,

    #[command(flatten)]
    location: Location,
}

/// Facts stored with a run beside its location.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Facts {
    /// Whether the demonstration's agents play all roles that no other agent plays.
    is_demonstration: bool,
    /// How it is built and tested, if its user says so.
    toolchain: Option<Toolchain>,
}

fn read(file: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(file).map_err(|error| CommandError::from(error).at(file.display().to_string()))
}

async fn begin(
    options: RepositoryOptions,
    new: New,
    start: Start,
) -> Result<(ScaffoldInput, Prepared<V3>), CommandError> {
    let is_demonstration = new.spec.is_none();
    let spec = match &new.spec {
        None => demo::spec()?,
        Some(file) => {
            Spec::parse(&read(file)?).map_err(|error| CommandError::from(error).at(file.display().to_string()))?
        }
    };
    let toolchain = match &new.toolchain {
        None => None,
        Some(file) => {
            let at = |error: CommandError| error.at(file.display().to_string());
            let toolchain: Toolchain = toml::from_str(&read(file)?).map_err(|error| at(error.into()))?;
            toolchain.check().map_err(|error| at(error.into()))?;
            suite_of(&toolchain).map_err(|error| at(error.into()))?;
            Some(toolchain)
        }
    };
    let facts = Facts { is_demonstration, toolchain };
    let repository_run = match is_demonstration {
        true => RepositoryRun::begin_at(new.location, &options, start, facts).await?,
        false => RepositoryRun::begin(new.location, &options, start, facts).await?,
    };
    if is_demonstration {
        let place = repository_run.repository().display();
        let said =
            format!("Scripted agents build a URL shortener in {place}; files, builds, tests and merges are real.");
        repository_run.lay_out(&demo::SEED, "A crate to build on", &said).await?;
    }
    Ok((spec.into(), prepare(repository_run).await?))
}

async fn resume(options: RepositoryOptions, start: Start) -> Result<Prepared<V3>, CommandError> {
    prepare(RepositoryRun::resume(&options, start).await?).await
}

async fn prepare(repository_run: RepositoryRun<Facts>) -> Result<Prepared<V3>, CommandError> {
    let workspaces = workspaces(repository_run.workspaces()?);
    let Facts { is_demonstration, toolchain } = repository_run.own().clone();
    let toolchain = toolchain.unwrap_or_default();
    let workbench = Workbench::new(repository_run.runner(toolchain.clone(), &workspaces).await?)?;
    let commands = workbench.commands().into_iter().chain(BuildAccess::GIT.map(str::to_owned));
    let access = repository_run.build_access(&toolchain, commands);
    let usual = is_demonstration.then(demo::script).transpose()?;
    let roles = repository_run.bind_roles::<V3>(&access, usual).await?;
    repository_run.prepare_with(run(workbench), roles, workspaces).await
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("v3", resume)
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_new_runs(begin)
        .with_cleanup(RepositoryRun::<Facts>::clean_up)
        .running_by_default()
        .main()
        .await
}
