//! The entries of a run's journal.

use crate::journal::payload::RecordedPayload;
use interlocking_agents::{LedgerEntry, SessionId};
use interlocking_core::context::{Commit, Label, Message, NewItem};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{EXIT, Table};
use serde::{Deserialize, Serialize};

/// One entry of a run's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run.
    pub run: RunId,
    /// The entry's position, counted from 0 without gaps.
    pub sequence: u64,
    /// What happened.
    pub entry: Entry,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// The run started. Always the first entry, and only the first.
    Started {
        /// The table it runs under: a resume under another one is refused with the difference.
        table: Box<Table>,
        /// The entry value.
        input: RecordedPayload,
        /// Which run it comes from, if it comes from one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
        /// The commits that the workspaces stood at.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        workspaces: Vec<Commit>,
    },
    /// An executor took the run up again: whatever was due or ran at this point was begun once more.
    Resumed {
        /// The table from here on, where it is not the one that the run had until then: its history was migrated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        table: Option<Box<Table>>,
        /// Of a child run: the execution of its parent's map node that went on with it, which is a later one than that which
        /// started it where the map [adopts](crate::map). Older records do not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        taken_by: Option<By>,
    },
    /// The run had failed, and goes on where it did: its end before this is none. The executor that does so says next that it
    /// [took the run up](Self::Resumed).
    Retried {
        /// The number of the last letter that had come by then: a wish that the run ends is void if it is none that came later.
        letters: u64,
    },
    /// An agent began a session for an execution: if that is interrupted, it is this session that goes on.
    Session {
        /// The execution.
        by: By,
        /// Which conversation of the execution it is for, the first being 1: an event or advisory node may have several.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        conversation: u32,
        /// The agent's name.
        agent: String,
        /// The session.
        session: SessionId,
    },
    /// A side effect was done, with this result.
    Once {
        /// The execution that did it.
        by: By,
        /// The name that it gave it.
        name: String,
        /// The result.
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
        /// When, in milliseconds since 1970, where the node has a `timeout`: the time that there is to answer runs from then,
        /// whichever process executes the run.
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
    /// A message for an event node was received; it waits for its turn from now on, unless it was missed.
    Received {
        /// The event node.
        node: String,
        /// The letter's number.
        letter: u64,
        /// The message.
        message: RecordedPayload,
        /// Whether nobody waited for it, and its node is transient: then it is lost.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        missed: bool,
    },
    /// A node execution's outcome was accepted: all of it, or nothing.
    Outcome(NodeOutcome),
    /// An advisory execution came to its end beside the graph.
    Report {
        /// The execution.
        by: By,
        /// What it reported; absent where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<RecordedPayload>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Its memory group's value after its updates; absent if it made none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: Option<MemoryRecord>,
        /// The agent calls it made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<LedgerEntry>,
        /// The messages that it sent to other runs, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        posted: Vec<MessageRecord>,
        /// What sort of message its report is, where its handler said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<Label>,
        /// The commits it made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commits: Vec<Commit>,
    },
    /// What executions without an outcome used up: they failed, or were cancelled.
    Spent {
        /// The execution.
        by: By,
        /// The agent calls it made.
        calls: Vec<LedgerEntry>,
    },
    /// A child run moved on a workspace of this one, while the execution that started it goes on.
    Landed {
        /// The execution of the map node.
        by: By,
        /// The child.
        child: RunId,
        /// Where the workspace stands since.
        commit: Commit,
    },
    /// A map node need not wait for the rest of its children: it is cancelled from here on.
    Decided {
        /// The execution of the map node.
        by: By,
        /// Whether its quorum is reached; otherwise it no longer can be.
        reached: bool,
        /// The children that had ended by then, in the order of their items.
        ended: Vec<RunId>,
    },
    /// The run ended.
    Ended {
        /// Why it failed; absent when it finished or was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<Failure>,
        /// Whether it was cancelled.
        cancelled: bool,
        /// The output, where the graph made it of what came to the exit and of reports; otherwise it is what came there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<RecordedPayload>,
    },
}

/// How a run with these records has ended: `finished`, `failed` or `cancelled`; `None` if it has not, or has been retried since.
pub fn ending(records: &[Record]) -> Option<&'static str> {
    let last = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Retried { .. } => Some(None),
        entry => entry.ending().map(Some),
    });
    last.flatten()
}

/// The execution of its map node that went on with the child run with these records last; `None` if only that which started it did.
pub(crate) fn taken_by(records: &[Record]) -> Option<&By> {
    records.iter().rev().find_map(|record| match &record.entry {
        Entry::Resumed { taken_by, .. } => taken_by.as_ref(),
        _ => None,
    })
}

