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

impl dyn ErasedShared {
    pub(crate) fn net(&self) -> &'static Net {
        self.untyped().net
    }

    /// The token that stops the run; `None` where nothing can stop it.
    pub(crate) fn cancel(&self) -> Option<&CancelToken> {
        self.untyped().settings.cancel.as_ref()
    }

    /// Applies the memory updates of an accepted outcome; returns the memory group if there were any. The error is the message
    /// of an update's panic.
    pub(crate) fn apply(&self, execution: Execution, effects: &Effects) -> Result<Option<usize>, String> {
        if effects.is_empty() {
            return Ok(None);
        }
        let Some(group) = self.net().node(execution.node).memory.map(usize::from) else { return Ok(None) };
        caught_now(|| self.memories()[group].apply(effects)).map(|updated| updated.then_some(group))
    }

    /// The current value of a memory group, as it is recorded.
    pub(crate) fn remembered(&self, group: usize) -> Result<MemoryRecord, JournalError> {
        let name = self.net().memory_groups()[group].clone();
        match self.memories()[group].encode() {
            Ok(value) => Ok(MemoryRecord { group: name, value: value.into() }),
            Err(error) => Err(JournalError::Encoding { what: format!("memory `{name}`"), reason: error.to_string() }),
        }
    }
}
