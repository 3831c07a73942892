//! Resumes a run where its records end.

use crate::clock::Elapsed;
use crate::context::history::History;
use crate::context::memory_store::MemoryStore;
use crate::context::services::UntypedServices;
use crate::driver::initial_state::{InitialState, Resumption};
use crate::driver::mailbox::post;
use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType};
use crate::erased::shared::ErasedShared;
use crate::erased::token::ErasedToken;
use crate::execution::interruption::caught_now;
use crate::journal::named_payloads::Texts;
use crate::journal::record::turns;
use crate::journal::record_writer::RecordWriter;
use crate::journal::replay::{self, Asked, Replayed, replay};
use crate::journal::stored_token::{Content, Inputs, StoredToken};
use crate::journal::{
    By, Encoded, Entry, ItemRecord, Journal, MessageRecord, NodeOutcome, Origin, Record, RecordedPayload, retry,
};
use crate::run::executed::Executed;
use crate::run::outcome::{Outcome, Report};
use crate::run::release::{release_workspaces, run_end};
use crate::run::report::visits;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::run::table_change;
use crate::tree::end_children::end_remaining_children;
use interlocking_agents::Ledger;
use interlocking_core::context::NewItem;
use interlocking_core::failure::Failure;
use interlocking_core::frontier::{Execution, Frontier};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use std::collections::VecDeque;
use std::sync::Arc;

/// A run that was resumed from its records.
pub(crate) enum Resumed {
    /// The run had ended. This is its report.
    Ended(Box<Report<AnyValue>>),
    /// The run goes on from this state.
    GoesOn(Box<Executed>),
}

/// What is known of a run that is resumed.
pub(crate) struct Again {
    /// At least one.
    pub(crate) records: Vec<Record>,
    /// Whether the run has failed and goes on where it did.
    pub(crate) retries: bool,
    /// The execution of its map node that takes it, if it is a child run.
    pub(crate) taken_by: Option<By>,
    /// Whether this process has claimed it. If not, it has ended, and is only read.
    pub(crate) is_claimed: bool,
}

/// Resumes a run from its records.
pub(crate) async fn resume(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    settings: Box<Settings>,
    journal: Option<Arc<dyn Journal>>,
    again: Again,
) -> Result<Resumed, StartError> {
    let Again { records, retries, taken_by, is_claimed } = again;
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
        // Or before it released the workspaces. Without a claim, another executor or late work is there, which does that itself.
        if is_claimed {
            release_workspaces(&settings, run_end(&report.outcome)).await;
        }
        return Ok(Resumed::Ended(Box::new(report)));
    }
    let typed = reader.typed(&replayed)?;
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
        let by = |Execution { node, visit, attempt }| By { node: net.name(node).to_owned(), visit, attempt };
        let maps = replayed.interrupted(net).into_iter().map(by).collect();
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

/// Decodes the recorded payloads of a run.
struct Reader<'run> {
    graph_type: &'static dyn GraphType,
    run: &'run RunId,
    texts: Texts,
}

/// The part of a run's state that has the graph's types.
struct Typed {
    memories: Box<[Box<dyn MemoryStore>]>,
    arrived: Vec<Option<Encoded>>,
    inputs: Vec<Option<Encoded>>,
    entry: AnyValue,
    in_flight: Vec<(Execution, ErasedToken)>,
    advisory: Vec<(Execution, ErasedToken)>,
    mailbox: VecDeque<(NodeIndex, ErasedToken)>,
    frontier: Frontier<'static, ErasedToken>,
}

/// The part of a [`Resumption`] that stays JSON text.
struct Untyped {
    reports: Vec<(Execution, Result<Encoded, Failure>)>,
    observed: Vec<NodeOutcome>,
    posted: Option<(By, Vec<MessageRecord>)>,
    pending_failure: Option<Failure>,
}

