//! Conversion into a shared agent.

use crate::agent::Agent;
use std::sync::Arc;

/// Anything that can be passed where an agent is wanted: an [`Agent`], or an `Arc` of one, which several roles and runs
/// can share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no agent",
    label = "needs an `Agent`, an `Arc` of one, or an `Arc<dyn Agent>`"
)]
pub trait IntoAgent {
    /// The agent, shared.
    fn into_agent(self) -> Arc<dyn Agent>;
}

impl<A: Agent + 'static> IntoAgent for A {
    fn into_agent(self) -> Arc<dyn Agent> {
        Arc::new(self)
    }
}

impl<A: Agent + 'static> IntoAgent for Arc<A> {
    fn into_agent(self) -> Arc<dyn Agent> {
        self
    }
}

impl IntoAgent for Arc<dyn Agent> {
    fn into_agent(self) -> Self {
        self
    }
}
