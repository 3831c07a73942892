//! Reads the account of one run.

use super::{
    Addressee, Decided, ExecutionAccount, ExecutionState, QuestionAccount, RunAccount, RunState, SessionAccount,
    WaitingLetter,
};
use crate::journal::answer::{is_posted, question_of, value_of};
use crate::journal::killed::killed;
use crate::journal::standing::{Standing, standing};
use crate::journal::{
    By, Entry, Journal, JournalError, MessageRecord, NodeOutcome, Origin, Posted, Record, RecordedPayload, RunSummary,
};
use interlocking_agents::{LedgerEntry, Usage};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The account of a run whose child runs are known.
pub(super) async fn run(
    journal: &dyn Journal,
    summary: RunSummary,
    children: Vec<RunAccount>,
) -> Result<RunAccount, JournalError> {
    let records = journal.load(&summary.run).await?;
    let standing = standing(&records);
    let letters = journal.letters(&summary.run, 0).await?;
    let (mut executions, [resumed, retried], failure) = executions(journal, &summary.run, &records).await?;
    let is_held = summary.holder.is_some();
    for (by, call) in killed(&records, is_held) {
        executions.of(by).spend(&[call]);
    }
    for by in standing.in_flight.iter().chain(&standing.background).chain(&standing.handling) {
        executions.of(by.clone());
    }
    let children = adopt(&mut executions, children);
    for execution in &mut executions.list {
        settle(execution, &standing, &letters, failure.as_ref(), summary.ended.is_some(), is_held);
    }
    let state = state(&summary, &standing, &executions.list);
    let usage: Usage = executions.list.iter().map(|execution| execution.usage).sum();
    let total = executions.list.iter().flat_map(|execution| &execution.children).chain(&children);
    let total = total.map(|child| child.total).fold(usage, |sum, total| sum + total);
    let letters = letters.into_iter().filter(|posted| posted.number > standing.letters && summary.ended.is_none());
    let letters = letters.map(|posted| WaitingLetter { number: posted.number, body: posted.letter.body }).collect();
    let problem = standing.problem.filter(|_| summary.ended.is_none());
    let memory = memory(journal, &summary.run, &records).await?;
    let executions = executions.list;
    Ok(RunAccount {
        summary,
        state,
        usage,
        total,
        resumed,
        retried,
        executions,
        children,
        failure,
        memory,
        letters,
        problem,
    })
}

/// The last value of each memory group.
async fn memory(
    journal: &dyn Journal,
    run: &RunId,
    records: &[Record],
) -> Result<BTreeMap<String, Value>, JournalError> {
    let mut last = BTreeMap::new();
    for record in records {
        let (by, memory) = match &record.entry {
            Entry::Outcome(outcome) => (outcome.by(), &outcome.memory),
            Entry::Report { by, memory, .. } => (by.clone(), memory),
            _ => continue,
        };
        if let Some(memory) = memory {
            last.insert(memory.group.clone(), (by, &memory.value));
        }
    }
    let mut memory = BTreeMap::new();
    for (group, (by, value)) in last {
        memory.insert(group, value_of(journal, run, value, "memory", &by).await?);
    }
    Ok(memory)
}

/// The executions of a run, in the order in which records first name them.
#[derive(Default)]
struct Executions {
    list: Vec<ExecutionAccount>,
    positions: HashMap<By, usize>,
}

impl Addressee {
    fn of(sent: &MessageRecord) -> Self {
        Self { run: sent.to.clone(), node: sent.node.clone() }
    }
}

impl Executions {
    fn of(&mut self, by: By) -> &mut ExecutionAccount {
        let position = *self.positions.entry(by.clone()).or_insert_with(|| {
            self.list.push(ExecutionAccount::new(by));
            self.list.len() - 1
        });
        &mut self.list[position]
    }
}

impl ExecutionAccount {
    fn new(by: By) -> Self {
        let (record, to, took_ms, usage, sessions, label) = Default::default();
        let (commits, spawned, posted, once, question, decided, failure, children) = Default::default();
        let state = ExecutionState::Discarded;
        Self {
            by,
            state,
            record,
            to,
            took_ms,
            usage,
            sessions,
            label,
            commits,
            spawned,
            posted,
            once,
            question,
            decided,
            failure,
            children,
        }
    }

    fn spend(&mut self, calls: &[LedgerEntry]) {
        calls.iter().for_each(|call| self.usage += call.usage);
    }

    fn come_to(&mut self, record: u64, outcome: &NodeOutcome) {
        let places = outcome.tokens.iter().map(|token| token.place.clone());
        self.state = if outcome.failed.is_some() { ExecutionState::Failed } else { ExecutionState::Done };
        self.failure = outcome.failed.as_deref().cloned();
        self.record = Some(record);
        self.to = places.collect();
        self.took_ms = Some(outcome.took_ms);
        self.label.clone_from(&outcome.label);
        self.commits.extend_from_slice(&outcome.commits);
        self.spawned = outcome.spawned.iter().map(|token| token.place.clone()).collect();
        self.posted = outcome.posted.iter().map(Addressee::of).collect();
        self.spend(&outcome.calls);
    }
}

