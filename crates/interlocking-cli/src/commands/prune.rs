//! `prune`: removes old runs.

use crate::arguments::CommonArguments;
use crate::cli::ClearUp;
use crate::console::{Console, Style};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::other_programs;
use crate::start::Start;
use crate::text::count;
use clap::Args;
use interlocking_core::run_id::RunId;
use interlocking_runtime::CancelToken;
use interlocking_runtime::journal::Journal;
use interlocking_sqlite::Retention;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Remove runs whose last record is older than this, such as `30d` or `12h`
    #[arg(long, value_name = "AGE", value_parser = humantime::parse_duration)]
    older_than: Option<Duration>,

    /// Remove all but so many of the latest runs
    #[arg(long, value_name = "COUNT")]
    keep_last: Option<usize>,

    /// Remove runs too that have not ended, which then cannot be resumed
    #[arg(long)]
    unfinished: bool,

    /// Say what would be removed, and remove nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    #[command(flatten)]
    common: CommonArguments,
}

pub(crate) async fn prune(
    arguments: Arguments,
    name: &'static str,
    console: &Console,
    cancel: &CancelToken,
    clean_up: &ClearUp,
) -> Result<Exit, CommandError> {
    let Arguments { older_than, keep_last, unfinished, dry_run, common } = arguments;
    let mut retention = Retention::new();
    if let Some(age) = older_than {
        retention = retention.older_than(age);
    }
    if let Some(count) = keep_last {
        retention = retention.keep_last(count);
    }
    if older_than.is_none() && keep_last.is_none() {
        let error = CommandError::new("no condition says which runs to remove");
        return Err(error.remedy(
            "give --older-than AGE, --keep-last COUNT, or both: with both, only runs that meet both are removed",
        ));
    }
    if unfinished {
        retention = retention.include_unfinished();
    }
    let journal = Arc::new(common.journal.open()?);
    let (directory, _) = common.journal.directory();
    let mut left = other_programs::runs(&directory, name)?;
    let selected = journal.would_prune(retention.clone()).await.map_err(CommandError::of_journal)?;
    let retention = retention.except(left.keys().cloned());
    left.retain(|run, _| selected.runs.contains(run));
    let mut exit = Exit::Done;
    let mut clear = async |run: &RunId| {
        let start =
            Start::of_clean_up(name, run.clone(), journal.clone(), directory.clone(), (console, common.json, cancel));
        if let Err(error) = clean_up(start).await {
            // The run is removed all the same: what is in its way may stay there for good.
            let error = CommandError::new(format!("not all that {run} has made could be removed: {error}"));
            error.with_exit(Exit::Output).tell(console, common.json);
            exit = Exit::Output;
        }
    };
    let mut pruned = journal.would_prune(retention.clone()).await.map_err(CommandError::of_journal)?;
    if !dry_run {
        // Held until the runs are removed, so that no process takes up one whose worktrees are gone.
        let mut claims = BTreeMap::new();
        for run in pruned.runs {
            if let Ok(claim) = journal.claim(&run).await {
                claims.insert(run, claim);
            }
        }
        let retention = retention.claimed_by_caller(claims.keys().cloned());
        // Without those that a process took up before they were claimed.
        let held = journal.would_prune(retention.clone()).await.map_err(CommandError::of_journal)?;
        let cleared: BTreeSet<_> = held.runs.into_iter().filter(|run| claims.contains_key(run)).collect();
        for run in &cleared {
            clear(run).await;
        }
        pruned = journal.prune(retention).await.map_err(CommandError::of_journal)?;
        drop(claims);
        // Those that have come to fulfil the conditions in the meantime, unless a process executes another run of that name.
        for run in pruned.runs.iter().filter(|run| !cleared.contains(*run)) {
            if let Ok(_claim) = journal.claim(run).await {
                clear(run).await;
            }
        }
    }
    let told = json!({ "runs": pruned.runs, "left": left, "dry_run": dry_run });
    common.print(console, &told, || pruned.runs.iter().map(|run| format!("{run}\n")).collect())?;
    if !common.json {
        for (run, program) in left {
            let why = format!("because `{program}` alone can remove what the run has made");
            console.line(Style::Plain, &format!("{run} is left to `{program} prune`, {why}"));
        }
        let runs = count(pruned.runs.len() as u64, "run");
        let line = if dry_run { format!("{runs} would be removed") } else { format!("{runs} removed") };
        console.line(Style::Good, &line);
    }
    Ok(exit)
}
