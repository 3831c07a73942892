//! `fork`: a new run from a recorded point of another.

use crate::arguments::{CommonArguments, Named};
use crate::console::{Console, Style};
use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(feature = "repository")]
use crate::repository::facts::Facts;
#[cfg(feature = "repository")]
use crate::start::Start;
use crate::text::count;
use clap::Args;
use interlocking_core::run_id::RunId;
#[cfg(feature = "repository")]
use interlocking_runtime::CancelToken;
use interlocking_runtime::journal::Journal;
use interlocking_runtime::journal::fork::{self, ForkPoint};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The run to fork
    #[arg(value_name = "RUN")]
    of: RunId,

    /// After so many records of it: `show` has the position of each outcome in brackets, counted from 0 [default: all,
    /// but its end]
    #[arg(long, value_name = "RECORDS", group = "point")]
    at: Option<u64>,

    /// Before a visit of a node: it is made once more [default visit: the first]
    #[arg(long, value_name = "NODE[.VISIT]", group = "point", value_parser = visit_of_node)]
    before: Option<Named>,

    /// The new run's name [default: RUN-fork, RUN-fork-2, …]
    #[arg(long, value_name = "ID")]
    run_id: Option<RunId>,

    #[command(flatten)]
    common: CommonArguments,
}

/// Forks a run. `graph` is the one that the program `name` executes.
pub(crate) async fn fork(
    arguments: Arguments,
    (name, graph): (&'static str, &str),
    console: &Console,
) -> Result<Exit, CommandError> {
    let Arguments { of, at, before, run_id, common } = arguments;
    let journal = Arc::new(common.journal.open()?);
    let point = match (at, before) {
        (Some(records), _) => ForkPoint::Records(records),
        (None, Some(Named { node, visit, .. })) => ForkPoint::Before { node, visit: visit.unwrap_or(1) },
        (None, None) => ForkPoint::End,
    };
    let (directory, _) = common.journal.directory();
    let new = match run_id {
        Some(run) => {
            if journal.load(&run).await.map_err(CommandError::of_journal)?.is_empty() {
                require_no_facts(&directory, name, &run)?;
            }
            run
        }
        None => {
            let runs = journal.runs().await.map_err(CommandError::of_journal)?;
            let is_free = |free: &RunId| runs.iter().all(|run| run.run != *free);
            free_name(&of, |free| is_free(free) && require_no_facts(&directory, name, free).is_ok())?
        }
    };
    let forked = fork::fork(&*journal, &of, &point, &new).await.map_err(CommandError::of_fork)?;
    let stored = store_facts(name, &new, journal.clone(), directory, (console, common.json)).await;
    common.print(console, &forked, || format!("{new}\n"))?;
    stored?;
    if !common.json {
        let records = count(forked.records, "record");
        // The fork is there: an error of this list is none of the command.
        let runs = journal.runs().await.unwrap_or_default();
        let next = match runs.into_iter().find(|run| run.run == new) {
            // A fork of a child run, as a rule.
            Some(forked) if forked.graph != graph => {
                format!("; only a program whose graph is `{}` can resume it", forked.graph)
            }
            Some(_) => format!("; `{name} resume {new}{}` goes on from there", common.journal.words()),
            None => String::new(),
        };
        console.line(Style::Good, &format!("{new} has the first {records} of {of}{next}"));
    }
    Ok(Exit::Done)
}

/// A run is forked before a visit, with all its attempts.
fn visit_of_node(text: &str) -> Result<Named, String> {
    let named: Named = text.parse()?;
    match named.attempt {
        Some(_) => Err(format!("{text:?} names a single attempt: write NODE or NODE.VISIT")),
        None => Ok(named),
    }
}

/// Fails if a run of that name, which was removed, has left the facts of its repository: they are not the fork's.
#[cfg_attr(not(feature = "repository"), expect(unused_variables, reason = "there are no such facts"))]
fn require_no_facts(journal: &Path, program: &'static str, run: &RunId) -> Result<(), CommandError> {
    #[cfg(feature = "repository")]
    crate::repository::run_file::RunFile::new(journal, program, run).require_absent()?;
    Ok(())
}

/// Stores the facts of the fork's repository, which the run has from which it is made.
#[cfg_attr(not(feature = "repository"), expect(unused_variables, reason = "there are no such facts"))]
async fn store_facts(
    program: &'static str,
    run: &RunId,
    journal: Arc<dyn Journal>,
    directory: PathBuf,
    (console, json): (&Console, bool),
) -> Result<(), CommandError> {
    #[cfg(feature = "repository")]
    {
        let start = Start::of_clean_up(program, run.clone(), journal, directory, (console, json, &CancelToken::new()));
        Facts::<serde_json::Value>::store_of_fork(&start).await?;
    }
    Ok(())
}

/// An unused name for a fork.
fn free_name(of: &RunId, is_free: impl Fn(&RunId) -> bool) -> Result<RunId, CommandError> {
    for nth in 1_u32.. {
        let ending = if nth == 1 { "-fork".to_owned() } else { format!("-fork-{nth}") };
        let kept: String = of.as_str().chars().take(RunId::MAX_LENGTH - ending.len()).collect();
        let name: RunId = format!("{}{ending}", kept.trim_end_matches('-')).parse()?;
        if is_free(&name) {
            return Ok(name);
        }
    }
    unreachable!("no journal has so many runs")
}
