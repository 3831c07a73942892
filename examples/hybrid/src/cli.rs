//! What the command line says, and what follows from it.

use clap::{Parser, ValueEnum};
use hybrid::demo::{self, Scenario};
use hybrid::spec::{SpecError, SpecFormat, Task};
use interlocking::agents::{Script, ScriptError};
use interlocking::run_id::{RunId, RunIdError};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const EXIT_CODES: &str = "\
Exit codes:
  0    the run succeeded, and the branch was advanced
  1    the protocol ended without success; the result says why
  2    the command line, the specification or the script is wrong; nothing was done
  3    something the protocol has no word for: git, the disk, an agent's provider
  130  interrupted; worktrees are removed first (interrupt twice to stop at once)

The result goes to standard output as JSON, progress and summary to standard error.";

/// Runs the Hybrid protocol: tests and implementation are written blind to each other, attacked, then verified.
///
/// Without arguments: a demonstration in a temporary directory. Its agents are scripted, so it needs no key, server or
/// configuration; the files, builds, tests and commits are real.
#[derive(Debug, Parser)]
#[command(name = "hybrid", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// Run your own specification (`.toml` or `.json`)
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Option<PathBuf>,

    /// How the demonstration's agents behave: happy, types_hole, trivial_tests, tests_do_not_compile, build_lie,
    /// impl_edits_tests or fix_round [default: happy]
    #[arg(long, value_name = "NAME", group = "agents")]
    pub(crate) scenario: Option<Scenario>,

    /// Run your own scripted agents (`.toml`)
    #[arg(long, value_name = "FILE", group = "agents")]
    pub(crate) script: Option<PathBuf>,

    /// Run on this git repository instead of the demonstration's; say who writes to it with --script or --scenario
    #[arg(long, value_name = "DIR", requires = "agents")]
    pub(crate) repo: Option<PathBuf>,

    /// The branch to start from and to advance
    #[arg(long, value_name = "BRANCH", default_value = "main", requires = "repo")]
    pub(crate) branch: String,

    /// The run's name, part of branch and directory names: lower-case letters, digits, inner hyphens [default: from
    /// the time]
    #[arg(long, value_name = "ID")]
    pub(crate) run_id: Option<RunId>,

    /// Where worktrees are made: `DIR/ID`, outside the repository [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) work_dir: Option<PathBuf>,

    /// Where builds put their artefacts; one place for several runs saves compiling dependencies again [default:
    /// `target` in the work directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) target_dir: Option<PathBuf>,

    /// Leave worktrees, repository and `result.json` in place, and say where
    #[arg(long)]
    pub(crate) keep: bool,

    /// Write the JSON result to this file, too
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write every event of the run to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,

    /// Print the protocol's graph, and run nothing
    #[arg(long, value_enum, value_name = "LANGUAGE", num_args = 0..=1, default_missing_value = "mermaid", exclusive = true)]
    pub(crate) graph: Option<Diagram>,
}

/// The languages that the graph can be drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Diagram {
    /// A Mermaid flowchart.
    Mermaid,
    /// A Graphviz digraph.
    Dot,
}

/// What to run: everything of the command line that has to be read or can be refused.
pub(crate) struct Order {
    pub(crate) task: Task,
    pub(crate) script: Script,
    /// None for the demonstration's own.
    pub(crate) repository: Option<PathBuf>,
    pub(crate) run: RunId,
    /// What the user should know beforehand.
    pub(crate) warnings: Vec<&'static str>,
}

/// The command line cannot be followed. Nothing was done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    RunId(#[from] RunIdError),
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

impl Arguments {
    /// Reads specification and script.
    pub(crate) fn order(&self) -> Result<Order, UsageError> {
        let task = match &self.spec {
            Some(path) => Task::read(path)?,
            None => Task::parse("the demonstration's spec.toml", demo::SPEC, SpecFormat::Toml)?,
        };
        let script = match &self.script {
            Some(path) => Script::read(path)?,
            None => {
                let scenario = self.scenario.unwrap_or(Scenario::Happy);
                Script::parse(scenario.name(), scenario.script())?
            }
        };
        let run = match &self.run_id {
            Some(run) => run.clone(),
            None => default_run_id()?,
        };
        let mut warnings = Vec::new();
        if self.script.is_none() && self.spec.is_some() {
            warnings.push(
                "the agents are the demonstration's: they write its bounded stack, whatever the specification says; \
                 --script FILE takes your own",
            );
        }
        Ok(Order { task, script, repository: self.repo.clone(), run, warnings })
    }
}

/// A path that means the same in every directory: builds run elsewhere.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, UsageError> {
    std::path::absolute(path).map_err(|reason| UsageError::Unusable { path: path.to_owned(), reason })
}

/// Two programs of one second are told apart by their process.
fn default_run_id() -> Result<RunId, RunIdError> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    format!("run-{seconds}-{}", std::process::id()).parse()
}
