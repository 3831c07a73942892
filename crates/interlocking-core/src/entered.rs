//! What the executor passes to an execution.

use crate::frontier::Execution;
use crate::graph::Graph;
use crate::services::Services;

/// What the executor passes to an execution.
pub struct Entered<'run, G: Graph> {
    /// The run's services.
    pub services: &'run dyn Services<G>,
    /// Which execution this is.
    pub execution: Execution,
}

impl<G: Graph> Clone for Entered<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Graph> Copy for Entered<'_, G> {}