impl Reader<'_> {
    fn unreadable(&self, place: impl Into<String>, reason: impl Into<String>) -> StartError {
        StartError::Payload { run: self.run.clone(), place: place.into(), reason: reason.into() }
    }

    /// Decodes a stored token.
    fn token(&self, stored: &StoredToken) -> Result<ErasedToken, StartError> {
        match &stored.content {
            Content::Stored(payload) => self.payload(stored.place, payload),
            Content::Exhausted(exhausted) => {
                let (node, limit, inputs) = &**exhausted;
                let input = self.input(*node, inputs)?;
                let step = caught_now(|| self.graph_type.exhausted(*node, *limit, input))
                    .map_err(|panic| self.unreadable(self.graph_type.net().name(*node), panic))?;
                let token = step.and_then(|step| if let Step::One(_, token) = step { Some(token) } else { None });
                token.ok_or_else(|| self.unreadable(self.graph_type.net().name(*node), "it has no exhausted route"))
            }
        }
    }

    fn payload(&self, place: PlaceIndex, payload: &RecordedPayload) -> Result<ErasedToken, StartError> {
        self.graph_type.read_token(place, &self.texts.of(payload)).map_err(|why| {
            let name = &self.graph_type.net().place(place).name;
            self.unreadable(format!("node `{name}`"), why.to_string())
        })
    }

    /// Decodes the input of a node.
    fn input(&self, node: u16, inputs: &Inputs) -> Result<ErasedToken, StartError> {
        match inputs {
            Inputs::One(stored) => self.token(stored),
            Inputs::Slots(tokens) => {
                let mut slots = Vec::with_capacity(tokens.len());
                for stored in tokens {
                    slots.push(self.token(stored)?);
                }
                let lost = || self.unreadable(self.graph_type.net().name(node), "its slots are not those of the join");
                self.graph_type.join(node, slots).ok_or_else(lost)
            }
        }
    }

    /// The output of a run that has finished.
    fn output(&self, replayed: &mut Replayed) -> Result<AnyValue, StartError> {
        if let Some(output) = &replayed.output {
            return self
                .graph_type
                .read_output(&self.texts.of(output))
                .map_err(|reason| self.unreadable("the output", reason));
        }
        let exit = replayed.frontier.take_exit();
        let token = exit.map(|stored| self.token(&stored)).transpose()?;
        token
            .and_then(|token| self.graph_type.leave(token))
            .ok_or_else(|| self.unreadable("exit", "nothing came there"))
    }

    /// A stored token as JSON.
    fn encoded(&self, stored: &StoredToken) -> Result<Encoded, StartError> {
        match &stored.content {
            Content::Stored(payload) => Ok(self.texts.of(payload)),
            Content::Exhausted(_) => {
                let token = self.token(stored)?;
                let unreadable = |error: serde_json::Error| {
                    self.unreadable(&self.graph_type.net().place(stored.place).name, error.to_string())
                };
                token.encode().map_err(unreadable)
            }
        }
    }

    fn places(&self, tokens: &[Option<StoredToken>]) -> Result<Vec<Option<Encoded>>, StartError> {
        let mut places = Vec::with_capacity(tokens.len());
        for stored in tokens {
            places.push(match stored {
                Some(stored) => Some(self.encoded(stored)?),
                None => None,
            });
        }
        Ok(places)
    }

    fn memories(&self, replayed: &Replayed<'static>) -> Result<Box<[Box<dyn MemoryStore>]>, StartError> {
        let memories = self.graph_type.memories();
        for (index, (store, recorded)) in memories.iter().zip(&replayed.memories).enumerate() {
            let Some(payload) = recorded else { continue };
            let group = &self.graph_type.net().memory_groups()[index];
            store
                .restore(&self.texts.of(payload))
                .map_err(|reason| self.unreadable(format!("memory `{group}`"), reason))?;
        }
        Ok(memories)
    }

    /// Decodes all payloads that have the graph's types. This is the last check that can refuse the resume before it changes
    /// anything.
    fn typed(&self, replayed: &Replayed<'static>) -> Result<Typed, StartError> {
        let net = self.graph_type.net();
        let memories = self.memories(replayed)?;
        let (arrived, inputs) = (self.places(&replayed.arrived)?, self.places(&replayed.inputs)?);
        let entry = self.texts.of(&replayed.entry);
        let entry = self.graph_type.read_entry(&entry).map_err(|reason| self.unreadable("the entry value", reason))?;
        let own_place = |node: u16, payload: &RecordedPayload| self.payload(net.node(node).first_place, payload);
        let (mut in_flight, mut advisory, mut mailbox) = (Vec::new(), Vec::new(), VecDeque::new());
        for (execution, inputs) in replayed.in_flight.values() {
            in_flight.push((*execution, self.input(execution.node, inputs)?));
        }
        for (execution, payload) in &replayed.background {
            advisory.push((*execution, own_place(execution.node, payload)?));
        }
        for (node, payload) in &replayed.mailbox {
            mailbox.push_back((*node, own_place(*node, payload)?));
        }
        let frontier = replayed.frontier.clone().try_map(|stored| self.token(&stored))?;
        Ok(Typed { memories, arrived, inputs, entry, in_flight, advisory, mailbox, frontier })
    }

    fn state(
        &self,
        graph: AnyGraph,
        settings: Settings,
        record_writer: &Arc<RecordWriter>,
        mut replayed: Replayed<'static>,
        typed: Typed,
    ) -> (InitialState, Arc<dyn ErasedShared>) {
        let net = self.graph_type.net();
        let Typed { memories, arrived, inputs, entry, in_flight, advisory, mailbox, frontier } = typed;
        let untyped = UntypedServices::new(net, settings, Some(record_writer.clone()));
        let Untyped { reports, observed, posted, pending_failure } = self.untyped(net, &mut replayed, &untyped);
        let (letters, retried_after) = (replayed.letters, replayed.retried_after);
        let resumption = Resumption { in_flight, advisory, reports, observed, posted, pending_failure, retried_after };
        let state = InitialState { frontier, arrived, mailbox, letters, resumption: Some(Box::new(resumption)) };
        (state, self.graph_type.shared(graph, untyped, Some((entry, inputs)), memories))
    }

    /// The last messages to other runs. They may not have been sent yet.
    fn posted(&self, replayed: &mut Replayed<'static>) -> Option<(By, Vec<MessageRecord>)> {
        let mut posted = replayed.posted.take();
        for message in posted.iter_mut().flat_map(|(_, list)| list) {
            message.message = self.texts.of(&message.message).into();
        }
        posted
    }

    /// Reads the state that stays JSON text, and passes history and added items to the run's services.
    fn untyped(&self, net: &'static Net, replayed: &mut Replayed<'static>, services: &UntypedServices) -> Untyped {
        let reports = replayed.reports.drain(..);
        let reports = reports.map(|(execution, report)| (execution, report.map(|payload| self.texts.of(&payload))));
        let reports = reports.collect();
        let mut observed = std::mem::take(&mut replayed.observed);
        for payload in observed.iter_mut().flat_map(NodeOutcome::payloads_mut) {
            *payload = self.texts.of(payload).into();
        }
        let (posted, pending_failure) = (self.posted(replayed), replayed.pending_failure.take());
        self.remember(net, replayed, services.history());
        for (map, ItemRecord { entry, key, anew, anew_after }) in replayed.added.drain(..) {
            let entry = self.texts.of(&entry).to_string();
            services.additions().add(map, vec![NewItem { entry, key, anew, anew_after }]);
        }
        Untyped { reports, observed, posted, pending_failure }
    }

    /// Adds to the history what executions had done, and counts one more restart for each interrupted execution.
    fn remember(&self, net: &'static Net, replayed: &mut Replayed<'static>, history: &History) {
        for (by, restarts) in &replayed.restarts {
            (0..*restarts).for_each(|_| history.restarted(by.clone()));
        }
        for execution in replayed.interrupted(net) {
            let node = net.name(execution.node).to_owned();
            history.restarted(crate::journal::By { node, visit: execution.visit, attempt: execution.attempt });
        }
        for (by, conversation, agent, session) in replayed.sessions.drain(..) {
            history.began_session(by, conversation, agent, session);
        }
        for (by, name, value) in replayed.once.drain(..) {
            history.record_once(by, &name, self.texts.of(&value));
        }
        for Asked { by, question, schema, asked_at_ms } in replayed.questions.drain(..) {
            history.asked(by, self.texts.of(&question), self.texts.of(&schema), asked_at_ms);
        }
        for (by, answer) in replayed.answers.drain(..) {
            history.answered(by, self.texts.of(&answer));
        }
        for (by, _, ended) in replayed.decisions.drain(..) {
            history.decided(by, ended);
        }
    }
}
