//! Rebuilds a run's state from its records. This does no I/O and decodes no payloads: the state has them as recorded, by value or
//! by digest, and the caller fetches those it needs.

use crate::journal::replay_error::ReplayError;
use crate::journal::rules::{beyond_bounds, clear_unfilled_slots, failure, keeps_waiting};
use crate::journal::stored_token::{Content, Inputs, StoredToken};
use crate::journal::{
    AddedItems, By, Entry, ItemRecord, MemoryRecord, MessageRecord, NodeOutcome, Record, RecordedPayload, TokenRecord,
};
use interlocking_agents::SessionId;
use interlocking_core::context::Commit;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Due, Execution, Frontier, Input, Violation};
use interlocking_core::net::{Net, NodeIndex, PlaceIndex};
use interlocking_core::route::Step;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeKind, Table};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The state of a run after its records.
pub(crate) struct Replayed<'net> {
    pub(crate) frontier: Frontier<'net, StoredToken>,
    pub(crate) entry: RecordedPayload,
    /// The executions that had begun or were due, in the order in which they began.
    pub(crate) in_flight: BTreeMap<u64, (Execution, Inputs)>,
    /// By place: the last token that arrived there.
    pub(crate) arrived: Vec<Option<StoredToken>>,
    /// By place: the last token from there that its node took.
    pub(crate) inputs: Vec<Option<StoredToken>>,
    /// By memory group: its value, if it was ever updated.
    pub(crate) memories: Vec<Option<RecordedPayload>>,
    /// The messages that wait for their turn, each with its event node.
    pub(crate) mailbox: VecDeque<(NodeIndex, RecordedPayload)>,
    /// The number of the last letter that was received.
    pub(crate) letters: u64,
    /// The advisory executions that have not ended.
    pub(crate) background: Vec<(Execution, RecordedPayload)>,
    pub(crate) reports: Vec<(Execution, Result<RecordedPayload, Failure>)>,
    /// The outcomes that observers have seen, in order.
    pub(crate) observed: Vec<NodeOutcome>,
    /// By workspace: the last commit.
    pub(crate) commits: BTreeMap<String, String>,
    /// The first commit of each workspace.
    pub(crate) began: BTreeMap<String, String>,
    /// The messages of the last execution that sent any to other runs. All earlier messages have arrived.
    pub(crate) posted: Option<(By, Vec<MessageRecord>)>,
    pub(crate) restarts: HashMap<By, u32>,
    pub(crate) sessions: Vec<(By, u32, String, SessionId)>,
    pub(crate) once: Vec<(By, String, RecordedPayload)>,
    pub(crate) questions: Vec<Asked>,
    pub(crate) answers: Vec<(By, RecordedPayload)>,
    /// The items that were added to map nodes.
    pub(crate) added: Vec<(By, ItemRecord)>,
    /// The decisions of map nodes: whether the quorum is reached, and the child runs that had ended.
    pub(crate) decisions: Vec<(By, bool, Vec<RunId>)>,
    /// The failure of the run, where no record has it yet: a node was entered beyond its bounds, and has no exhausted route or
    /// one that it may not take.
    pub(crate) pending_failure: Option<Failure>,
    /// How the run ended, if it has: why it failed, and whether it was cancelled.
    pub(crate) ended: Option<(Option<Failure>, bool)>,
    /// The output, where it differs from the exit's token.
    pub(crate) output: Option<RecordedPayload>,
    pub(crate) records: u64,
    /// The number of the last letter that had come when the run was retried; 0 if it never was.
    pub(crate) retried_after: u64,
    /// The event node at which the run has failed, if it was one.
    failed_event: Option<NodeIndex>,
    observed_nodes: HashSet<String>,
    /// By node: the key of its execution in `in_flight`.
    running: HashMap<NodeIndex, u64>,
    /// How many executions have begun: the next key in `in_flight`.
    begun: u64,
}

/// A question to a person.
pub(crate) struct Asked {
    pub(crate) by: By,
    pub(crate) question: RecordedPayload,
    pub(crate) schema: RecordedPayload,
    pub(crate) asked_at_ms: Option<u64>,
}

/// The table that the run started with, and its latest table.
pub(crate) fn tables(records: &[Record]) -> Option<(&Table, &Table)> {
    let Some(Entry::Started { table: first, .. }) = records.first().map(|record| &record.entry) else { return None };
    let later = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Resumed { table: Some(table), .. } => Some(&**table),
        _ => None,
    });
    Some((first, later.unwrap_or(first)))
}

