//! Running the setup of a workspace.
//!
//! A setup runs what the workspace's commit contains, and an agent may have written that.
//!
//! **Invariant:** if the run's table, or one of its parents', demands a sandbox for any node, each setup of the run is
//! confined to its workspace. What agents commit in a sandbox gets into the run's other workspaces: handlers merge it,
//! reset to it, and let workspaces begin at it.

use crate::error::GitWorkspacesError;
use crate::git_run::GitRun;
use interlocking_agents::program::ProcessTree;
use interlocking_sandbox::{Confinement, Sandbox, Support};
use interlocking_worktree::{Setup, SetupError, delete_directory};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::Ordering;

impl GitRun {
    /// Runs the setup of a workspace in its `place`. When the run is over, or this process is killed, the setup is stopped. Every
    /// process that it has started ends with it. Git work.
    pub(crate) fn set_up(&self, name: &str, setup: &Setup, place: &Path) -> Result<(), GitWorkspacesError> {
        let is_over = || self.0.is_closing.load(Ordering::Acquire);
        let ran = match self.demands_a_sandbox() {
            true => self.set_up_confined(name, setup, place, is_over),
            false => run(setup, place, |_| {}, None, is_over).map_err(Into::into),
        };
        match ran {
            Err(GitWorkspacesError::Setup(SetupError::Stopped { .. })) => Err(GitWorkspacesError::RunEnded),
            ran => ran,
        }
    }

    /// Runs a setup in the workspace's sandbox, with a directory for temporary files of its own, which is empty: what
    /// an agent has left in the workspace's one does not affect it.
    fn set_up_confined(
        &self,
        name: &str,
        setup: &Setup,
        place: &Path,
        is_over: impl Fn() -> bool,
    ) -> Result<(), GitWorkspacesError> {
        let directory = self.own_directory().join(format!(".{name}.setup"));
        let failed =
            |error: io::Error| GitWorkspacesError::Directory { path: directory.clone(), reason: error.to_string() };
        // The setup does not run in this process's working directory.
        let temporary = std::path::absolute(&directory).map_err(failed)?;
        delete_directory(&temporary)?;
        fs::create_dir_all(&temporary).map_err(failed)?;
        let ran = self.set_up_with(name, setup, place, &temporary, is_over);
        // What cannot be deleted now is deleted before the next setup, or with the run's directory.
        if let Err(error) = delete_directory(&temporary) {
            tracing::warn!(%error, directory = %temporary.display(), "a setup's temporary files cannot be deleted");
        }
        ran
    }

    fn set_up_with(
        &self,
        name: &str,
        setup: &Setup,
        place: &Path,
        temporary: &Path,
        is_over: impl Fn() -> bool,
    ) -> Result<(), GitWorkspacesError> {
        let sandbox = self.setup_sandbox(name, setup, temporary.to_owned())?;
        let confinement = sandbox.prepare().map_err(|error| GitWorkspacesError::SetupNotConfined {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        let add_variables = |command: &mut Command| {
            command.envs(sandbox.environment());
            if command.get_envs().all(|(variable, _)| variable != "HOME") {
                command.env("HOME", temporary);
            }
        };
        Ok(run(setup, place, add_variables, Some(confinement), is_over)?)
    }

    /// The sandbox of a workspace, with the program of its setup.
    fn setup_sandbox(&self, name: &str, setup: &Setup, temporary: PathBuf) -> Result<Sandbox, GitWorkspacesError> {
        let sandbox = self.sandbox_with(name, temporary)?;
        // A relative path is one of the workspace: an agent could have it lead anywhere.
        let program = setup.program().filter(|program| program.is_absolute());
        let sandbox = program.into_iter().fold(sandbox, Sandbox::tool_chain_of);
        // A run whose table demands what this system lacks begins only where weaker isolation is accepted. What the
        // system can enforce is enforced all the same.
        let missing = sandbox.missing_on(Support::of_this_system());
        Ok(missing.into_iter().fold(sandbox, Sandbox::accept_without))
    }
}

fn run(
    setup: &Setup,
    place: &Path,
    add_variables: impl FnOnce(&mut Command),
    confinement: Option<Confinement>,
    is_over: impl Fn() -> bool,
) -> Result<(), SetupError> {
    // Dropped once the command has ended: ends what the command has left running.
    let mut tree = None;
    let start = |command: &mut Command| -> io::Result<Child> {
        add_variables(command);
        // The thread that starts programs takes it over.
        let command = std::mem::replace(command, Command::new(""));
        let (child, started) = ProcessTree::start(command, confinement)?;
        tree = Some(started);
        Ok(child)
    };
    setup.run_with(place, start, is_over)
}
