//! What every execution of a run needs.

use crate::cancel::CancelToken;
use crate::context::services::RunServices;
use crate::execution::completions::TaskState;
use interlocking_core::graph::Graph;
use once_cell::race::OnceBox;

/// What every execution of a run needs, behind one pointer that each task clones.
pub(crate) struct Shared<G: Graph> {
    pub(crate) services: RunServices<G>,
    /// What its tasks share, once there are any.
    task_state: OnceBox<TaskState<G>>,
}

impl<G: Graph> Shared<G> {
    pub(crate) fn new(services: RunServices<G>) -> Self {
        Self { services, task_state: OnceBox::new() }
    }

    /// What stops the run; absent where nothing can.
    #[inline]
    pub(crate) fn cancel(&self) -> Option<&CancelToken> {
        self.services.untyped.settings.cancel.as_ref()
    }

    /// What its tasks share.
    #[inline]
    pub(crate) fn task_state(&self) -> &TaskState<G> {
        self.task_state.get_or_init(Box::default)
    }
}
