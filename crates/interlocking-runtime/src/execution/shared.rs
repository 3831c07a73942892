//! What every execution of a run needs.

use crate::cancel::CancelToken;
use crate::context::memory_store::MemoryStore;
use crate::context::reports::Reports;
use crate::context::services::{RunServices, UntypedServices};
use crate::erased::graph_type::{AnyValue, GraphType, graph_type, typed};
use crate::erased::shared::{ErasedShared, Finishing, Performing};
use crate::erased::token::ErasedToken;
use crate::execution::background::BackgroundExecution;
use crate::execution::completions::TaskState;
use crate::execution::perform::perform;
use crate::execution::task::Task;
use crate::journal::Encoded;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::Graph;
use interlocking_core::net::NodeIndex;
use once_cell::race::OnceBox;
use std::future::ready;
use std::sync::Arc;

/// What every execution of a run needs, behind one pointer that each task clones.
pub(crate) struct Shared<G: Graph> {
    pub(crate) services: RunServices<G>,
    /// The state that the run's tasks share; created with the first of them.
    task_state: OnceBox<TaskState>,
}

impl<G: Graph> Shared<G> {
    pub(crate) fn new(services: RunServices<G>) -> Self {
        Self { services, task_state: OnceBox::new() }
    }

    /// The token that stops the run; `None` where nothing can stop it.
    #[inline]
    pub(crate) fn cancel(&self) -> Option<&CancelToken> {
        self.services.untyped.settings.cancel.as_ref()
    }
}

impl<G: Graph> ErasedShared for Shared<G> {
    fn graph_type(&self) -> &'static dyn GraphType {
        graph_type::<G>()
    }

    fn untyped(&self) -> &UntypedServices {
        &self.services.untyped
    }

    fn memories(&self) -> &[Box<dyn MemoryStore>] {
        &self.services.memories
    }

    #[inline]
    fn task_state(&self) -> &TaskState {
        self.task_state.get_or_init(|| Box::new(TaskState::new(G::net())))
    }

    fn keep_input(&self, node: NodeIndex, arrived: &[Option<Encoded>]) {
        self.services.keep_input(node, arrived);
    }

    fn spawn(self: Arc<Self>, execution: Execution) {
        Task::new(self, execution).spawn();
    }

    fn perform_in_background(self: Arc<Self>, execution: Execution, input: ErasedToken) -> Performing {
        if const { G::HAS_NODES_BESIDE } {
            Box::pin(perform(BackgroundExecution::new(self, execution, input), |_, result| result))
        } else {
            unreachable!("no node works beside the graph")
        }
    }

    fn finish(&self, output: AnyValue, reports: Reports) -> Finishing<'_> {
        if const { G::HAS_NODES_BESIDE } {
            Box::pin(async {
                let output = self.services.graph.finish(typed(output), reports).await?;
                Ok(Box::new(output) as AnyValue)
            })
        } else {
            Box::pin(ready(Ok(output)))
        }
    }
}
