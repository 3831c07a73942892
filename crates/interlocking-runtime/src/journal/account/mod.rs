//! A run and its child runs as a tree, for people and programs. It is read from any journal, without the graph.
//!
//! `--json` shows the serialized form of these types: fields may be added, but not renamed.

mod read;

use crate::journal::question::OpenQuestion;
use crate::journal::{By, Journal, JournalError, LetterBody, Origin, RunSummary};
use interlocking_agents::{SessionId, Usage};
use interlocking_core::context::{Commit, Label};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// A run, according to its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunAccount {
    /// The run's summary.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// The run's state.
    pub state: RunState,
    /// What the agent calls of the run used up, without its child runs.
    pub usage: Usage,
    /// What the agent calls of the run and its child runs used up.
    pub total: Usage,
    /// How often it was resumed.
    pub resumed: u32,
    /// How often it was retried after it had failed.
    pub retried: u32,
    /// The executions of its nodes, in the order in which the journal first names them. Executions that no record names come
    /// last.
    pub executions: Vec<ExecutionAccount>,
    /// Child runs that were started by an execution which the journal does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The values of memory groups that were ever updated, by name. A node's own memory is a group with the node's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Value>,
    /// Letters that it has not received.
    pub letters: Vec<WaitingLetter>,
    /// Why the records cannot be replayed, so that only the executions that they name are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// The run is being executed.
    Running,
    /// The run is not being executed, and needs an answer from a person to go on.
    Waiting,
    /// The run is not being executed, and has not ended: it can be resumed.
    Stopped,
    /// The run has reached its exit.
    Finished,
    /// The run has failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

/// One execution of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExecutionAccount {
    /// The node, the visit and the attempt.
    #[serde(flatten)]
    pub by: By,
    /// The execution's state.
    pub state: ExecutionState,
    /// The position of the record with its outcome: a fork after `record + 1` records includes the outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// The places of the tokens that it made.
    pub to: Vec<String>,
    /// How long it ran, in milliseconds, where its outcome says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What its agent calls used up.
    pub usage: Usage,
    /// The sessions of its agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionAccount>,
    /// The label that its handler gave the outcome, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// The commits that it made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// The advisory nodes that it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spawned: Vec<String>,
    /// The runs and nodes to which it sent messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<Addressee>,
    /// The names of its side effects that are not repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<String>,
    /// The question that it asked a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionAccount>,
    /// Of a map node: the decision not to wait for its remaining child runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Why it failed. The run failed, too, unless the node is advisory or its table has a route for failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The child runs that it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RunAccount>,
}

/// The state of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutionState {
    /// Its outcome or its report is recorded.
    Done,
    /// It failed. Where [`to`](ExecutionAccount::to) names a place, the run went on there.
    Failed,
    /// It is running.
    Running,
    /// It waits for a person, or only for child runs that wait for a person.
    Waiting,
    /// It was running when the run stopped, and starts again when the run is resumed.
    Interrupted,
    /// It has no outcome that counts, because it was stopped or tried again.
    Discarded,
}

/// A session of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionAccount {
    /// The agent's name.
    pub agent: String,
    /// The session.
    pub session: SessionId,
}

/// The decision of a map node not to wait for its remaining child runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decided {
    /// Whether the quorum is reached; otherwise it can no longer be reached.
    pub reached: bool,
    /// How many child runs had ended by then.
    pub ended: usize,
}

/// The run and the node to which a message was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Addressee {
    /// The run.
    pub run: RunId,
    /// The event node.
    pub node: String,
}

/// A question to a person, and its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct QuestionAccount {
    /// The question.
    pub question: Value,
    /// The JSON schema of an answer.
    pub schema: Value,
    /// The answer that the run has received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// Whether an answer can be given.
    pub is_open: bool,
    /// Whether an answer was posted that the run has not received.
    pub is_answered: bool,
}

/// A letter that its run has not received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WaitingLetter {
    /// The letter's number.
    pub number: u64,
    /// The letter's content.
    #[serde(flatten)]
    pub body: LetterBody,
}

impl RunAccount {
    /// The open questions of the run and its child runs.
    pub fn open_questions(&self) -> Vec<OpenQuestion> {
        let mut open = Vec::new();
        self.each(&mut |run| {
            let asked = run.executions.iter().filter_map(|execution| Some((execution, execution.question.as_ref()?)));
            open.extend(asked.filter(|(_, question)| question.is_open).map(|(execution, question)| OpenQuestion {
                run: run.summary.run.clone(),
                by: execution.by.clone(),
                question: question.question.clone(),
                schema: question.schema.clone(),
            }));
        });
        open
    }

    /// Calls `look` with the run, and then with each of its descendants.
    pub fn each<'account>(&'account self, look: &mut impl FnMut(&'account Self)) {
        look(self);
        let below = self.executions.iter().flat_map(|execution| &execution.children).chain(&self.children);
        below.for_each(|child| child.each(look));
    }
}

impl RunState {
    /// The state in a word, as it is serialized.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Reads a run and its child runs.
///
/// # Errors
///
/// [`JournalError::NoRun`] where there is no such run.
pub async fn account(journal: &dyn Journal, run: &RunId) -> Result<RunAccount, JournalError> {
    let runs = journal.runs().await?;
    let family = family(&runs, run);
    if family.is_empty() {
        return Err(JournalError::NoRun { run: run.clone(), place: "the journal".to_owned() });
    }
    let mut below: BTreeMap<RunId, Vec<RunAccount>> = BTreeMap::new();
    // Children come after their parents in the list, so in reverse order each run finds its children done.
    for summary in family.into_iter().skip(1).rev() {
        let children = below.remove(&summary.run).unwrap_or_default();
        let account = read::run(journal, summary.clone(), children).await?;
        if let Some(Origin::Child { parent, .. }) = &summary.origin {
            below.entry(parent.clone()).or_default().insert(0, account);
        }
    }
    let children = below.remove(run).unwrap_or_default();
    let summary = runs.into_iter().find(|summary| summary.run == *run);
    let lost = || JournalError::NoRun { run: run.clone(), place: "the journal".to_owned() };
    read::run(journal, summary.ok_or_else(lost)?, children).await
}

/// A run and all its descendants, each after its parent; empty if there is no such run.
pub fn family<'runs>(runs: &'runs [RunSummary], run: &RunId) -> Vec<&'runs RunSummary> {
    let mut below: HashMap<&RunId, Vec<&RunSummary>> = HashMap::new();
    for summary in runs {
        if let Some(Origin::Child { parent, .. }) = &summary.origin
            && summary.run != *run
        {
            below.entry(parent).or_default().push(summary);
        }
    }
    let mut family: Vec<&RunSummary> = runs.iter().filter(|summary| summary.run == *run).collect();
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        // Removed, so that no run is visited twice, even if the journal is damaged.
        family.extend(below.remove(&parent.run).unwrap_or_default());
        next += 1;
    }
    family
}
