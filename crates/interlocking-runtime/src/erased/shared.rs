//! What every execution of a run needs, for any graph.

use crate::cancel::CancelToken;
use crate::context::memory_store::MemoryStore;
use crate::context::reports::Reports;
use crate::context::services::UntypedServices;
use crate::erased::done::ErasedDone;
use crate::erased::graph_type::{AnyValue, GraphType};
use crate::erased::token::ErasedToken;
use crate::execution::completions::TaskState;
use crate::execution::interruption::{Interruption, caught_now};
use crate::journal::{Encoded, JournalError, MemoryRecord};
use interlocking_core::context::Effects;
use interlocking_core::failure::NodeError;
use interlocking_core::frontier::Execution;
use interlocking_core::net::{Net, NodeIndex};
use std::pin::Pin;
use std::sync::Arc;

/// The result of a background execution.
pub(crate) type Performing = Pin<Box<dyn Future<Output = Result<ErasedDone, Interruption>> + Send>>;

/// The run's output, which the graph makes.
pub(crate) type Finishing<'run> = Pin<Box<dyn Future<Output = Result<AnyValue, NodeError>> + Send + 'run>>;

/// A [`Shared`](crate::execution::shared::Shared) without its graph's type: what the driver knows of a run. With it the driver
/// is compiled once, and not for each graph.
pub(crate) trait ErasedShared: Send + Sync {
    fn graph_type(&self) -> &'static dyn GraphType;
    fn untyped(&self) -> &UntypedServices;
    fn memories(&self) -> &[Box<dyn MemoryStore>];
    /// The state that the run's tasks share.
    fn task_state(&self) -> &TaskState;
    /// Keeps the payloads that a node takes as its last input.
    fn keep_input(&self, node: NodeIndex, arrived: &[Option<Encoded>]);
    /// Runs an execution, whose input lies in its slot, in a task of its own.
    fn spawn(self: Arc<Self>, execution: Execution);
    /// Performs an execution that no other execution of its run waits for.
    fn perform_in_background(self: Arc<Self>, execution: Execution, input: ErasedToken) -> Performing;
    /// Makes the run's output from what reached its exit and from the reports.
    fn finish(&self, output: AnyValue, reports: Reports) -> Finishing<'_>;
}

/// A memory group that an execution has updated.
pub(crate) struct Updated {
    group: usize,
    /// The updated value, where it is not yet in the group's cell.
    copy: Option<Box<dyn MemoryStore>>,
}

impl dyn ErasedShared {
    pub(crate) fn net(&self) -> &'static Net {
        self.untyped().net
    }

    /// The token that stops the run; `None` where nothing can stop it.
    pub(crate) fn cancel(&self) -> Option<&CancelToken> {
        self.untyped().settings.cancel.as_ref()
    }

    /// Applies the memory updates of an accepted outcome, if there are any. The error is the message of an update's panic. Where
    /// the run is recorded and other nodes share the memory, they see the update once it is recorded and
    /// [kept](Self::keep_updated).
    pub(crate) fn update(&self, execution: Execution, effects: &Effects) -> Result<Option<Updated>, String> {
        if effects.is_empty() {
            return Ok(None);
        }
        let Some(group) = self.net().node(execution.node).memory.map(usize::from) else { return Ok(None) };
        let memory = &self.memories()[group];
        caught_now(|| match self.untyped().record_writer.is_some() && self.is_shared(group) {
            true => memory.updated(effects).map(|copy| Updated { group, copy: Some(copy) }),
            false => memory.apply(effects).then_some(Updated { group, copy: None }),
        })
    }

    /// Whether several nodes have this memory.
    fn is_shared(&self, group: usize) -> bool {
        let has = |memory: Option<u16>| memory.map(usize::from) == Some(group);
        self.net().nodes().iter().filter(|node| has(node.memory)).nth(1).is_some()
    }

    /// Keeps an update that is recorded.
    pub(crate) fn keep_updated(&self, updated: Updated) {
        if let Some(copy) = updated.copy {
            self.memories()[updated.group].adopt(&*copy);
        }
    }

    /// The updated value of a memory group, as it is recorded.
    pub(crate) fn remembered(&self, updated: &Updated) -> Result<MemoryRecord, JournalError> {
        let name = self.net().memory_groups()[updated.group].clone();
        match updated.copy.as_ref().unwrap_or(&self.memories()[updated.group]).encode() {
            Ok(value) => Ok(MemoryRecord { group: name, value: value.into() }),
            Err(error) => Err(JournalError::Encoding { what: format!("memory `{name}`"), reason: error.to_string() }),
        }
    }
}