/// The executions according to the records, how often the run was resumed and retried, and why it failed.
async fn executions(
    journal: &dyn Journal,
    run: &RunId,
    records: &[Record],
) -> Result<(Executions, [u32; 2], Option<Failure>), JournalError> {
    let mut executions = Executions::default();
    let (mut resumed, mut retried, mut failed) = (0, 0, None);
    for record in records {
        match &record.entry {
            Entry::Resumed { .. } => resumed += 1,
            Entry::Session { by, agent, session, .. } => {
                let session = SessionAccount { agent: agent.clone(), session: session.clone() };
                let sessions = &mut executions.of(by.clone()).sessions;
                if !sessions.contains(&session) {
                    sessions.push(session);
                }
            }
            Entry::Once { by, name, .. } => executions.of(by.clone()).once.push(name.clone()),
            Entry::Asked { by, question, schema, .. } => {
                let asked = ask(journal, run, by, question, schema).await?;
                executions.of(by.clone()).question = Some(asked);
            }
            Entry::Answered { by, answer, .. } => {
                let answer = value_of(journal, run, answer, "answer", by).await?;
                if let Some(question) = &mut executions.of(by.clone()).question {
                    question.answer = Some(answer);
                }
            }
            Entry::Outcome(outcome) => executions.of(outcome.by()).come_to(record.sequence, outcome),
            Entry::Report { by, failure, calls, posted, label, commits, .. } => {
                let execution = executions.of(by.clone());
                execution.state = if failure.is_some() { ExecutionState::Failed } else { ExecutionState::Done };
                execution.record = Some(record.sequence);
                execution.failure.clone_from(failure);
                execution.label.clone_from(label);
                execution.commits.extend_from_slice(commits);
                execution.posted = posted.iter().map(Addressee::of).collect();
                execution.spend(calls);
            }
            Entry::Spent { by, calls } => executions.of(by.clone()).spend(calls),
            Entry::Ended { failure, .. } => failed.clone_from(failure),
            Entry::Retried { .. } => (retried, failed) = (retried + 1, None),
            Entry::Landed { by, commit, .. } => executions.of(by.clone()).commits.push(commit.clone()),
            Entry::Decided { by, reached, ended } => {
                executions.of(by.clone()).decided = Some(Decided { reached: *reached, ended: ended.len() });
            }
            Entry::Started { .. } | Entry::Received { .. } => {}
        }
    }
    Ok((executions, [resumed, retried], failed))
}

async fn ask(
    journal: &dyn Journal,
    run: &RunId,
    by: &By,
    question: &RecordedPayload,
    schema: &RecordedPayload,
) -> Result<QuestionAccount, JournalError> {
    let asked = question_of(journal, run, by, question, schema).await?;
    let (question, schema) = (asked.question, asked.schema);
    Ok(QuestionAccount { question, schema, answer: None, is_open: false, is_answered: false })
}

/// Adds each child run to the execution that started it, and returns those whose execution is not known.
fn adopt(executions: &mut Executions, children: Vec<RunAccount>) -> Vec<RunAccount> {
    let mut orphans = Vec::new();
    for child in children {
        let parent = match &child.summary.origin {
            Some(Origin::Child { node, visit, attempt, .. }) => {
                let by = By { node: node.clone(), visit: *visit, attempt: *attempt };
                executions.list.iter_mut().rev().find(|known| known.by == by)
            }
            _ => None,
        };
        match parent {
            Some(parent) => parent.children.push(child),
            None => orphans.push(child),
        }
    }
    orphans
}

/// Sets the state of an execution's question, and of an execution without an outcome.
fn settle(
    execution: &mut ExecutionAccount,
    standing: &Standing,
    letters: &[Posted],
    failure: Option<&Failure>,
    has_ended: bool,
    is_held: bool,
) {
    if let Some(question) = &mut execution.question {
        question.is_answered =
            question.answer.is_none() && !has_ended && is_posted(letters, &execution.by, &question.schema);
        question.is_open = standing.open.contains(&execution.by) && !question.is_answered;
    }
    if execution.record.is_some() {
        return;
    }
    let by = &execution.by;
    let is_of =
        |failure: &&Failure| (&failure.node, failure.visit, failure.attempt) == (&by.node, by.visit, by.attempt);
    if let Some(failure) = failure.filter(is_of) {
        execution.state = ExecutionState::Failed;
        execution.failure = Some(failure.clone());
        return;
    }
    let mut under_way = standing.in_flight.iter().chain(&standing.background).chain(&standing.handling);
    let is_under_way = !has_ended && under_way.any(|known| known == by);
    let unended: Vec<RunState> =
        execution.children.iter().filter(|child| child.summary.ended.is_none()).map(|child| child.state).collect();
    let waits = execution.question.as_ref().is_some_and(|question| question.is_open)
        || (!unended.is_empty() && unended.iter().all(|state| *state == RunState::Waiting));
    execution.state = match is_under_way {
        false => ExecutionState::Discarded,
        true if waits => ExecutionState::Waiting,
        true if is_held => ExecutionState::Running,
        true => ExecutionState::Interrupted,
    };
}

/// The state of a run.
fn state(summary: &RunSummary, standing: &Standing, executions: &[ExecutionAccount]) -> RunState {
    match summary.ended.as_deref() {
        Some("failed") => return RunState::Failed,
        Some("cancelled") => return RunState::Cancelled,
        Some(_) => return RunState::Finished,
        None if summary.holder.is_some() => return RunState::Running,
        None => {}
    }
    let mut under_way = executions.iter().filter(|known| standing.in_flight.contains(&known.by)).peekable();
    let waits = under_way.peek().is_some() && under_way.all(|known| known.state == ExecutionState::Waiting);
    if waits && standing.background.is_empty() { RunState::Waiting } else { RunState::Stopped }
}
