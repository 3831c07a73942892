//! The one trait that every agent implements.

use async_trait::async_trait;

use crate::error::AgentError;
use crate::event::{AgentEvent, AgentEvents};
use crate::interrupt::Interrupt;
use crate::session::SessionId;
use crate::sessions::{SessionHold, Sessions};
use crate::turn::{Reply, Turn};

/// A coding agent: a prompt in, events out, an answer at the end.
///
/// Implement this; to *use* an agent, run a [`Conversation`](crate::Conversation) with it, which holds the session,
/// validates the output and asks for corrections. (Only a conversation can make the [`TurnContext`] that
/// [`run`](Self::run) wants, so no turn gets past the session guard.)
///
/// Dropping the future that `run` returns cancels the turn; an agent then kills every process it started.
#[async_trait]
pub trait Agent: Send + Sync {
    /// The kind of agent, such as `scripted`; for messages and the ledger.
    fn name(&self) -> &str;

    /// The registry of this agent's sessions.
    fn sessions(&self) -> &Sessions;

    /// Makes one call. It asks for the turn's schema as its model does best: for the output as a whole, or for a call of
    /// one of its [decision tools](crate::Schema::decisions). As soon as it knows its session it says [`context.started`](TurnContext::started).
    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError>;
}

/// What a running turn has around it.
pub struct TurnContext<'a> {
    pub(crate) hold: &'a SessionHold,
    pub(crate) events: &'a dyn AgentEvents,
    pub(crate) interrupt: &'a Interrupt,
}

impl TurnContext<'_> {
    /// The session is known: marks it as in use, ties it to the workspace, reports [`AgentEvent::Started`].
    pub fn started(&self, session: &SessionId) -> Result<(), AgentError> {
        self.hold.started(session)?;
        self.events.emit(AgentEvent::Started { session: session.clone() });
        Ok(())
    }

    /// Reports something the agent did.
    pub fn emit(&self, event: AgentEvent) {
        self.events.emit(event);
    }

    /// The same turn with other ears: for an agent that wraps another one and wants to hear, change or keep back its
    /// events.
    pub fn with_events<'b>(&'b self, events: &'b dyn AgentEvents) -> TurnContext<'b> {
        TurnContext { hold: self.hold, events, interrupt: self.interrupt }
    }

    /// Resolves when the turn shall end by itself; see [`Interrupt`].
    pub async fn interrupted(&self) {
        self.interrupt.requested().await;
    }
}
