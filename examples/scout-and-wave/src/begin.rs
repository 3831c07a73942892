//! Sets up runs in this process from options.

use crate::approval::approve;
use clap::Args;
use interlocking::agents::backends::BuildAccess;
use interlocking::cli::repository::{Location, RepositoryOptions, RepositoryRun};
use interlocking::cli::{CommandError, Exit, Prepared, Start};
use interlocking::document::{Document, Source};
use interlocking::prelude::{GitWorkspaces, RunId};
use interlocking::toolchain::{Harness, Toolchain};
use interlocking::workspaces::FilePath;
use interlocking::worktree::Repository;
use scout_and_wave::graph::{SawResult, ScoutAndWave};
use scout_and_wave::request::Request;
use scout_and_wave::run::{run, workspaces};
use scout_and_wave::workbench::Workbench;
use scout_and_wave::{demo, demo::SEED};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where a run works, and by what toolchain: settled when it starts.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[command(flatten)]
    location: Location,

    /// How the project is built and tested, in YAML; what the plan says otherwise, by cargo
    #[arg(long, value_name = "FILE")]
    toolchain: Option<PathBuf>,
}

/// Which document.
#[derive(Debug, Args)]
pub(crate) struct Named {
    /// What the document is called: `docs/IMPL-NAME.md`
    #[arg(long, value_name = "NAME", default_value = "feature")]
    name: String,
}

/// What `run` is to build, and where.
#[derive(Debug, Args)]
#[command(mut_arg("repo", |repo| repo.requires("task").help(
    "The git repository for --task [default: the one that the program is started in]"
)))]
pub(crate) struct New {
    /// What is to be built, in your own words, on a repository of your own
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,

    #[command(flatten)]
    named: Named,

    #[command(flatten)]
    place: Place,
}

/// Who works on it: of a run that is resumed, too.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Approve the plan, caveats included, without stopping for a person; where a wave is blocked, the program waits until a person answers
    #[arg(long)]
    approve: bool,

    #[command(flatten)]
    repository: RepositoryOptions,
}

/// Facts stored with a run beside its location.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Whether the demonstration's agents play all roles that no other agent plays.
    is_demonstration: bool,
    /// How the project is built and tested, if the user said so.
    #[serde(default)]
    toolchain: Option<Toolchain>,
    /// The directory with the worktrees of the run that it continues.
    #[serde(default)]
    left_in: Option<PathBuf>,
}

/// A run, ready to be started.
pub(crate) type Begun = (Request, Prepared<ScoutAndWave>);

impl Named {
    /// The document's path.
    pub(crate) fn document(&self) -> Result<FilePath, CommandError> {
        let file = format!("docs/IMPL-{}.md", self.name);
        FilePath::new(file).map_err(|error| CommandError::from(error).at("--name"))
    }
}

/// `run`: the demonstration, if there is no task.
pub(crate) async fn begin(options: Options, new: New, start: Start) -> Result<Begun, CommandError> {
    let document = new.named.document()?;
    match new.task {
        Some(task) => begin_with(options, new.place, start, Request::Feature { task, document }).await,
        None => begin_demonstration(options, new.place, start, document).await,
    }
}

/// A run on the user's repository.
pub(crate) async fn begin_with(
    options: Options,
    place: Place,
    start: Start,
    request: Request,
) -> Result<Begun, CommandError> {
    let toolchain = place.toolchain.as_deref().map(read_toolchain).transpose()?;
    let left_in = match &request {
        Request::Recover { run, .. } => Some(directory_left_by(run, place.location.repo.as_deref(), &start).await?),
        _ => None,
    };
    let facts = Facts { is_demonstration: false, toolchain, left_in };
    let run = RepositoryRun::begin(place.location, &options.repository, start, facts).await?;
    Ok((request, prepare(run, options.approve).await?))
}

/// Where a run whose journal is lost has left its worktrees.
async fn directory_left_by(lost: &RunId, repository: Option<&Path>, start: &Start) -> Result<PathBuf, CommandError> {
    if !start.journal.load(lost).await.map_err(CommandError::of_journal)?.is_empty() {
        let known = CommandError::new(format!("the journal of the run `{lost}` is there"));
        return Err(known.remedy(format!("take it up: {} resume {lost}", start.program)));
    }
    let repository = Repository::discover(repository.unwrap_or(Path::new(".")))?;
    let left = GitWorkspaces::new(repository, "").directory_of(lost)?;
    left.ok_or_else(|| {
        CommandError::new(format!("the run `{lost}` has left no worktree in this repository"))
            .remedy("`git worktree list` shows what runs have left: RUN/staging is of the run RUN; where there is nothing, `wave` goes on")
    })
}

