//! How a run over a repository builds and tests: with which isolation, by which commands of its own and of its agents.

use super::run::{Remembered, RepositoryRun};
use crate::console::Style;
use crate::error::CommandError;
use interlocking_agents::backends::BuildAccess;
use interlocking_runtime::journal::ending;
use interlocking_toolchain::{Runner, Toolchain, Unconfined};
use interlocking_workspaces::GitWorkspaces;

impl<M: Remembered> RepositoryRun<M> {
    /// The runner of the run's commands, in fresh checkouts of these workspaces. Made before any agent is called, it refuses a
    /// system that cannot confine what agents write.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if this system cannot confine it, and [weaker isolation](Self::accepts_weaker_isolation) is not accepted.
    pub async fn runner(&self, toolchain: Toolchain, workspaces: &GitWorkspaces) -> Result<Runner, CommandError> {
        let (target, checkouts) = (self.target_directory(), workspaces.checkouts_of(&self.start.run));
        let is_accepted = self.accepts_weaker_isolation().await?;
        Ok(Runner::with_weaker_isolation_if(toolchain, target, checkouts, is_accepted)?)
    }

    /// Whether the run may build and test with as much isolation as this system has: if the user accepts that, which the program
    /// then prints, or if the run is over, so that it builds nothing.
    ///
    /// # Errors
    ///
    /// [`CommandError`] if the journal cannot be read.
    pub async fn accepts_weaker_isolation(&self) -> Result<bool, CommandError> {
        if self.is_over().await? {
            return Ok(true);
        }
        let start = &self.start;
        if let Some(unconfined) = Unconfined::on_this_system().filter(|_| start.accepts_weaker_isolation) {
            start.console.line(Style::Bad, &format!("Accepted: {unconfined}"));
        }
        Ok(start.accepts_weaker_isolation)
    }

    /// Whether the run has ended and is not retried: it only reports its end again.
    pub(super) async fn is_over(&self) -> Result<bool, CommandError> {
        let records = self.start.journal.load(&self.start.run).await.map_err(CommandError::of_journal)?;
        Ok(!self.start.is_retried && ending(&records).is_some())
    }

    /// Access for agents that build and test what they write, with these commands and with the environment that the toolchain
    /// passes on.
    pub fn build_access(&self, toolchain: &Toolchain, commands: impl IntoIterator<Item = String>) -> BuildAccess {
        let mut access = BuildAccess::cargo(commands, &self.target_directory().join("agents"));
        access.inherit.extend(toolchain.pass_environment.iter().cloned());
        access
    }
}
