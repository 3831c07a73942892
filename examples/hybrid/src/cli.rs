//! What the command line says, and what follows from it.

use clap::{ArgGroup, Args};
use hybrid::demo::{self, Scenario};
use hybrid::spec::{SpecError, SpecFormat, Task};
use interlocking::agents::backends::{Backends, RoleBindings};
use interlocking::agents::{Script, ScriptError};
use interlocking::cli::{Agents, CommandError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a run is to build, and where: settled when it starts, and remembered.
#[derive(Debug, Args)]
pub(crate) struct Specification {
    /// Run your own specification (`.toml` or `.json`)
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) location: Location,
}

/// Where a run takes place.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location {
    /// Run on this git repository instead of the demonstration's; say who writes to it with --agent, --agents, --script
    /// or --scenario
    #[arg(long, value_name = "DIR", requires = "players")]
    pub(crate) repo: Option<PathBuf>,

    /// The branch to start from and to advance [default: main]
    #[arg(long, value_name = "BRANCH", requires = "repo")]
    pub(crate) branch: Option<String>,

    /// Where worktrees are made: `DIR/ID`, outside the repository [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,

    /// Where builds put their artefacts; one place for several runs saves compiling dependencies again [default:
    /// `target` in the work directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,
}

/// Who works on it, and what comes of it: of a run that is taken up, too.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("players").args(["scenario", "script", "agent", "agents"]).multiple(true)))]
pub(crate) struct Options {
    /// How the demonstration's agents behave: happy, types_hole, trivial_tests, tests_do_not_compile, build_lie,
    /// impl_edits_tests or fix_round [default: happy, unless others play]
    #[arg(long, value_name = "NAME", conflicts_with = "script")]
    pub(crate) scenario: Option<Scenario>,

    /// Run your own scripted agents (`.toml`)
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) agents: Agents,

    /// Advance this branch instead of the one that the run began at; it is made there, if there is none
    #[arg(long, value_name = "BRANCH")]
    pub(crate) land_on: Option<String>,

    /// Leave worktrees, repository and `result.json` in place, and say where
    #[arg(long)]
    pub(crate) keep: bool,

    /// Write the result to this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) result: Option<PathBuf>,
}

/// The command line cannot be followed. Nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error("{}: {reason}", path.display())]
    Unusable { path: PathBuf, reason: std::io::Error },
    #[error("{} lies inside the repository {}: give a --work-dir outside of it", directory.display(), repository.display())]
    WorkInside { directory: PathBuf, repository: PathBuf },
    #[error(
        "{} exists already, from an earlier run of that name: choose another --run-id or --work-dir, or remove it",
        path.display()
    )]
    RunExists { path: PathBuf },
}

impl Location {
    /// The same in every directory.
    pub(crate) fn absolute(self) -> Result<Self, UsageError> {
        let path = |path: Option<PathBuf>| path.as_deref().map(absolute).transpose();
        let (repo, work_dir, target_dir) = (path(self.repo)?, path(self.work_dir)?, path(self.target_dir)?);
        Ok(Self { repo, work_dir, target_dir, branch: self.branch })
    }
}

impl Specification {
    /// Reads it.
    pub(crate) fn task(&self) -> Result<Task, SpecError> {
        match &self.spec {
            Some(path) => Task::read(path),
            None => Task::parse("the demonstration's spec.toml", demo::SPEC, SpecFormat::Toml),
        }
    }

    /// Whether it is the demonstration's.
    pub(crate) fn is_the_demonstration(&self) -> bool {
        self.spec.is_none()
    }
}

/// Who plays the agents: those of a script, and others in place of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Players {
    pub(crate) scripted: Option<Scripted>,
    /// As given with `--agent`.
    said: Vec<String>,
    /// As given with `--agents`.
    file: Option<PathBuf>,
    /// Where both were given: what their relative paths mean.
    directory: PathBuf,
}

/// Scripted agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Scripted {
    /// Those of the demonstration.
    Scenario(Scenario),
    /// Those of a script.
    Script(PathBuf),
}

impl Options {
    /// Who plays the agents, where the options say it.
    pub(crate) fn players(&self) -> Result<Option<Players>, UsageError> {
        let scripted = match (&self.script, self.scenario) {
            (Some(path), _) => Some(Scripted::Script(absolute(path)?)),
            (None, scenario) => scenario.map(Scripted::Scenario),
        };
        if scripted.is_none() && self.agents.is_empty() {
            return Ok(None);
        }
        let directory = absolute(Path::new("."))?;
        let file = self.agents.file().map(Path::to_owned);
        Ok(Some(Players { scripted, said: self.agents.said().to_vec(), file, directory }))
    }
}

impl Players {
    /// The demonstration's usual ones.
    pub(crate) fn usual() -> Self {
        let (said, file, directory) = Default::default();
        Self { scripted: Some(Scripted::Scenario(Scenario::Happy)), said, file, directory }
    }

    /// The scripted agents' script, if there are any; `named` is how the user has named its file.
    pub(crate) fn script(&self, named: Option<&Path>) -> Result<Option<Script>, ScriptError> {
        let script = match &self.scripted {
            Some(Scripted::Script(path)) => Script::read(named.unwrap_or(path)),
            Some(Scripted::Scenario(scenario)) => Script::parse(scenario.name(), scenario.script()),
            None => return Ok(None),
        };
        script.map(Some)
    }

    /// What they are.
    pub(crate) fn title(&self) -> &'static str {
        match (&self.scripted, self.said.is_empty() && self.file.is_none()) {
            (Some(_), true) => "Scripted agents",
            (Some(_), false) => "Scripted and other agents",
            (None, _) => "Agents",
        }
    }

    /// Whether they write what the demonstration is about, whatever the specification says.
    pub(crate) fn play_the_demonstration(&self) -> bool {
        matches!(self.scripted, Some(Scripted::Scenario(_)))
    }

    /// Who plays in place of the scripted agents.
    pub(crate) fn bindings(&self, backends: Backends) -> Result<RoleBindings, CommandError> {
        Agents::new(self.said.clone(), self.file.clone(), self.directory.clone()).bindings(backends)
    }
}

/// A path that means the same in every directory: builds run elsewhere.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, UsageError> {
    std::path::absolute(path).map_err(|reason| UsageError::Unusable { path: path.to_owned(), reason })
}