/// Rebuilds the state of a run on `net`.
pub(crate) fn replay(net: &Net, records: Vec<Record>) -> Result<Replayed<'_>, ReplayError> {
    let names: HashMap<&str, NodeIndex> = (0..net.nodes().len() as u16).map(|n| (net.name(n), n)).collect();
    let mut places: HashMap<&str, PlaceIndex> = HashMap::new();
    for (place, row) in net.places().iter().enumerate() {
        places.insert(&row.name, place as PlaceIndex);
    }
    let mut records = records.into_iter();
    let Some(Entry::Started { input, workspaces, .. }) = records.next().map(|record| record.entry) else {
        return Err(ReplayError::Misplaced { sequence: 0 });
    };
    let entry_place = net.entry();
    let commits: BTreeMap<_, _> = workspaces.into_iter().map(|commit| (commit.workspace, commit.id)).collect();
    let mut replayed = Replayed {
        frontier: Frontier::new(net, StoredToken::stored(net, entry_place, input.clone())),
        entry: input.clone(),
        in_flight: BTreeMap::new(),
        arrived: vec![None; net.places().len()],
        inputs: vec![None; net.places().len()],
        memories: vec![None; net.memory_groups().len()],
        mailbox: VecDeque::new(),
        letters: 0,
        background: Vec::new(),
        reports: Vec::new(),
        observed: Vec::new(),
        began: commits.clone(),
        commits,
        posted: None,
        restarts: HashMap::new(),
        sessions: Vec::new(),
        once: Vec::new(),
        questions: Vec::new(),
        answers: Vec::new(),
        added: Vec::new(),
        decisions: Vec::new(),
        pending_failure: None,
        ended: None,
        output: None,
        records: 1,
        retried_after: 0,
        failed_event: None,
        observed_nodes: net.table().nodes.iter().flat_map(|row| row.observes.iter().cloned()).collect(),
        running: HashMap::new(),
        begun: 0,
    };
    replayed.arrived[usize::from(entry_place)] = Some(StoredToken::stored(net, entry_place, input));
    for record in records {
        replayed.start_due(net);
        replayed.take(net, &names, &places, record)?;
        replayed.records += 1;
    }
    replayed.start_due(net);
    if let Some(node) = replayed.failed_event {
        replayed.frontier.enter_beside(node);
    }
    replayed.drop_finished(net);
    Ok(replayed)
}

impl<'net> Replayed<'net> {
    /// Starts what the executor would have started: all executions that are due, unless a message waits for its turn.
    fn start_due(&mut self, net: &'net Net) {
        if self.ended.is_some() || self.pending_failure.is_some() {
            return;
        }
        while self.mailbox.is_empty()
            && let Some(Due { execution, input, exhausted }) = self.frontier.next_due()
        {
            let inputs = match input {
                Input::One(token) => Inputs::One(token),
                Input::Slots(tokens) => Inputs::Slots(tokens),
            };
            let row = net.node(execution.node);
            if let Inputs::Slots(slots) = &inputs {
                clear_unfilled_slots(net, execution.node, slots, &mut self.arrived);
            }
            let Some(limit) = exhausted else {
                self.inputs[row.places()].clone_from_slice(&self.arrived[row.places()]);
                self.running.insert(execution.node, self.begun);
                self.in_flight.insert(self.begun, (execution, inputs));
                self.begun += 1;
                continue;
            };
            let route = row.exhausted.and_then(|alternative| Some((alternative, net.alternative(alternative)?)));
            // Without an exhausted route, the run has failed. The next record says so, unless the process ended before it was
            // written.
            let Some((alternative, way)) = route else {
                self.pending_failure = Some(beyond_bounds(net, execution, limit));
                return;
            };
            let place = way.branches[0][0];
            let content = Content::Exhausted(Arc::new((execution.node, limit, inputs)));
            // Where the exhausted route leads to an optional slot, the runtime fills that with no value.
            let token = StoredToken { place, content, is_nothing: net.place(place).optional };
            self.arrived[usize::from(place)] = Some(token.clone());
            match self.frontier.complete(execution, Step::One(alternative, token)) {
                Ok(completed) => completed.cancelled.into_iter().for_each(|stopped| self.land(stopped)),
                Err(violation) => {
                    self.pending_failure = Some(unsound(net, execution, violation));
                    return;
                }
            }
        }
    }

    /// The executions that start again when the run is resumed here.
    pub(crate) fn interrupted(&self, net: &Net) -> Vec<Execution> {
        let mut interrupted: Vec<_> = self.in_flight.values().map(|(execution, _)| *execution).collect();
        interrupted.extend(self.background.iter().map(|(execution, _)| *execution));
        // The first message is being handled, unless a running node keeps it waiting.
        if let Some((node, _)) = self.mailbox.front()
            && !self.in_flight.values().any(|(execution, _)| keeps_waiting(net, execution.node))
        {
            interrupted.push(Execution { node: *node, visit: self.frontier.visits(*node) + 1, attempt: 1 });
        }
        interrupted
    }

