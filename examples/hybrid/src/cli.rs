//! The options of the command line.

use clap::{ArgGroup, Args};
use hybrid::demo::{self, Scenario};
use hybrid::spec::{SpecError, SpecFormat, Task};
use interlocking::cli::repository::{Location, RepositoryOptions};
use std::path::PathBuf;

/// What a run is to build, and where: settled when it starts, and remembered.
#[derive(Debug, Args)]
#[command(
    mut_arg("repo", |repo| repo.requires("players").help(
        "Run on this git repository instead of the demonstration's; say who writes to it with --agent, --agents, --script or --scenario"
    )),
    mut_arg("branch", |branch| branch.requires("repo").help("The branch to start from and to advance [default: main]"))
)]
pub(crate) struct Specification {
    /// Run your own specification (`.toml` or `.json`)
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) location: Location,
}

/// The agents of a run and what becomes of its result, also for a run that is resumed.
#[derive(Debug, Args)]
#[command(
    group(ArgGroup::new("players").args(["scenario", "script", "agent", "agents"]).multiple(true)),
    mut_arg("script", |script| script.conflicts_with("scenario"))
)]
pub(crate) struct Options {
    /// How the demonstration's agents behave [default: happy, unless others play]
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub(crate) scenario: Option<Scenario>,

    #[command(flatten)]
    pub(crate) repository: RepositoryOptions,
}

impl Specification {
    /// Reads the task.
    pub(crate) fn task(&self) -> Result<Task, SpecError> {
        match &self.spec {
            Some(path) => Task::read(path),
            None => Task::parse("the demonstration's spec.toml", demo::SPEC, SpecFormat::Toml),
        }
    }

    /// Whether the task is the demonstration's.
    pub(crate) fn is_the_demonstration(&self) -> bool {
        self.spec.is_none()
    }
}

impl Options {
    /// The scenario of the demonstration's agents, if the options bind agents: `Some(None)` if other agents play all roles,
    /// `None` if the options bind none.
    pub(crate) fn scenario(&self) -> Option<Option<Scenario>> {
        (self.scenario.is_some() || self.repository.specifies_agents()).then_some(self.scenario)
    }
}
