//! What handlers work with that is no part of the protocol: the gate's commands, the document's text, git where it may block.

use crate::protocol::plan::Command;
use interlocking::prelude::NodeError;
use interlocking::toolchain::{Checkout, KnownTests, NamedCommand, Recorder, Runner, TestRun, Toolchain, Unconfined};
use interlocking::workspaces::in_repository;
use interlocking::worktree::{CommitId, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Where gates run, and how far they are confined.
#[derive(Debug, Clone)]
pub struct Workbench {
    /// Where builds put their artefacts.
    pub target_directory: PathBuf,
    /// The directory around the checkouts that are built.
    pub checkouts: PathBuf,
    /// How the project is built and tested, where its user says so; the document says it otherwise.
    pub toolchain: Option<Toolchain>,
    /// Whether it goes on where this system cannot keep the agents' code in its place while it is built and tested.
    pub accept_weaker_isolation: bool,
    /// Answers the gate's commands in tests, in place of this system's programs.
    pub recorder: Option<Arc<Recorder>>,
    /// Made once, from the other fields: it has noted what decides how everything is built.
    runner: OnceLock<Result<Runner, Unconfined>>,
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
    /// A workbench without a toolchain.
    pub fn new(target_directory: PathBuf, checkouts: PathBuf) -> Self {
        let (toolchain, accept_weaker_isolation, recorder, runner) = Default::default();
        Self { target_directory, checkouts, toolchain, accept_weaker_isolation, recorder, runner }
    }

    /// The runner of every gate. The first call notes the files outside the checkouts that decide how everything is built.
    pub(crate) fn runner(&self) -> Result<&Runner, Unconfined> {
        let make = || {
            let toolchain = self.toolchain.clone().unwrap_or_default();
            let (target, checkouts) = (&self.target_directory, &self.checkouts);
            let runner = Runner::with_weaker_isolation_if(toolchain, target, checkouts, self.accept_weaker_isolation)?;
            Ok(runner.with_recorder(self.recorder.clone()))
        };
        self.runner.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// What agents may run of the project's toolchain, as one types it; more arguments may follow.
    pub fn commands(&self) -> Vec<String> {
        match &self.toolchain {
            Some(toolchain) => toolchain.configured().map(ToString::to_string).collect(),
            None => ["cargo build", "cargo test"].map(str::to_owned).into(),
        }
    }

    /// The commands that build and test the whole project: those of its user if there are any, whatever a plan says (TC-23), and
    /// the `planned` ones otherwise.
    pub fn gate_of(&self, planned: &[Command]) -> Vec<Command> {
        let Some(Toolchain { build_command, test_command, .. }) = &self.toolchain else { return planned.to_vec() };
        let mut gate = vec![Command(build_command.clone())];
        if build_command != test_command {
            gate.push(Command(test_command.clone()));
        }
        gate
    }

    /// Runs the gate of a plan in a checkout of everything, command by command (SAW-48). The inner error is why it does not pass.
    ///
    /// # Errors
    ///
    /// Where a command could not be run at all.
    pub async fn gate(&self, planned: &[Command], checkout: &Path) -> Result<Result<(), GateFailure>, NodeError> {
        let commands = self.gate_of(planned);
        if commands.is_empty() {
            return Ok(Err(GateFailure::Missing));
        }
        let toolchain = self.toolchain.clone().unwrap_or_default();
        let timeout_seconds = toolchain.test_timeout_seconds;
        let named = |(number, Command(command)): (usize, &Command)| {
            (format!("gate-{number}"), NamedCommand { timeout_seconds, ..NamedCommand::new(command.clone()) })
        };
        let commands_by_name: BTreeMap<_, _> = (1..).zip(&commands).map(named).collect();
        let toolchain = Toolchain { commands: commands_by_name, ..toolchain };
        let runner = self.runner()?.with_toolchain(toolchain);
        let checkout = Checkout::at(checkout);
        for (number, command) in (1..).zip(&commands) {
            let known = KnownTests { names: &[], test_path: "", implementation_path: None };
            let said = match runner.run_named(&format!("gate-{number}"), &checkout, known).await? {
                TestRun::Ran(outcome) if outcome.all_passed() => continue,
                TestRun::Ran(outcome) => {
                    outcome.failed.into_iter().map(|failed| failed.message).collect::<Vec<_>>().join("\n")
                }
                TestRun::DidNotBuild { diagnostics } => diagnostics,
                TestRun::Forged { tests } => tests.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
            };
            return Ok(Err(GateFailure::Command { command: command.to_string(), said }));
        }
        Ok(Ok(()))
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
