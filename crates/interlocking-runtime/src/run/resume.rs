//! Resumes a run where its records end.

use crate::clock::Elapsed;
use crate::driver::mailbox::post;
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType};
use crate::journal::named_payloads::Texts;
use crate::journal::record::turns;
use crate::journal::replay::{self, Replayed, replay};
use crate::journal::{By, Entry, Journal, Origin, Record, retry};
use crate::run::executed::Executed;
use crate::run::outcome::{Outcome, Report};
use crate::run::reader::Reader;
use crate::run::release::release_workspaces;
use crate::run::report::visits;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::run::table_change;
use crate::tree::end_children::end_remaining_children;
use interlocking_agents::Ledger;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use std::sync::Arc;

/// A run that was resumed from its records.
pub(crate) enum Resumed {
    /// The run had ended. This is its report.
    Ended(Box<Report<AnyValue>>),
    /// The run goes on from this state.
    GoesOn(Box<Executed>),
}

/// Resumes a run from its records, of which there is at least one. If `retries`, the run has failed and goes on where it did. A
/// child run is `taken_by` an execution of its map node.
pub(crate) async fn resume(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    mut settings: Box<Settings>,
    journal: Option<Arc<dyn Journal>>,
    records: Vec<Record>,
    retries: bool,
    taken_by: Option<By>,
) -> Result<Resumed, StartError> {
    let net = graph_type.net();
    let count = records.len() as u64;
    let read_back = read_back(&settings, journal, records, retries, net).await?;
    let ReadBack { journal, mut replayed, texts, is_fork, retried, table, turns } = read_back;
    let run = settings.run.clone();
    let reader = Reader { graph_type, run: &run, texts };
    if replayed.ended.is_some() {
        // The process that ended the run may have been killed before it sent the last messages.
        if let Some((by, messages)) = reader.posted(&mut replayed) {
            post(&*journal, &run, &by, &messages).await?;
        }
        let report = ended(&run, replayed, &reader, settings.ledger())?;
        // Or before it recorded the end of the children that were left.
        if net.features().maps {
            end_remaining_children(&*journal, settings.tree(), &run).await;
        }
        // Or before it released the workspaces.
        release_workspaces(&settings, &report.outcome).await;
        return Ok(Resumed::Ended(Box::new(report)));
    }
    let typed = reader.typed(&replayed)?;
    if is_fork {
        settings.options_mut().is_fork = true;
    }
    let cancelled = async {
        match &settings.cancel {
            Some(cancel) => cancel.cancelled().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        // The driver ends the run before it starts anything, and the workspaces are told so.
        () = cancelled => {}
        restored = restore_workspaces(net, &run, &settings, &replayed, is_fork) => restored?,
    }
    if retries {
        let maps = replayed.interrupted(net).into_iter().map(|execution| By::of(net, execution)).collect();
        retry::retry_children(&*journal, &run, maps).await?;
    }
    let record_writer = Arc::new(settings.record_writer(journal, count));
    let (state, shared) = reader.state(graph, *settings, &record_writer, replayed, typed);
    shared.untyped().had_turns(turns);
    if let Some(retried) = retried {
        record_writer.write(retried).await?;
    }
    record_writer.begin(Entry::Resumed { table, taken_by }).await?;
    Ok(Resumed::GoesOn(Box::new((state, shared, Some(record_writer)))))
}

/// The state of a run according to its records, with payloads as JSON.
struct ReadBack {
    journal: Arc<dyn Journal>,
    replayed: Replayed<'static>,
    texts: Texts,
    is_fork: bool,
    /// The entry that says that the run is retried. It is not written yet.
    retried: Option<Entry>,
    /// The present table, where the run's records do not have it.
    table: Option<Box<Table>>,
    turns: Vec<String>,
}

/// Replays a run's records, and fetches the payloads that it still needs.
async fn read_back(
    settings: &Settings,
    journal: Option<Arc<dyn Journal>>,
    mut records: Vec<Record>,
    retries: bool,
    net: &'static Net,
) -> Result<ReadBack, StartError> {
    let run = settings.run.clone();
    let Some(journal) = journal else { return Err(StartError::NoJournal { run }) };
    let sequence = records.len() as u64;
    let retried = if retries { Some(retry::retried(&*journal, &run).await?) } else { None };
    records.extend(retried.clone().map(|entry| Record { run: run.clone(), sequence, entry }));
    let (records, migrated) = migrate_records(&run, settings, records, net.table())?;
    let is_fork = matches!(
        records.first().map(|record| &record.entry),
        Some(Entry::Started { origin: Some(Origin::Fork { .. }), .. })
    );
    let turns = turns(&records).to_vec();
    let replayed = replay(net, records).map_err(|error| StartError::Replay { run: run.clone(), error })?;
    let digests = replayed.named();
    let texts = journal.fetch(&run, &digests).await?;
    let texts = Texts(digests.into_iter().zip(texts).collect());
    if replayed.ended.is_some() {
        let workspaces = &settings.options().workspaces;
        replayed.commits.iter().for_each(|(workspace, commit)| workspaces.ended_at(workspace, commit));
    }
    let table = migrated.then(|| Box::new(net.table().clone()));
    Ok(ReadBack { journal, replayed, texts, is_fork, retried, table, turns })
}

/// The records as they would be under the present table, and whether the run's records do not have that table yet.
fn migrate_records(
    run: &RunId,
    settings: &Settings,
    records: Vec<Record>,
    now: &Table,
) -> Result<(Vec<Record>, bool), StartError> {
    let Some((first, latest)) = replay::tables(&records) else { return Ok((records, false)) };
    // Of a run that was started under the present table, some records may still be under another one.
    let tables = std::iter::once(first).chain(records.iter().rev().filter_map(later_table));
    let changed = tables.map(|table| table_change::differences(table, now)).find(|lines| !lines.is_empty());
    let Some(differences) = changed else { return Ok((records, false)) };
    let Some(migrate) = &settings.options().migration else {
        return Err(StartError::TableChanged { run: run.clone(), graph: first.graph.clone(), differences });
    };
    let is_new = latest != now;
    // The last records need no migration if they were written under the present table.
    let mut records = records;
    let since = records.iter().rposition(|record| later_table(record).is_some());
    let later = match since {
        Some(at) if !is_new => records.split_off(at),
        _ => Vec::new(),
    };
    let first = first_table(&records);
    let mut migrated = migrate(&first, records)
        .map_err(|error| StartError::Migration { run: run.clone(), reason: error.to_string() })?;
    migrated.extend(later);
    Ok((migrated, is_new))
}

/// The table of the records from this one on, if it is not that of the records before.
fn later_table(record: &Record) -> Option<&Table> {
    match &record.entry {
        Entry::Resumed { table: Some(table), .. } => Some(table),
        _ => None,
    }
}

fn first_table(records: &[Record]) -> Table {
    match records.first().map(|record| &record.entry) {
        Some(Entry::Started { table, .. }) => (**table).clone(),
        _ => Table::new("", ""),
    }
}

/// Opens the run's workspaces, and resets those of interrupted executions to their recorded commits. The workspaces of a fork are
/// created first.
async fn restore_workspaces(
    net: &Net,
    run: &RunId,
    settings: &Settings,
    replayed: &Replayed<'static>,
    is_fork: bool,
) -> Result<(), StartError> {
    let workspaces = &settings.options().workspaces;
    let unusable = |workspace: &String, error| {
        let (run, workspace) = (run.clone(), workspace.clone());
        StartError::Workspace { run, workspace, error }
    };
    replayed.began.iter().for_each(|(workspace, commit)| workspaces.began_at(workspace, commit));
    for (workspace, commit) in replayed.commits.iter().filter(|_| is_fork) {
        workspaces.make(workspace, commit).await.map_err(|error| unusable(workspace, error))?;
    }
    let interrupted = replayed.interrupted(net);
    let rows = interrupted.iter().map(|execution| net.row(execution.node));
    let changed: Vec<_> = rows.filter(|row| !row.read_only).filter_map(|row| row.workspace.as_ref()).collect();
    for (workspace, commit) in &replayed.commits {
        let restored = if changed.contains(&workspace) {
            workspaces.restore(workspace, commit).await
        } else {
            workspaces.open(workspace, commit).await
        };
        restored.map_err(|error| unusable(workspace, error))?;
    }
    Ok(())
}

/// The report of a run that has ended, from its records.
fn ended(
    run: &RunId,
    mut replayed: Replayed<'static>,
    reader: &Reader<'_>,
    ledger: Ledger,
) -> Result<Report<AnyValue>, StartError> {
    let visits = visits(reader.graph_type.net(), replayed.frontier.entries());
    let outcome = match replayed.ended.take() {
        Some((Some(failure), _)) => Outcome::Failed(failure),
        Some((None, true)) => Outcome::Cancelled,
        _ => Outcome::Finished(reader.output(&mut replayed)?),
    };
    Ok(Report { run: run.clone(), outcome, ledger, visits, took: Elapsed::default() })
}