    /// Removes an execution from those in flight.
    fn land(&mut self, execution: Execution) {
        if let Some(begun) = self.running.remove(&execution.node) {
            self.in_flight.remove(&begun);
        }
    }

    /// Applies one record.
    fn take(
        &mut self,
        net: &'net Net,
        names: &HashMap<&'net str, NodeIndex>,
        places: &HashMap<&'net str, PlaceIndex>,
        record: Record,
    ) -> Result<(), ReplayError> {
        let sequence = record.sequence;
        let execution = |by: &By| {
            let By { node, visit, attempt } = by;
            let node = names.get(node.as_str()).copied();
            let reason = || "the graph has no such node".to_owned();
            node.map(|node| Execution { node, visit: *visit, attempt: *attempt })
                .ok_or_else(|| ReplayError::Impossible { sequence, by: by.clone(), reason: reason() })
        };
        match record.entry {
            Entry::Started { .. } => return Err(ReplayError::Misplaced { sequence }),
            Entry::Resumed { .. } => {
                for execution in self.interrupted(net) {
                    *self.restarts.entry(By::of(net, execution)).or_default() += 1;
                }
            }
            Entry::Retried { letters } => {
                (self.ended, self.failed_event, self.output) = (None, None, None);
                self.retried_after = letters;
                // A quorum that could not be reached may be reached after the retry. A reached quorum is final.
                self.decisions.retain(|(_, reached, _)| *reached);
                // The time to answer starts again for earlier questions.
                self.questions.iter_mut().for_each(|asked| asked.asked_at_ms = None);
            }
            Entry::Session { by, conversation, agent, session } => {
                self.sessions.push((by, conversation, agent, session))
            }
            Entry::Once { by, name, value } => self.once.push((by, name, value)),
            Entry::Asked { by, question, schema, asked_at_ms } => {
                self.questions.push(Asked { by, question, schema, asked_at_ms });
            }
            Entry::Answered { by, letter, answer } => {
                self.letters = self.letters.max(letter);
                self.answers.push((by, answer));
            }
            Entry::Received { node, letter, message, missed } => {
                self.letters = self.letters.max(letter);
                let node = execution(&By { node, visit: 0, attempt: 0 })?.node;
                if !missed {
                    self.mailbox.push_back((node, message));
                }
            }
            Entry::Report { by, report, failure, memory, posted, label, commits, .. } => {
                let execution = execution(&by)?;
                if let Some(report) = report.as_ref().filter(|_| self.observed_nodes.contains(&by.node)) {
                    let (report, posted, label) = (report.clone(), posted.clone(), label.clone());
                    self.observed.push(NodeOutcome::of_report(by.clone(), report, posted, label, commits.clone()));
                }
                self.committed(commits);
                if !posted.is_empty() {
                    self.posted = Some((by.clone(), posted));
                }
                self.remember(net, memory);
                self.background.retain(|(other, _)| *other != execution);
                let result = match (report, failure) {
                    (Some(report), _) => Ok(report),
                    (None, failure) => Err(failure.unwrap_or_else(|| lost(&by))),
                };
                self.reports.push((execution, result));
            }
            Entry::Spent { by, .. } => {
                execution(&by)?;
            }
            Entry::Landed { commit, .. } => self.committed([commit]),
            Entry::Decided { by, reached, ended } => self.decisions.push((by, reached, ended)),
            Entry::Ended { failure, cancelled, output } => {
                // Where an event node failed, its entry has no other record than this.
                if let Some(Failure { node, visit, .. }) = &failure
                    && let Some(&node) = names.get(node.as_str())
                    && net.row(node).kind == NodeKind::Event
                    && self.frontier.visits(node) < *visit
                {
                    self.failed_event = Some(node);
                }
                (self.ended, self.output) = (Some((failure, cancelled)), output);
                // All messages have arrived, as the run does not end before.
                self.posted = None;
            }
            Entry::Outcome(outcome) => {
                let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
                let execution = execution(&by)?;
                self.take_outcome(net, names, places, execution, outcome)
                    .map_err(|reason| ReplayError::Impossible { sequence, by, reason })?;
            }
        }
        Ok(())
    }

    fn committed(&mut self, commits: impl IntoIterator<Item = Commit>) {
        for Commit { workspace, id } in commits {
            self.began.entry(workspace.clone()).or_insert_with(|| id.clone());
            self.commits.insert(workspace, id);
        }
    }

    fn remember(&mut self, net: &Net, memory: Option<MemoryRecord>) {
        if let Some(memory) = memory
            && let Some(group) = net.memory_groups().iter().position(|name| *name == memory.group)
        {
            self.memories[group] = Some(memory.value);
        }
    }

