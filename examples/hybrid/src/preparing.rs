//! Making ready for a run, or for its continuation.

use crate::waiting::while_waiting;
use crate::whereabouts::Whereabouts;
use hybrid::graph::Hybrid;
use hybrid::past::Past;
use hybrid::run::{SetUpError, Settings, UnderWay, set_up};
use hybrid::spec::Task;
use hybrid::stage::{StageError, lay_out};
use interlocking::cli::{CommandError, Exit, Start, Style};
use interlocking::prelude::*;
use interlocking::runtime::roles::Roles;
use interlocking::toolchain::Unconfined;
use std::sync::Arc;

impl Whereabouts {
    /// Lays out the demonstration if there is no other repository, and makes ready for the run.
    pub(crate) async fn prepare(
        &self,
        start: &Start,
        task: Task,
        roles: Roles,
    ) -> Result<(Run<Hybrid>, UnderWay), CommandError> {
        let console = &start.console;
        let (module, criteria) = (&task.spec.module_name, task.spec.acceptance_criteria.len());
        console.line(
            Style::Bold,
            &format!(
                "{} build `{module}` ({criteria} acceptance criteria) as run {} in {}; files, builds, \
                 tests and commits are real.",
                self.players.title(),
                start.run,
                self.repository.display()
            ),
        );
        if self.is_demonstration {
            let what = "laying out a crate, and compiling what its tests depend on";
            console.line(Style::Dim, &format!("First {what}."));
            let laying = lay_out(&self.repository, &self.target_directory, start.accepts_weaker_isolation);
            tokio::select! {
                biased;
                () = start.cancel.cancelled() => {
                    return Err(CommandError::new("interrupted before the run began").with_exit(Exit::Stopped));
                }
                laid_out = while_waiting(console, what, laying) => laid_out.map_err(not_laid_out)?,
            };
        }
        self.set_up(start, task, roles, None)
    }

    /// Makes ready for a run, or for its continuation.
    pub(crate) fn set_up(
        &self,
        start: &Start,
        task: Task,
        roles: Roles,
        past: Option<Past>,
    ) -> Result<(Run<Hybrid>, UnderWay), CommandError> {
        if let Some(unconfined) = Unconfined::on_this_system().filter(|_| start.accepts_weaker_isolation) {
            start.console.line(Style::Bad, &format!("Accepted: {unconfined}"));
        }
        let settings = Settings {
            task,
            past,
            repository: self.repository.clone(),
            main: self.branch.clone(),
            land_on: self.land_on.clone(),
            run: start.run.clone(),
            directory: self.worktrees(),
            target_directory: self.target_directory.clone(),
            roles,
            sink: Arc::new(|_| {}),
            cancel: start.cancel.clone(),
            keep: self.keep,
            accept_weaker_isolation: start.accepts_weaker_isolation,
        };
        set_up(settings).map_err(|error| {
            let refused = CommandError::new(format!("the run could not start: {error}"));
            match error {
                SetUpError::CannotLand { .. } => refused.remedy(
                    "--land-on BRANCH lands it on a branch of its own, which is made where the run began, for you to merge",
                ),
                _ => refused,
            }
        })
    }
}

fn not_laid_out(error: StageError) -> CommandError {
    CommandError::new(format!("the demonstration could not be laid out: {error}")).with_exit(Exit::Failed)
}
