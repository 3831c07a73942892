//! The command-line options of a run over a repository.

use crate::agents::Agents;
use crate::error::CommandError;
use clap::Args;
use interlocking_worktree::BranchName;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Where a new run takes place: for a program to flatten into the options that only `run` has.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Run on this git repository [default: the one that the program is started in]
    #[arg(long, value_name = "DIR")]
    pub repo: Option<PathBuf>,

    /// The branch to start from and to advance [default: the one that the repository's working tree is on]
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,

    /// Where worktrees are made: `DIR/ID`, outside the repository [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    pub work_dir: Option<PathBuf>,

    /// Where builds put their artefacts; one place for several runs saves compiling dependencies again [default:
    /// `target` in the work directory]
    #[arg(long, value_name = "DIR")]
    pub target_dir: Option<PathBuf>,
}

/// The agents of a run and what becomes of its result: for a program to flatten into the options that `run` and `resume` have.
#[derive(Clone, Debug, Default, Args)]
pub struct RepositoryOptions {
    /// Run your own scripted agents (`.toml`)
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Who plays which role.
    #[command(flatten)]
    pub agents: Agents,

    /// Advance this branch instead of the one that the run began at; it is made there, if there is none
    #[arg(long, value_name = "BRANCH")]
    pub land_on: Option<String>,

    /// Leave worktrees, repository and `result.json` in place, and say where
    #[arg(long)]
    pub keep: bool,

    /// Write the result to this file, too
    #[arg(long, value_name = "FILE")]
    pub result: Option<PathBuf>,
}

impl Location {
    /// The location with absolute paths.
    pub(crate) fn absolute(self) -> Result<Self, CommandError> {
        let path = |path: Option<PathBuf>, option| path.map(|path| absolute(&path, option)).transpose();
        let (repo, work_dir) = (path(self.repo, "--repo")?, path(self.work_dir, "--work-dir")?);
        let target_dir = path(self.target_dir, "--target-dir")?;
        Ok(Self { repo, work_dir, target_dir, branch: self.branch })
    }
}

impl RepositoryOptions {
    /// Whether any option names an agent or a script.
    pub fn specifies_agents(&self) -> bool {
        self.script.is_some() || !self.agents.is_empty()
    }

    /// The branch to land on, if one is named.
    pub(crate) fn landing_branch(&self) -> Result<Option<String>, CommandError> {
        let Some(name) = &self.land_on else { return Ok(None) };
        let branch = BranchName::new(name.as_str()).map_err(|error| CommandError::from(error).at("--land-on"))?;
        Ok(Some(branch.to_string()))
    }

    /// The options that name agents; `None` if there are none.
    pub(crate) fn agent_options(&self) -> Result<Option<AgentOptions>, CommandError> {
        if !self.specifies_agents() {
            return Ok(None);
        }
        let directory = current_directory()?;
        if let Some(file) = self.agents.file() {
            absolute(file, "--agents")?;
        }
        Ok(Some(AgentOptions {
            script: self.script.as_deref().map(|script| absolute(script, "--script")).transpose()?,
            said: self.agents.agent_arguments().to_vec(),
            file: self.agents.file().map(Path::to_owned),
            directory,
        }))
    }
}

/// The options that name agents, as given: stored for the process that resumes the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentOptions {
    /// As given with `--script`.
    pub(crate) script: Option<PathBuf>,
    /// As given with `--agent`.
    pub(crate) said: Vec<String>,
    /// As given with `--agents`.
    pub(crate) file: Option<PathBuf>,
    /// The directory in which the program was started, to which relative paths in both refer.
    pub(crate) directory: PathBuf,
}

/// The path that `option` gives, made absolute, as builds run in other directories.
pub(crate) fn absolute(path: &Path, option: &str) -> Result<PathBuf, CommandError> {
    let absolute = std::path::absolute(path).map_err(|reason| unusable(path, &reason))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(CommandError::new("the path is not UTF-8, and a run stores its paths as text")
            .at(format!("{option} {}", absolute.display()))
            .remedy("give another path")),
    }
}

/// The directory in which the program is started.
pub(crate) fn current_directory() -> Result<PathBuf, CommandError> {
    absolute(Path::new("."), "the current directory")
}

/// The error for a file or directory that cannot be used.
pub(crate) fn unusable(path: &Path, reason: &std::io::Error) -> CommandError {
    CommandError::new(format!("{}: {reason}", path.display()))
}
