//! The entries of a run's journal.

use crate::journal::payload::RecordedPayload;
use interlocking_agents::{LedgerEntry, SessionId};
use interlocking_core::context::{Commit, Label, Message, NewItem};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{EXIT, Table};
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

/// Everything that one node execution did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeOutcome {
    /// The node.
    pub node: String,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
    /// The alternative of the table that it took; absent where an event node did not change the run's position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<u16>,
    /// The tokens it made.
    pub tokens: Vec<TokenRecord>,
    /// The advisory nodes that it started, with their inputs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawned: Vec<TokenRecord>,
    /// The messages that it sent to other runs, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<MessageRecord>,
    /// The label that its handler gave the outcome, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// The value of its memory group after its updates; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryRecord>,
    /// The agent calls it made, with their sessions and costs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<LedgerEntry>,
    /// The commits it made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Commit>,
    /// How long it ran, in milliseconds.
    pub took_ms: u64,
    /// Why it failed, where it took the table's route for failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Box<Failure>>,
    /// The items that it added to a map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Box<AddedItems>>,
    /// The names of the turns that the run has [taken](crate::RunContext::take_turn) and keeps after this outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<String>,
}

/// Items that an event node added to a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedItems {
    /// The execution of the map node.
    pub to: By,
    /// The added items, in order. They follow the items that the map had before.
    pub items: Vec<ItemRecord>,
}

/// An item that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// The entry value of the item's child run.
    pub entry: RecordedPayload,
    /// The item's key.
    pub key: String,
    /// Whether the item gets a new child run although the map adopts earlier ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
    /// The earlier child run that the new one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anew_after: Option<RunId>,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The token's place: `node`, `join.slot` or `exit`.
    pub place: String,
    /// The token's value.
    pub payload: RecordedPayload,
}

/// A message to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// The run.
    pub to: RunId,
    /// The event node that takes it.
    pub node: String,
    /// The message.
    pub message: RecordedPayload,
}

/// A memory group's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// The group.
    pub group: String,
    /// Its value.
    pub value: RecordedPayload,
}

impl AddedItems {
    /// The record of items that were added to the map node's execution `to`.
    pub(crate) fn of(to: &By, items: &[NewItem]) -> Self {
        let item = |NewItem { entry, key, anew, anew_after }: &NewItem| {
            let (entry, key, anew_after) = (entry.as_str().into(), key.clone(), anew_after.clone());
            ItemRecord { entry, key, anew: *anew, anew_after }
        };
        Self { to: to.clone(), items: items.iter().map(item).collect() }
    }
}

impl MessageRecord {
    /// The record of a message.
    pub(crate) fn of(message: &Message) -> Self {
        Self { to: message.to.clone(), node: message.node.clone(), message: message.json.as_str().into() }
    }
}

impl NodeOutcome {
    /// The outcome of an execution that ran this many milliseconds, took no alternative and did nothing else.
    pub fn new(By { node, visit, attempt }: By, took_ms: u64) -> Self {
        let (alternative, tokens, spawned, posted, label) = Default::default();
        let (memory, calls, commits, failed, added, turns) = Default::default();
        Self {
            node,
            visit,
            attempt,
            alternative,
            tokens,
            spawned,
            posted,
            label,
            memory,
            calls,
            commits,
            took_ms,
            failed,
            added,
            turns,
        }
    }

    /// The outcome's token, where the execution made one token and did nothing else. Such an outcome is the common case, and a
    /// journal may have a shorter form for it.
    #[doc(hidden)]
    pub fn only_token(&self) -> Option<&TokenRecord> {
        // Named one by one, so that no new field is forgotten.
        let Self {
            node: _,
            visit: _,
            attempt: _,
            alternative: _,
            tokens,
            spawned,
            posted,
            label,
            memory,
            calls,
            commits,
            took_ms: _,
            failed,
            added,
            turns,
        } = self;
        let does_nothing_else = spawned.is_empty()
            && posted.is_empty()
            && label.is_none()
            && memory.is_none()
            && calls.is_empty()
            && commits.is_empty()
            && failed.is_none()
            && added.is_none()
            && turns.is_empty();
        match &tokens[..] {
            [token] if does_nothing_else => Some(token),
            _ => None,
        }
    }

    /// The outcome of an advisory execution as observers see it: its report is a token at the exit.
    pub(crate) fn of_report(
        by: By,
        report: RecordedPayload,
        posted: Vec<MessageRecord>,
        label: Option<Label>,
        commits: Vec<Commit>,
    ) -> Self {
        let tokens = vec![TokenRecord { place: EXIT.to_owned(), payload: report }];
        Self { tokens, posted, label, commits, ..Self::new(by, 0) }
    }

    /// All payloads of the outcome.
    pub(crate) fn payloads(&self) -> impl Iterator<Item = &RecordedPayload> {
        let tokens = self.tokens.iter().chain(&self.spawned).map(|token| &token.payload);
        let messages = self.posted.iter().map(|message| &message.message);
        let items = self.added.iter().flat_map(|added| &added.items).map(|item| &item.entry);
        tokens.chain(messages).chain(self.memory.iter().map(|memory| &memory.value)).chain(items)
    }

    /// All payloads of the outcome, to be replaced.
    pub(crate) fn payloads_mut(&mut self) -> impl Iterator<Item = &mut RecordedPayload> {
        let tokens = self.tokens.iter_mut().chain(&mut self.spawned).map(|token| &mut token.payload);
        let messages = self.posted.iter_mut().map(|message| &mut message.message);
        let items = self.added.iter_mut().flat_map(|added| &mut added.items).map(|item| &mut item.entry);
        tokens.chain(messages).chain(self.memory.iter_mut().map(|memory| &mut memory.value)).chain(items)
    }
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

impl NodeOutcome {
    /// The execution whose outcome it is.
    pub fn by(&self) -> By {
        By { node: self.node.clone(), visit: self.visit, attempt: self.attempt }
    }
}

impl std::fmt::Display for By {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { node, visit, attempt } = self;
        write!(f, "{node}.{visit}.{attempt}")
    }
}
