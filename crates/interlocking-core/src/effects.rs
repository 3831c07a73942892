//! What a handler asks for beside its route, such as memory updates, commits and messages. All of it takes effect with
//! the outcome.

use crate::label::Label;
use crate::net::NodeIndex;
use crate::run_id::RunId;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a handler asked for beside its route. It takes effect together with the outcome, or not at all.
#[derive(Default)]
pub struct Effects(Option<Box<EffectList>>);

#[derive(Default)]
pub(crate) struct EffectList {
    pub(crate) updates: Vec<MemoryUpdate>,
    pub(crate) commits: Vec<Commit>,
    /// Tokens of the graph for its advisory nodes.
    pub(crate) spawned: Vec<Box<dyn Any + Send + Sync>>,
    pub(crate) label: Option<Label>,
    pub(crate) report: Option<String>,
    pub(crate) posted: Vec<Message>,
    pub(crate) added: Option<Addition>,
}

pub(crate) type MemoryUpdate = Box<dyn Fn(&mut dyn Any) + Send + Sync>;

/// A commit that an execution made. A resumed run resets the workspace to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The workspace.
    pub workspace: String,
    /// The commit's id.
    pub id: String,
}

/// A message for an event node of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The run.
    pub to: RunId,
    /// The event node.
    pub node: String,
    /// The message, as JSON text.
    pub json: String,
}

/// Items that an event node adds to a map node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// The map node.
    pub map: NodeIndex,
    /// The items, in order.
    pub items: Vec<NewItem>,
}

/// One item that is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewItem {
    /// The entry value of its child, as JSON text.
    pub entry: String,
    /// Its key.
    pub key: String,
    /// Whether its child starts afresh although the map adopts children.
    pub anew: bool,
    /// The run that it replaces.
    pub anew_after: Option<RunId>,
}

/// The shared value of a memory group.
#[derive(Debug, Default)]
pub struct MemoryCell<M>(Mutex<M>);

impl Effects {
    /// Applies the memory updates to the shared value of the node's group. Returns whether there were any.
    #[doc(hidden)]
    pub fn apply<M: 'static>(&self, cell: &MemoryCell<M>) -> bool {
        if self.0.as_ref().is_none_or(|list| list.updates.is_empty()) {
            return false;
        }
        self.apply_to(&mut *cell.lock());
        true
    }

    /// Applies the memory updates to a copy.
    pub(crate) fn apply_to<M: 'static>(&self, value: &mut M) {
        self.0.iter().flat_map(|list| &list.updates).for_each(|update| update(value));
    }

    /// Whether the handler asked for nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The commits that the execution made.
    pub fn commits(&self) -> &[Commit] {
        self.0.as_ref().map_or(&[], |list| &list.commits)
    }

    /// Records the commit at which a workspace stood before the execution changed it, for executors.
    #[doc(hidden)]
    pub fn began_at(&mut self, commit: Commit) {
        self.list().commits.insert(0, commit);
    }

    /// Takes the graph's tokens for the advisory nodes that the execution starts; a second call returns none.
    #[doc(hidden)]
    pub fn take_spawned(&mut self) -> Vec<Box<dyn Any + Send + Sync>> {
        self.0.as_mut().map(|list| std::mem::take(&mut list.spawned)).unwrap_or_default()
    }

    /// Takes the items that the execution adds to a map; a second call returns none.
    #[doc(hidden)]
    pub fn take_added(&mut self) -> Option<Addition> {
        self.0.as_mut()?.added.take()
    }

    /// What sort of message the execution's tokens are, if the handler set a label.
    pub fn label(&self) -> Option<&Label> {
        self.0.as_ref()?.label.as_ref()
    }

    /// The messages that the execution sends to other runs, in order.
    pub fn posted(&self) -> &[Message] {
        self.0.as_ref().map_or(&[], |list| &list.posted)
    }

    /// The report of an execution beside the graph, as JSON text.
    pub fn report(&self) -> Option<&str> {
        self.0.as_ref()?.report.as_deref()
    }

    /// The list, created if it does not exist.
    pub(crate) fn list(&mut self) -> &mut EffectList {
        self.0.get_or_insert_default()
    }
}

impl<M> MemoryCell<M> {
    /// A cell that holds `value`.
    pub fn new(value: M) -> Self {
        Self(Mutex::new(value))
    }

    /// Locks the value. The lock ignores poisoning by a panic of another holder: updates are applied to completion or
    /// not at all.
    pub fn lock(&self) -> MutexGuard<'_, M> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let updates = self.0.as_ref().map_or(0, |list| list.updates.len());
        f.debug_struct("Effects").field("updates", &updates).field("commits", &self.commits()).finish()
    }
}