/// The names of the turns that the run with these records has.
pub(crate) fn turns(records: &[Record]) -> &[String] {
    let last = records.iter().rev().find_map(|record| match &record.entry {
        Entry::Outcome(outcome) => Some(&*outcome.turns),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The number of the last letter that had come when a run was retried last; 0 if it never was.
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

/// Which run a run comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "origin", rename_all = "snake_case")]
pub enum Origin {
    /// It is the child of a map node, for one of its items.
    Child {
        /// The run that the node belongs to.
        parent: RunId,
        /// The node.
        node: String,
        /// The node's visit that started it, 1-based.
        visit: u32,
        /// The attempt of that visit, 1-based.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        attempt: u32,
        /// Its item's key.
        key: String,
        /// Which of the items with this key it is, in the order of the list, 1-based.
        #[serde(default = "first", skip_serializing_if = "is_first")]
        number: u32,
    },
    /// It has another run's history up to one of its records.
    Fork {
        /// The other run.
        of: RunId,
        /// How many of its records it has taken over.
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
pub struct NodeOutcome {
    /// The node.
    pub node: String,
    /// Its visit, 1-based.
    pub visit: u32,
    /// Its attempt within the visit, 1-based.
    pub attempt: u32,
    /// Which of the table's alternatives it took; absent where an event node left the run as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<u16>,
    /// The tokens it made.
    pub tokens: Vec<TokenRecord>,
    /// The advisory nodes that it started: their places and what they got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spawned: Vec<TokenRecord>,
    /// The messages that it sent to other runs, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posted: Vec<MessageRecord>,
    /// What sort of message its tokens are, where its handler said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Its memory group's value after its updates; absent if it made none.
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
    /// How it failed, where its way on is the one that its table has for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Box<Failure>>,
    /// The items that it added to a map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Box<AddedItems>>,
    /// The names of the turns that the run has [taken](crate::RunContext::take_turn), and keeps after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<String>,
}

/// Items that an event node added to a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedItems {
    /// The execution of the map node.
    pub to: By,
    /// The items, in order: behind those that the map had.
    pub items: Vec<ItemRecord>,
}

/// An item that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// What its child starts with.
    pub entry: RecordedPayload,
    /// Its key.
    pub key: String,
    /// Whether it runs anew though the map adopts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
    /// The run in whose place it runs anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anew_after: Option<RunId>,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The place it lies in: `node`, `join.slot` or `exit`.
    pub place: String,
    /// What it carries.
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
    /// Items as records have them.
    pub(crate) fn of(to: &By, items: &[NewItem]) -> Self {
        let item = |NewItem { entry, key, anew, anew_after }: &NewItem| {
            let (entry, key, anew_after) = (entry.as_str().into(), key.clone(), anew_after.clone());
            ItemRecord { entry, key, anew: *anew, anew_after }
        };
        Self { to: to.clone(), items: items.iter().map(item).collect() }
    }
}

impl MessageRecord {
    /// A message as records have it.
    pub(crate) fn of(message: &Message) -> Self {
        Self { to: message.to.clone(), node: message.node.clone(), message: message.json.as_str().into() }
    }
}

impl NodeOutcome {
    /// What observers see of an advisory execution: its report, as what came to the exit.
    pub(crate) fn of_report(
        By { node, visit, attempt }: By,
        report: RecordedPayload,
        posted: Vec<MessageRecord>,
        label: Option<Label>,
        commits: Vec<Commit>,
    ) -> Self {
        let tokens = vec![TokenRecord { place: EXIT.to_owned(), payload: report }];
        let (alternative, spawned, memory, calls, took_ms, failed, added, turns) = Default::default();
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

    /// Everything that it carries.
    pub(crate) fn payloads(&self) -> impl Iterator<Item = &RecordedPayload> {
        let tokens = self.tokens.iter().chain(&self.spawned).map(|token| &token.payload);
        let messages = self.posted.iter().map(|message| &message.message);
        let items = self.added.iter().flat_map(|added| &added.items).map(|item| &item.entry);
        tokens.chain(messages).chain(self.memory.iter().map(|memory| &memory.value)).chain(items)
    }

    /// The same, to be filled in.
    pub(crate) fn payloads_mut(&mut self) -> impl Iterator<Item = &mut RecordedPayload> {
        let tokens = self.tokens.iter_mut().chain(&mut self.spawned).map(|token| &mut token.payload);
        let messages = self.posted.iter_mut().map(|message| &mut message.message);
        let items = self.added.iter_mut().flat_map(|added| &mut added.items).map(|item| &mut item.entry);
        tokens.chain(messages).chain(self.memory.iter_mut().map(|memory| &mut memory.value)).chain(items)
    }
}

impl Entry {
    /// How the run ended, if this says so: `finished`, `failed` or `cancelled`.
    pub fn ending(&self) -> Option<&'static str> {
        match self {
            Self::Ended { cancelled: true, .. } => Some("cancelled"),
            Self::Ended { failure: Some(_), .. } => Some("failed"),
            Self::Ended { .. } => Some("finished"),
            _ => None,
        }
    }

    /// Where workspaces stand since then.
    pub(crate) fn commits(&self) -> &[Commit] {
        match self {
            Self::Started { workspaces: commits, .. } | Self::Report { commits, .. } => commits,
            Self::Outcome(outcome) => &outcome.commits,
            Self::Landed { commit, .. } => std::slice::from_ref(commit),
            _ => &[],
        }
    }

    /// The execution that it tells of, where it tells of one without telling its outcome.
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
