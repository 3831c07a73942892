//! A run and its child runs as a tree, read from any journal and without the graph: for people, and programs, that look.
//!
//! What is serialized here is what `--json` shows: fields are added, not renamed.

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

/// A run, as its journal knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunAccount {
    /// What the journal lists of it.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// How it stands.
    pub state: RunState,
    /// What its agent calls used up, without those of its child runs.
    pub usage: Usage,
    /// The same with its child runs.
    pub total: Usage,
    /// How often it was resumed.
    pub resumed: u32,
    /// How often it was retried after it had failed.
    pub retried: u32,
    /// What its nodes did, in the order in which the journal first tells of it; what is under way comes last.
    pub executions: Vec<ExecutionAccount>,
    /// Child runs whose execution the journal does not know any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// What its memory groups hold, those that were ever changed. A node of its own memory is a group of its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, Value>,
    /// Letters that it has not received.
    pub letters: Vec<WaitingLetter>,
    /// Why nothing is known of what is under way but what its records say themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunState {
    /// Somebody executes it.
    Running,
    /// Nobody executes it, and nobody can before a person has answered.
    Waiting,
    /// Nobody executes it, and it has not ended: it can be resumed.
    Stopped,
    /// It came to its exit.
    Finished,
    /// It failed. Where it has a place to which it [went](ExecutionAccount::to), its run goes on.
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// One execution of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExecutionAccount {
    /// Which.
    #[serde(flatten)]
    pub by: By,
    /// How it stands.
    pub state: ExecutionState,
    /// The position of the record that has its outcome: a fork after `record + 1` records has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// Where it went: the places of its tokens.
    pub to: Vec<String>,
    /// How long it ran, in milliseconds, where its outcome says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// What its agent calls used up.
    pub usage: Usage,
    /// The sessions that its agents had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionAccount>,
    /// The sort of message that its tokens are, where it said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// The commits that it made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// The advisory nodes that it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spawned: Vec<String>,
    /// Where it sent messages: run and node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<Addressee>,
    /// The names of the side effects that are not to be repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub once: Vec<String>,
    /// What it asked a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionAccount>,
    /// Of a map node: that it need not wait for the rest of its children.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// Why it failed, and the run with it; or only it, where it is advisory, or its table has a route for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// The child runs that it started.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<RunAccount>,
}

/// How an execution stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutionState {
    /// Its outcome counts, or its report is there.
    Done,
    /// It failed.
    Failed,
    /// It is at work.
    Running,
    /// It waits for a person, or only for child runs that do.
    Waiting,
    /// It was at work when its run stopped, and begins again when that is resumed.
    Interrupted,
    /// It came to no outcome that counts: it was stopped, or tried again.
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

/// That a map node need not wait for the rest of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decided {
    /// Whether its quorum is reached; otherwise it no longer can be.
    pub reached: bool,
    /// How many children had ended by then.
    pub ended: usize,
}

/// Where a message was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Addressee {
    /// The run.
    pub run: RunId,
    /// The event node.
    pub node: String,
}

/// What a person was asked, and what came of it.
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
    /// Whether there is an answer that the run has not received.
    pub is_answered: bool,
}

/// A letter that its run has not received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WaitingLetter {
    /// Its number.
    pub number: u64,
    /// What it says.
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

    /// Shows the run, and then each of its child runs and theirs, to `look`.
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
    // Children stand behind their parents, so that each finds its own done.
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

/// A run and its child runs, those of these included, each behind its parent; empty if there is no such run.
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
        // Taken out, so that nobody is met twice, whatever the journal says.
        family.extend(below.remove(&parent.run).unwrap_or_default());
        next += 1;
    }
    family
}
