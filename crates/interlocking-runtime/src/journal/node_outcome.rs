//! What one execution of a node did, as the journal records it.

use crate::journal::payload::RecordedPayload;
use crate::journal::record::By;
use interlocking_agents::LedgerEntry;
use interlocking_core::context::{Commit, Label, Message, NewItem};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use interlocking_core::table::EXIT;
use serde::{Deserialize, Serialize};

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
    /// The execution whose outcome it is.
    pub fn by(&self) -> By {
        By { node: self.node.clone(), visit: self.visit, attempt: self.attempt }
    }

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
