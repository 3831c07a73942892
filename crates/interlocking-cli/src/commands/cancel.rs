//! `cancel`: ends a run for good.

use crate::arguments::CommonArguments;
use crate::cli::ClearUp;
use crate::console::{Console, Style};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::other_programs;
use crate::start::Start;
use clap::Args;
use interlocking_core::run_id::RunId;
use interlocking_runtime::CancelToken;
use interlocking_runtime::journal::stop::{Stop, stop};
use interlocking_runtime::journal::{Journal, JournalError};
use std::sync::Arc;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run's name
    #[arg(value_name = "RUN")]
    run: RunId,

    #[command(flatten)]
    common: CommonArguments,
}

pub(crate) async fn cancel(
    arguments: Arguments,
    name: &'static str,
    console: &Console,
    cancel: &CancelToken,
    clean_up: &ClearUp,
) -> Result<Exit, CommandError> {
    let Arguments { run, common } = arguments;
    let journal = Arc::new(common.journal.open()?);
    let (directory, _) = common.journal.directory();
    if let Some(program) = other_programs::runs(&directory, name)?.remove(&run) {
        let error =
            CommandError::new(format!("`{run}` is a run of `{program}`, which alone can remove what the run has made"));
        return Err(error.remedy(format!("`{program} cancel {run}{}`", common.journal.words())));
    }
    let stopped = stop(&*journal, &run).await.map_err(CommandError::of_journal)?;
    if let Stop::HadEnded { ended } = &stopped
        && ended != "cancelled"
    {
        return Err(CommandError::new(format!("run `{run}` is {ended}: there is nothing to cancel")));
    }
    // Returned after the clean-up, which is also done if standard output is closed.
    let printed = common.print(console, &stopped, String::new).map(|()| Exit::Done);
    if !common.json {
        let line = match &stopped {
            Stop::Cancelled { runs } if runs.len() > 1 => {
                format!("{run} is cancelled, with {} of its child runs", runs.len() - 1)
            }
            Stop::Cancelled { .. } => format!("{run} is cancelled"),
            Stop::Asked { holder } => format!("{holder}, which executes {run}, was asked to cancel it"),
            Stop::HadEnded { .. } => format!("{run} was cancelled before"),
            _ => format!("`{name} show {run}` tells what became of {run}"),
        };
        console.line(Style::Good, &line);
    }
    // A removal is repeated if the process that was to do it was killed, or could not.
    if let Stop::Cancelled { .. } | Stop::HadEnded { .. } = &stopped {
        let _claim = match journal.claim(&run).await {
            // A process that has resumed the run in the meantime clears up itself.
            Err(JournalError::Held { .. }) => return printed,
            claimed => claimed.map_err(CommandError::of_journal)?,
        };
        let again = format!("`{name} cancel {run}{}` tries that again", common.journal.words());
        let start = Start::of_clean_up(name, run, journal, directory, (console, common.json, cancel));
        clean_up(start).await.map_err(|error| error.with_exit(Exit::Output).remedy(again))?;
    }
    printed
}
