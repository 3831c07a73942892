//! What handlers work with that is no part of the protocol: the gate's commands, the document's text, git where it may block.

use crate::protocol::plan::Command;
use interlocking::prelude::NodeError;
use interlocking::toolchain::{
    BuildOutcome, Checkout, CommandLine, KnownTests, NamedCommand, RunError, Runner, TestRun, Toolchain,
};
use interlocking::workspaces::in_repository;
use interlocking::worktree::{CommitId, Repository};
use std::collections::BTreeSet;
use std::path::Path;

/// The name by which a command of the gate is run.
const GATE: &str = "gate";

/// How gates run.
#[derive(Debug, Clone)]
pub struct Workbench {
    /// Runs the gates' commands.
    pub runner: Runner,
    /// Whether the runner's toolchain is the user's; otherwise the document says how the project is built and tested.
    pub is_configured: bool,
}

/// Why a gate does not pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GateFailure {
    /// It has no command, so it would verify nothing.
    #[error("there is no gate: name the commands that build and test the whole project, as `gate` under `## Waves`")]
    Missing,
    /// The first of its commands that failed.
    #[error("`{command}` fails:\n{said}")]
    Command {
        /// The command.
        command: String,
        /// The end of what it said.
        said: String,
    },
}

impl Workbench {
    /// What agents may run of the project's toolchain, as one types it; more arguments may follow.
    pub fn commands(&self) -> Vec<String> {
        match self.is_configured {
            true => self.runner.toolchain().configured().map(ToString::to_string).collect(),
            false => ["cargo build", "cargo test"].map(str::to_owned).into(),
        }
    }

    /// The commands that build and test the whole project: those of its user if there are any, whatever a plan says (TC-23), and
    /// the `planned` ones otherwise.
    pub fn gate_of(&self, planned: &[Command]) -> Vec<Command> {
        if !self.is_configured {
            return planned.to_vec();
        }
        let Toolchain { build_command, test_command, .. } = self.runner.toolchain();
        let build = (build_command != test_command).then_some(build_command);
        build.into_iter().chain([test_command]).cloned().map(Command).collect()
    }

    /// Runs the gate of a plan in a checkout of everything, command by command (SAW-48). The exit code of each decides. The inner
    /// error is why it does not pass.
    ///
    /// # Errors
    ///
    /// Where a command could not be run at all.
    pub async fn gate(&self, planned: &[Command], checkout: &Path) -> Result<Result<(), GateFailure>, NodeError> {
        let commands = self.gate_of(planned);
        if commands.is_empty() {
            return Ok(Err(GateFailure::Missing));
        }
        let (toolchain, checkout) = (self.runner.toolchain(), Checkout::at(checkout));
        for Command(command) in commands {
            let said = if self.is_configured && command != toolchain.test_command {
                match self.runner.build(&checkout).await? {
                    BuildOutcome::Passed => continue,
                    failed => failed.diagnostics().to_owned(),
                }
            } else {
                match self.exit_of(command.clone(), &checkout).await? {
                    TestRun::Ran(outcome) if outcome.all_passed() => continue,
                    TestRun::Ran(outcome) => {
                        outcome.failed.into_iter().map(|failed| failed.message).collect::<Vec<_>>().join("\n")
                    }
                    TestRun::DidNotBuild { diagnostics } => diagnostics,
                    TestRun::Forged { tests } => tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
                }
            };
            return Ok(Err(GateFailure::Command { command: command.to_string(), said }));
        }
        Ok(Ok(()))
    }

    /// Runs a command of which only the exit code counts. What an agent's tests can write is used for nothing else.
    async fn exit_of(&self, command: CommandLine, checkout: &Checkout) -> Result<TestRun, RunError> {
        let mut toolchain = self.runner.toolchain().clone();
        let timeout_seconds = toolchain.test_timeout_seconds;
        toolchain.commands.insert(GATE.to_owned(), NamedCommand { timeout_seconds, ..NamedCommand::new(command) });
        let known = KnownTests { names: &[], test_path: "", implementation_path: None };
        self.runner.with_toolchain(toolchain).run_named(GATE, checkout, known).await
    }
}

/// Sees that the user's working tree has nothing that is not committed (SAW-111): `what` does not begin where it has.
pub(crate) async fn refuse_changes(repository: Repository, what: &str) -> Result<(), NodeError> {
    let changes = in_repository(repository, |repository| match repository.main_worktree()? {
        Some(user) => Ok(user.status()?.iter().map(ToString::to_string).collect::<Vec<_>>()),
        None => Ok(Vec::new()),
    });
    let changes = changes.await?;
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{what} does not begin, as the working tree has changes that are not committed: commit or remove them, then resume the run \
         with --retry:\n{}",
        changes.join("\n")
    )
    .into())
}

/// The files of a commit.
pub(crate) async fn files_at(repository: Repository, commit: CommitId) -> Result<BTreeSet<String>, NodeError> {
    in_repository(repository, move |repository| {
        Ok(repository.files(commit)?.iter().map(|file| file.to_text().into_owned()).collect())
    })
    .await
}