async fn begin_demonstration(
    options: Options,
    place: Place,
    start: Start,
    document: FilePath,
) -> Result<Begun, CommandError> {
    let facts = Facts { is_demonstration: true, toolchain: None, left_in: None };
    let run = RepositoryRun::begin_at(place.location, &options.repository, start, facts).await?;
    let said = format!(
        "Scripted agents build text statistics in {}; files, builds, tests and merges are real.",
        run.repository().display()
    );
    run.lay_out(&SEED, "A crate to build on", &said).await?;
    Ok((Request::Feature { task: demo::TASK.to_owned(), document }, prepare(run, options.approve).await?))
}

/// Sets up a run that another process began.
pub(crate) async fn resume(options: Options, start: Start) -> Result<Prepared<ScoutAndWave>, CommandError> {
    prepare(RepositoryRun::resume(&options.repository, start).await?, options.approve).await
}

/// Removes what is left of a run that was ended while no process executed it.
pub(crate) async fn clean_up(start: Start) -> Result<(), CommandError> {
    RepositoryRun::clean_up_with(start, places).await
}

/// The workspaces of a run: a recovery works where the lost run has left its own.
fn places(run: &RepositoryRun<Facts>) -> Result<GitWorkspaces, CommandError> {
    let own = run.workspaces()?;
    Ok(workspaces(match &run.own().left_in {
        Some(directory) => own.with_directory(directory.clone()),
        None => own,
    }))
}

async fn prepare(repository_run: RepositoryRun<Facts>, approves: bool) -> Result<Prepared<ScoutAndWave>, CommandError> {
    let start = repository_run.start().clone();
    let Facts { is_demonstration, toolchain, .. } = repository_run.own().clone();
    let (workspaces, is_configured) = (places(&repository_run)?, toolchain.is_some());
    let toolchain = toolchain.unwrap_or_default();
    let runner = repository_run.runner(toolchain.clone(), &workspaces).await?;
    let workbench = Workbench { runner, is_configured };
    let commands = workbench.commands().into_iter().chain(BuildAccess::GIT.map(str::to_owned));
    let access = repository_run.build_access(&toolchain, commands);
    let usual = is_demonstration.then(demo::script).transpose()?;
    let roles = repository_run.bind_roles::<ScoutAndWave>(&access, usual).await?;
    let mut run = run(workbench);
    if approves {
        run = approve(run, &start);
    }
    repository_run.prepare_judged(run, roles, workspaces, exit).await
}

/// The exit code: whether the program has done what it was asked to do. For `check` that is a verdict, whatever the verdict is.
fn exit(result: &SawResult) -> Exit {
    match result {
        SawResult::Complete { .. }
        | SawResult::Checked { .. }
        | SawResult::Reviewed { .. }
        | SawResult::QuickComplete { .. } => Exit::Done,
        SawResult::QuickStopped { .. }
        | SawResult::NotSuitable { .. }
        | SawResult::Declined { .. }
        | SawResult::Stopped { .. } => Exit::Failed,
    }
}

fn read_toolchain(file: &Path) -> Result<Toolchain, CommandError> {
    let toolchain: Toolchain = read_yaml(file)?;
    // Of each command the exit code decides.
    let checked = Toolchain { harness: Harness::ExitCode, ..toolchain.clone() }.check();
    checked.map_err(|error| CommandError::from(error).at(file.display().to_string()))?;
    Ok(toolchain)
}

/// Reads a YAML file of the user's; mistakes are reported at their places.
pub(crate) fn read_yaml<T: DeserializeOwned>(path: &Path) -> Result<T, CommandError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| CommandError::from(error).at(&name))?;
    let document = Document::yaml(Source::new(&name, &text));
    let read = document.and_then(|document| document.read(|root, problems| root.read::<T>(problems)));
    read.map_err(|problems| CommandError::new(problems.to_string()))
}
