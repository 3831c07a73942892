//! The entries of a run's journal.

use crate::journal::node_outcome::{MemoryRecord, MessageRecord, NodeOutcome};
use crate::journal::payload::RecordedPayload;
use interlocking_agents::{LedgerEntry, SessionId};
use interlocking_core::context::{Commit, Label};
use interlocking_core::failure::Failure;
use interlocking_core::frontier::Execution;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_core::table::Table;
use serde::{Deserialize, Serialize};

/// One entry of a run's journal. It has these three fields and no others, so that whoever writes a journal can make records to test
/// it: new facts go into the [entry](Entry).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run.
    pub run: RunId,
    /// The entry's position, counted from 0 without gaps.
    pub sequence: u64,
    /// What happened.
    pub entry: Entry,
}

/// What happened. A journal that meets an entry of a kind that it does not know refuses to append it, or stores it whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entry {
    /// The run started. This is always the first entry of a run, and only the first.
    Started {
        /// The run's table. Resuming under another table is refused with the differences, unless there is a migration.
        table: Box<Table>,
        /// The entry value.
        input: RecordedPayload,
        /// The run that this run comes from, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
        /// The commits of the workspaces at the start.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        workspaces: Vec<Commit>,
    },
    /// The run was resumed: executions that were due or under way at this point started again.
    Resumed {
        /// The table from here on, where it differs from the run's table until then, because the records were migrated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<Box<Table>>,
        /// Of a child run: the execution of its parent's map node that resumed it. Where the map [adopts](crate::map), this may
        /// be a later execution than the one that started the child. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_by: Option<By>,
    },
    /// The run had failed, and is retried: the end before this entry is void. The next entry of the executor is
    /// [`Resumed`](Self::Resumed).
    Retried {
        /// The number of the last letter that had come by then. Requests to cancel the run up to this letter are void.
        letters: u64,
    },
    /// An agent began a session for an execution. If the execution is interrupted, this session continues when it restarts.
    Session {
        /// The execution.
        by: By,
        /// The number of the execution's conversation, 1-based. An event or advisory node may have several conversations.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        conversation: u32,
        /// The agent's name.
        agent: String,
        /// The session.
        session: SessionId,
    },
    /// A side effect was done.
    Once {
        /// The execution that did it.
        by: By,
        /// The effect's name.
        name: String,
        /// The effect's result.
        value: RecordedPayload,
    },
    /// A person was asked.
    Asked {
        /// The execution that asked.
        by: By,
        /// The question.
        question: RecordedPayload,
        /// The JSON schema of an answer.
        schema: RecordedPayload,
        /// When the question was asked, in milliseconds since 1970, where the node has a `timeout`. The time to answer starts
        /// then, whichever process executes the run later.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_at_ms: Option<u64>,
    },
    /// A person's answer was received.
    Answered {
        /// The execution that asked.
        by: By,
        /// The letter's number.
        letter: u64,
        /// The answer.
        answer: RecordedPayload,
    },
    /// A message for an event node was received. It waits for its turn from now on, unless it was missed.
    Received {
        /// The event node.
        node: String,
        /// The letter's number.
        letter: u64,
        /// The message.
        message: RecordedPayload,
        /// Whether the message is lost, because its node is transient and nothing waited for it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missed: bool,
    },
    /// The outcome of a node execution was accepted. It takes effect as a whole.
    Outcome(NodeOutcome),
    /// An advisory execution ended.
    Report {
        /// The execution.
        by: By,
        /// What it reported; absent where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<RecordedPayload>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// The value of its memory group after its updates; absent if there were none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: Option<MemoryRecord>,
        /// The agent calls it made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<LedgerEntry>,
        /// The messages that it sent to other runs, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        posted: Vec<MessageRecord>,
        /// The label that its handler gave the report, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<Label>,
        /// The commits it made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<Commit>,
    },
    /// The agent calls of an execution without an outcome, because it failed or was cancelled.
    Spent {
        /// The execution.
        by: By,
        /// The agent calls it made.
        calls: Vec<LedgerEntry>,
    },
    /// A child run moved a workspace of this run to another commit, while the execution that runs the child goes on.
    Landed {
        /// The execution of the map or graph node that runs the child.
        by: By,
        /// The child run.
        child: RunId,
        /// The workspace's new commit.
        commit: Commit,
    },
    /// A map node does not wait for its remaining child runs. They are cancelled from here on.
    Decided {
        /// The execution of the map node.
        by: By,
        /// Whether the quorum is reached; otherwise it can no longer be reached.
        reached: bool,
        /// The child runs that had ended by then, in the order of their items.
        ended: Vec<RunId>,
    },
    /// The run ended.
    Ended {
        /// Why it failed; absent when it finished or was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Whether it was cancelled.
        cancelled: bool,
        /// The output, where the graph computes it from the exit's token and from reports. Otherwise the output is the exit's
        /// token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<RecordedPayload>,
    },
}