    fn take_outcome(
        &mut self,
        net: &'net Net,
        names: &HashMap<&'net str, NodeIndex>,
        places: &HashMap<&'net str, PlaceIndex>,
        execution: Execution,
        mut outcome: NodeOutcome,
    ) -> Result<(), String> {
        if self.observed_nodes.contains(&outcome.node) {
            self.observed.push(outcome.clone());
        }
        self.remember(net, outcome.memory.take());
        outcome.calls.clear();
        self.committed(outcome.commits.drain(..));
        if !outcome.posted.is_empty() {
            let by = By { node: outcome.node.clone(), visit: outcome.visit, attempt: outcome.attempt };
            self.posted = Some((by, std::mem::take(&mut outcome.posted)));
        }
        if let Some(added) = outcome.added.take() {
            let AddedItems { to, items } = *added;
            self.added.extend(items.into_iter().map(|item| (to.clone(), item)));
        }
        let tokens: Result<Vec<StoredToken>, String> =
            outcome.tokens.drain(..).map(|token| stored_token(net, places, token)).collect();
        let mut tokens = tokens?;
        for token in &tokens {
            self.arrived[usize::from(token.place)] = Some(token.clone());
        }
        let step = match (outcome.alternative, tokens.len()) {
            (None, _) => Step::Stay,
            (Some(alternative), 1) if net.alternative(alternative).is_some_and(|way| way.branches.len() == 1) => {
                Step::One(alternative, tokens.remove(0))
            }
            (Some(alternative), _) => Step::All(alternative, tokens),
        };
        let cancelled = if net.row(execution.node).kind == NodeKind::Event {
            self.mailbox.pop_front();
            self.frontier.enter_beside(execution.node);
            self.frontier.redirect(execution.node, step).map_err(said)?.map(|done| done.cancelled).unwrap_or_default()
        } else {
            self.land(execution);
            self.frontier.complete(execution, step).map_err(said)?.cancelled
        };
        cancelled.into_iter().for_each(|stopped| self.land(stopped));
        for TokenRecord { place, payload } in outcome.spawned {
            let node = *names.get(place.as_str()).ok_or_else(|| format!("the graph has no node `{place}`"))?;
            let (execution, exhausted) = self.frontier.enter_beside(node);
            match exhausted {
                None => self.background.push((execution, payload)),
                Some(limit) => self.reports.push((execution, Err(beyond_bounds(net, execution, limit)))),
            }
        }
        Ok(())
    }

    /// Drops what is known of executions that will not be repeated.
    fn drop_finished(&mut self, net: &'net Net) {
        let background = self.background.iter().map(|(execution, _)| *execution);
        // An execution that a message delays may be a later attempt of a visit that has begun.
        let waiting = (0..).zip(&net.table().nodes).filter_map(|(node, _)| self.frontier.live(node));
        let live: HashSet<(&str, u32)> = self
            .in_flight
            .values()
            .map(|(execution, _)| *execution)
            .chain(background)
            .chain(waiting)
            .map(|execution| (net.name(execution.node), execution.visit))
            .collect();
        // An event node whose message waits has no execution yet, so it is known by name.
        let messaged: HashSet<&str> = self.mailbox.iter().map(|(node, _)| net.name(*node)).collect();
        let is_live = |by: &By| live.contains(&(by.node.as_str(), by.visit)) || messaged.contains(by.node.as_str());
        self.once.retain(|(by, ..)| is_live(by));
        self.sessions.retain(|(by, ..)| is_live(by));
        self.questions.retain(|asked| is_live(&asked.by));
        self.answers.retain(|(by, _)| is_live(by));
        self.decisions.retain(|(by, ..)| is_live(by));
        self.added.retain(|(by, _)| is_live(by));
        self.restarts.retain(|by, _| is_live(by));
    }
}

fn unsound(net: &Net, execution: Execution, violation: Violation) -> Failure {
    let message = violation.to_string();
    failure(net, execution, FailureKind::Unsound(violation), message)
}

fn stored_token(net: &Net, places: &HashMap<&str, PlaceIndex>, token: TokenRecord) -> Result<StoredToken, String> {
    let place = places.get(token.place.as_str()).copied();
    let place = place.ok_or_else(|| format!("the graph has no place `{}`", token.place))?;
    Ok(StoredToken::stored(net, place, token.payload))
}

fn said(violation: Violation) -> String {
    violation.to_string()
}

fn lost(by: &By) -> Failure {
    Failure::new(by.node.clone(), by.visit, by.attempt, FailureKind::Handler, "its report is not recorded")
}
