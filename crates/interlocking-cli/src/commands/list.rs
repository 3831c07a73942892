//! `list`: the runs of the journal.

use crate::arguments::CommonArguments;
use crate::console::Console;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::text::{moment, quoted};
use clap::Args;
use interlocking_runtime::journal::account::{RunState, account};
use interlocking_runtime::journal::{Journal, JournalError, Origin, RunSummary};
use serde::Serialize;
use std::fmt::Write;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show child runs too
    #[arg(long)]
    all: bool,

    /// Show only runs in this state
    #[arg(long, value_name = "STATE", value_parser = ["running", "waiting", "stopped", "finished", "failed", "cancelled"])]
    state: Option<String>,

    #[command(flatten)]
    common: CommonArguments,
}

/// A run as `list --json` prints it.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    summary: RunSummary,
    state: RunState,
}

pub(crate) async fn list(arguments: Arguments, console: &Console) -> Result<Exit, CommandError> {
    let Arguments { all, state, common } = arguments;
    let journal = common.journal.open()?;
    let (mut rows, mut unreadable) = (Vec::new(), Vec::new());
    for summary in journal.runs().await.map_err(CommandError::of_journal)? {
        if !all && matches!(summary.origin, Some(Origin::Child { .. })) {
            continue;
        }
        let known = match state_of(&journal, &summary).await {
            Ok(known) => known,
            // Another process has removed the run.
            Err(JournalError::NoRun { .. }) => continue,
            // The other runs are listed all the same.
            Err(error) => {
                let error = CommandError::of_journal(error).at(format!("run `{}`", summary.run));
                unreadable.push(error.with_exit(Exit::Journal));
                RunState::Stopped
            }
        };
        if state.as_deref().is_none_or(|wanted| wanted == known.name()) {
            rows.push(Row { summary, state: known });
        }
    }
    common.print(console, &rows, || table(&rows))?;
    for error in &unreadable {
        error.tell(console, common.json);
    }
    Ok(if unreadable.is_empty() { Exit::Done } else { Exit::Journal })
}

/// The state of a run. Reads the run's records only if the run has not ended and no process executes it.
pub(super) async fn state_of(journal: &dyn Journal, summary: &RunSummary) -> Result<RunState, JournalError> {
    Ok(match (summary.ended.as_deref(), &summary.holder) {
        (Some("failed"), _) => RunState::Failed,
        (Some("cancelled"), _) => RunState::Cancelled,
        (Some(_), _) => RunState::Finished,
        (None, Some(_)) => RunState::Running,
        (None, None) => account(journal, &summary.run).await?.state,
    })
}

fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let width = |cell: fn(&Row) -> &str, head: &str| {
        rows.iter().map(|row| cell(row).chars().count()).chain([head.len()]).max().unwrap_or(0)
    };
    let run = width(|row| row.summary.run.as_str(), "RUN");
    let graph = width(|row| &row.summary.graph, "GRAPH");
    let mut text =
        format!("{:run$}  {:graph$}  STATE      RECORDS  STARTED               LAST RECORD\n", "RUN", "GRAPH");
    for Row { summary, state } in rows {
        let _ = write!(
            text,
            "{:run$}  {:graph$}  {:<9}  {:>7}  {}  {}",
            summary.run.as_str(),
            summary.graph,
            state.name(),
            summary.records,
            moment(summary.started_at_ms),
            moment(summary.updated_at_ms),
        );
        if let Some(origin) = &summary.origin {
            let _ = write!(text, "  {}", origin_words(origin));
        }
        text.push('\n');
    }
    text
}

pub(crate) fn origin_words(origin: &Origin) -> String {
    match origin {
        Origin::Child { parent, node, visit, attempt, key, number } => {
            let number = if *number > 1 { format!(" (number {number})") } else { String::new() };
            let attempt = if *attempt > 1 { format!(".{attempt}") } else { String::new() };
            format!("child {}{number} of {parent} at {node}.{visit}{attempt}", quoted(key))
        }
        Origin::Fork { of, records } => format!("fork of {of} after {}", crate::text::count(*records, "record")),
        _ => "from elsewhere".to_owned(),
    }
}
