//! The git operations of a scripted agent, through the user's `git`: commits, and the hash of the workspace's commit.
//!
//! The commit is made by the agent itself, as real agents do: no hook runs, nothing is signed, and the user's and the
//! system's configuration are ignored. The repository's own configuration of file contents (filters, line ends)
//! applies.

use std::ffi::OsString;
use std::path::Path;

use super::action_error::ActionProblem;
use super::script::Commit;
use crate::agent::event::AgentEvent;
use crate::program::Environment;
use crate::scripted::command::{self, Ended, Surroundings};

/// The author of commits, unless the agent's [environment](super::ScriptedAgent::with_env) says otherwise.
const NAME: &str = "Scripted agent";
const EMAIL: &str = "scripted-agent@localhost";

/// Overrides for programs and prompts that a repository's configuration could start.
const QUIET: [&str; 12] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "commit.template=",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
];

impl Commit {
    /// Commits everything in the workspace that is not ignored.
    pub(super) async fn perform(
        &self,
        workspace: &Path,
        surroundings: &Surroundings<'_>,
    ) -> Result<AgentEvent, ActionProblem> {
        let git = Git { workspace, surroundings };
        git.run(&["add", "--all"]).await?;
        let message = self.message.as_str();
        let committed = git.ask(&["commit", "--quiet", "--cleanup=verbatim", "-m", message]).await?;
        if committed.exit != Some(0) {
            let staged = git.ask(&["diff", "--cached", "--quiet", "--no-ext-diff", "--no-textconv"]).await?;
            let is_empty = staged.exit == Some(0);
            return Err(if is_empty { ActionProblem::NothingToCommit } else { refused("commit", committed) });
        }
        let command = ["git", "commit", "-m", message].map(str::to_owned).to_vec();
        Ok(AgentEvent::CommandRun { command, exit: Some(0) })
    }
}

/// The hash of the commit that is checked out in the workspace.
pub(super) async fn head(workspace: &Path, surroundings: &Surroundings<'_>) -> Result<String, ActionProblem> {
    let git = Git { workspace, surroundings };
    let read = git.ask(&["rev-parse", "--is-inside-work-tree", "HEAD^{commit}"]).await?;
    match (read.exit, read.output.trim().strip_prefix("true\n")) {
        (Some(0), Some(head)) => Ok(head.to_owned()),
        _ => Err(git.not_a_repository().await?.unwrap_or(ActionProblem::NoCommit)),
    }
}

/// The user's `git` in a workspace that is a repository's worktree.
struct Git<'a> {
    workspace: &'a Path,
    surroundings: &'a Surroundings<'a>,
}

impl Git<'_> {
    async fn run(&self, arguments: &[&str]) -> Result<(), ActionProblem> {
        let ended = self.ask(arguments).await?;
        if ended.exit == Some(0) {
            return Ok(());
        }
        Err(self.not_a_repository().await?.unwrap_or_else(|| refused(arguments[0], ended)))
    }

    /// The error that the workspace is not in a repository, if that is the case; checked after a command has failed.
    async fn not_a_repository(&self) -> Result<Option<ActionProblem>, ActionProblem> {
        let told = self.ask(&["rev-parse", "--is-inside-work-tree"]).await?;
        let is_inside = told.exit == Some(0) && told.output.trim() == "true";
        Ok((!is_inside)
            .then(|| ActionProblem::NotARepository { workspace: self.workspace.to_owned(), last_words: told.errors }))
    }

    async fn ask(&self, arguments: &[&str]) -> Result<Ended, ActionProblem> {
        let command: Vec<String> = ["git"].iter().chain(&QUIET).chain(arguments).map(ToString::to_string).collect();
        let ended = command::run_in(&command, self.workspace, self.environment(), self.surroundings.sandbox).await;
        ended.map_err(|error| {
            let command = vec!["git".to_owned(), arguments[0].to_owned()];
            ActionProblem::NotStarted { command, reason: error.to_string() }
        })
    }

    fn environment(&self) -> Environment {
        let who = ["AUTHOR", "COMMITTER"].into_iter().fold(Environment::minimal(), |environment, who| {
            environment.set(format!("GIT_{who}_NAME"), NAME).set(format!("GIT_{who}_EMAIL"), EMAIL)
        });
        let added = self.surroundings.environment.iter().map(|(name, value)| (name, value));
        let environment = who.set_in(Some(self.workspace), added);
        // A workspace that is not a worktree must not be treated as part of a worktree around it.
        let workspace = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.to_owned());
        let around = workspace.parent().map(|around| OsString::from(around.as_os_str())).unwrap_or_default();
        environment
            .set("GIT_CEILING_DIRECTORIES", around)
            .set("GIT_CONFIG_GLOBAL", "/dev/null")
            .set("GIT_CONFIG_SYSTEM", "/dev/null")
            .set("GIT_TERMINAL_PROMPT", "0")
            .set("GIT_OPTIONAL_LOCKS", "0")
            .set("LC_ALL", "C")
    }
}

fn refused(what: &str, ended: Ended) -> ActionProblem {
    let command = vec!["git".to_owned(), what.to_owned()];
    ActionProblem::WrongExit { command, expected: 0, exit: ended.exit, last_words: ended.last_words() }
}