/// How the run with these records has ended: `finished`, `failed` or `cancelled`; `None` if it has not ended, or was retried
/// since.
pub fn ending(records: &[Record]) -> Option<&'static str> {
    let last = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Retried { .. } => Some(None),
        entry => entry.ending().map(Some),
    });
    last.flatten()
}

/// The execution of the parent that resumed the child run with these records last; `None` if it was never resumed.
pub(crate) fn taken_by(records: &[Record]) -> Option<&By> {
    records.iter().rev().find_map(|record| match &record.entry {
        Entry::Resumed { taken_by, .. } => taken_by.as_ref(),
        _ => None,
    })
}

/// The names of the turns that the run with these records keeps.
pub(crate) fn turns(records: &[Record]) -> &[String] {
    let last = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(&*outcome.turns),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The number of the last letter that had come when the run was last retried; 0 if it never was.
pub(crate) fn retried_after(records: &[Record]) -> u64 {
    let last = records.iter().rev().find_map(|record| match record.entry {
        Entry::Retried { letters } => Some(letters),
        _ => None,
    });
    last.unwrap_or(0)
}

/// One execution of one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct By {
    /// The node.
    pub node: String,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
}

/// The run that a run comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "origin", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Origin {
    /// The run is a child run of a map node, for one of its items, or of a graph node.
    Child {
        /// The parent run.
        parent: RunId,
        /// The map or graph node.
        node: String,
        /// The visit of the node that started the child, 1-based.
        visit: u32,
        /// The attempt of that visit, 1-based.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        attempt: u32,
        /// The item's key; for a graph node, the node's name.
        key: String,
        /// The position of the item among those with the same key, in the order of the list, 1-based.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        number: u32,
    },
    /// The run is a fork of another run.
    Fork {
        /// The original run.
        of: RunId,
        /// How many records of the original run lie before the point of the fork.
        records: u64,
    },
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(number: &u32) -> bool {
    *number == 1
}

impl Entry {
    /// How the run ended, if this entry records the end: `finished`, `failed` or `cancelled`.
    pub fn ending(&self) -> Option<&'static str> {
        match self {
            Self::Ended { cancelled: true, .. } => Some("cancelled"),
            Self::Ended { failure: Some(_), .. } => Some("failed"),
            Self::Ended { .. } => Some("finished"),
            _ => None,
        }
    }

    /// The commits that this entry records.
    pub(crate) fn commits(&self) -> &[Commit] {
        match self {
            Self::Started { workspaces: commits, .. } | Self::Report { commits, .. } => commits,
            Self::Outcome(outcome) => &outcome.commits,
            Self::Landed { commit, .. } => std::slice::from_ref(commit),
            _ => &[],
        }
    }

    /// The execution that this entry is about, except for [`Outcome`](Self::Outcome), which has its own [`by`](NodeOutcome::by).
    pub(crate) fn by(&self) -> Option<&By> {
        match self {
            Self::Session { by, .. }
            | Self::Once { by, .. }
            | Self::Asked { by, .. }
            | Self::Answered { by, .. }
            | Self::Report { by, .. }
            | Self::Spent { by, .. }
            | Self::Landed { by, .. }
            | Self::Decided { by, .. } => Some(by),
            Self::Started { .. }
            | Self::Resumed { .. }
            | Self::Retried { .. }
            | Self::Received { .. }
            | Self::Outcome(_)
            | Self::Ended { .. } => None,
        }
    }
}

impl By {
    /// An execution of a graph with this net, by its node's name.
    pub(crate) fn of(net: &Net, Execution { node, visit, attempt }: Execution) -> Self {
        Self { node: net.name(node).to_owned(), visit, attempt }
    }
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, visit, attempt } = self;
        write!(f, "{node}.{visit}.{attempt}")
    }
}
