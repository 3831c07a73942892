//! `cancel`: ends a run for good.

use super::print;
use crate::arguments::CommonArguments;
use crate::console::{Console, Style};
use crate::exit::Exit;
use crate::trouble::Trouble;
use clap::Args;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::stop::{Stop, stop};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run
    #[arg(value_name = "RUN")]
    run: RunId,

    #[command(flatten)]
    common: CommonArguments,
}

pub(crate) async fn cancel(arguments: Arguments, console: &Console) -> Result<Exit, Trouble> {
    let Arguments { run, common } = arguments;
    let journal = common.journal.open()?;
    let stopped = stop(&journal, &run).await.map_err(Trouble::of_journal)?;
    if let Stop::HadEnded { ended } = &stopped
        && ended != "cancelled"
    {
        return Err(Trouble::new(format!("run `{run}` is {ended}: there is nothing to cancel")));
    }
    print(console, common.json, &stopped, String::new)?;
    if !common.json {
        let line = match &stopped {
            Stop::Cancelled { runs } if runs.len() > 1 => {
                format!("{run} is cancelled, with {} of its child runs", runs.len() - 1)
            }
            Stop::Cancelled { .. } => format!("{run} is cancelled"),
            Stop::Asked { holder } => format!("{holder}, which executes {run}, was asked to cancel it"),
            Stop::HadEnded { .. } => format!("{run} was cancelled before"),
        };
        console.line(Style::Good, &line);
    }
    Ok(Exit::Done)
}
