//! Runs Scout-and-Wave from the command line: the demonstration, or one's own task, agents, repository.

mod approval;

use approval::approve;
use clap::Args;
use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun, lay_out};
use interlocking::cli::{Cli, CommandError, Exit, Prepared, Start, Style};
use scout_and_wave::graph::{Request, ScoutAndWave};
use scout_and_wave::protocol::path::FilePath;
use scout_and_wave::run::{run, workspaces};
use scout_and_wave::workbench::Workbench;
use scout_and_wave::{demo, demo::SEED};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

const ABOUT: &str = "\
Runs Scout-and-Wave: a scout reads a project and plans, a person approves, and waves of agents work side by side.

Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or
configuration; the files, builds, tests, commits and merges are real. It stops for a person's approval; --approve gives it.

The roles of the agents are scout and agent.";

/// What a run is to build, and where: settled when it starts.
#[derive(Debug, Args)]
#[command(mut_arg("repo", |repo| repo.requires("task").help(
    "The git repository for --task [default: the one that the program is started in]"
)))]
struct New {
    /// What is to be built, in your own words, on a repository of your own
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,

    /// What the document is called: `docs/IMPL-NAME.md`
    #[arg(long, value_name = "NAME", default_value = "feature")]
    name: String,

    #[command(flatten)]
    location: Location,
}

/// Who works on it: of a run that is resumed, too.
#[derive(Debug, Args)]
struct Options {
    /// Approve the plan, caveats included, without stopping for a person
    #[arg(long)]
    approve: bool,

    #[command(flatten)]
    repository: RepositoryOptions,
}

/// What is remembered of a run beside where it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Facts {
    /// Whether the demonstration's agents play all roles that nobody else plays.
    is_demonstration: bool,
}

async fn begin(options: Options, new: New, start: Start) -> Result<(Request, Prepared<ScoutAndWave>), CommandError> {
    let file = format!("docs/IMPL-{}.md", new.name);
    let document = FilePath::new(&file).map_err(|error| CommandError::from(error).at("--name"))?;
    let is_demonstration = new.task.is_none();
    let facts = Facts { is_demonstration };
    let task = new.task.unwrap_or_else(|| demo::TASK.to_owned());
    let repository_run = match is_demonstration {
        true => RepositoryRun::begin_at(new.location, &options.repository, start, facts).await?,
        false => RepositoryRun::begin(new.location, &options.repository, start, facts).await?,
    };
    if is_demonstration {
        let console = &repository_run.start().console;
        let where_it_is = repository_run.repository().display();
        console.line(
            Style::Bold,
            &format!(
                "Scripted agents build text statistics in {where_it_is}; files, builds, tests and merges are real."
            ),
        );
        let laid_out = lay_out(repository_run.repository(), &SEED, "A crate to build on", async |_| Ok(())).await;
        laid_out.map_err(|error: interlocking::cli::repository::LayOutError| {
            CommandError::new(format!("the demonstration could not be laid out: {error}")).with_exit(Exit::Failed)
        })?;
    }
    Ok((Request { task, document }, prepare(repository_run, options.approve).await?))
}

async fn resume(options: Options, start: Start) -> Result<Prepared<ScoutAndWave>, CommandError> {
    prepare(RepositoryRun::resume(&options.repository, start).await?, options.approve).await
}

async fn prepare(repository_run: RepositoryRun<Facts>, approves: bool) -> Result<Prepared<ScoutAndWave>, CommandError> {
    let start = repository_run.start().clone();
    let target_directory = repository_run.target_directory().to_owned();
    let access =
        BuildAccess::cargo(["cargo build".to_owned(), "cargo test".to_owned()], &target_directory.join("agents"));
    let usual = repository_run.own().is_demonstration.then(demo::script).transpose()?;
    let roles = repository_run.bind_roles::<ScoutAndWave>(&access, usual).await?;
    let workspaces = workspaces(repository_run.workspaces()?);
    let workbench = Workbench {
        target_directory,
        checkouts: workspaces.checkouts_of(&start.run),
        accept_weaker_isolation: start.accepts_weaker_isolation,
        recorder: None,
    };
    let mut run = run(workbench);
    if approves {
        run = approve(run, &start);
    }
    repository_run.prepare_with(run, roles, workspaces).await
}

#[tokio::main]
async fn main() -> ExitCode {
    Cli::new("scout-and-wave", resume)
        .with_about(ABOUT)
        .with_version(env!("CARGO_PKG_VERSION"))
        .with_new_runs(begin)
        .with_clearing_up(RepositoryRun::<Facts>::clear_up)
        .running_by_default()
        .main()
        .await
}
