//! An execution that no other execution of its run waits for.

use crate::erased::token::ErasedToken;
use crate::execution::perform::Performed;
use crate::execution::shared::Shared;
use interlocking_core::frontier::Execution;
use interlocking_core::graph::Graph;
use std::sync::Arc;

/// An execution of an advisory node or of an observer.
pub(crate) struct BackgroundExecution<G: Graph> {
    shared: Arc<Shared<G>>,
    execution: Execution,
    input: Option<ErasedToken>,
}

impl<G: Graph> BackgroundExecution<G> {
    pub(crate) fn new(shared: Arc<Shared<G>>, execution: Execution, input: ErasedToken) -> Self {
        Self { shared, execution, input: Some(input) }
    }
}

impl<G: Graph> Performed<G> for BackgroundExecution<G> {
    fn execution(&self) -> Execution {
        self.execution
    }

    fn shared(&self) -> &Shared<G> {
        &self.shared
    }

    fn take_input(&mut self) -> Option<G::Token> {
        self.input.take().map(|mut input| input.take())
    }
}
