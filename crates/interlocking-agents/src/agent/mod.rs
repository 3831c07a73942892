//! The one trait that every agent implements.

pub(crate) mod capabilities;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod into_agent;
pub(crate) mod turn;
pub(crate) mod usage;

use std::path::PathBuf;

use async_trait::async_trait;

use crate::agent::capabilities::Capabilities;
use crate::agent::error::AgentError;
use crate::agent::event::{AgentEvent, AgentEvents};
use crate::agent::turn::{Reply, Turn};
use crate::conversation::interrupt::Interrupt;
use crate::conversation::pulse::{Pulse, Working};
use crate::drivers::event_meter::EventMeter;
use crate::sessions::session::SessionId;
use crate::sessions::{SessionHold, Sessions};

/// A coding agent: a prompt in, events out, an answer at the end.
///
/// Implement this; to *use* an agent, run a [`Conversation`](crate::Conversation) with it, which holds the session,
/// validates the output and asks for corrections. (Only a conversation can make the [`TurnContext`] that
/// [`run`](Self::run) wants, so no turn gets past the session guard.)
///
/// Dropping the future that `run` returns cancels the turn; an agent then kills every process it started.
///
/// ```
/// use async_trait::async_trait;
/// use interlocking_agents::{Agent, AgentError, Reply, SessionId, Sessions, Turn, TurnContext, Usage};
///
/// /// Says what it was asked, and answers nothing.
/// struct Echo {
///     sessions: Sessions,
///     session: SessionId,
/// }
///
/// #[async_trait]
/// impl Agent for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     fn sessions(&self) -> &Sessions {
///         &self.sessions
///     }
///
///     async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError> {
///         // A real one begins, goes on with or forks the session that `turn.session` says.
///         context.started(&self.session)?;
///         let mut reply = Reply::new(self.session.clone(), Usage::default());
///         reply.text = Some(turn.prompt.clone());
///         Ok(reply)
///     }
/// }
/// ```
#[async_trait]
pub trait Agent: Send + Sync {
    /// The kind of agent, such as `scripted`; for messages and the ledger.
    fn name(&self) -> &str;

    /// The registry of this agent's sessions.
    fn sessions(&self) -> &Sessions;

    /// Whether every program that it starts is confined by the turn's [sandbox](Turn::sandbox), if there is one. An agent that
    /// starts none can say so, too. One that does not is not asked to work where a sandbox is demanded.
    fn confines(&self) -> bool {
        false
    }

    /// Where the programs that it starts for a role keep sessions, and so can read those that are kept there: in a turn that begins in
    /// `session`, or forks it, or in one of a fresh session. None if they can read none, which is what an agent says that does not
    /// know better.
    ///
    /// A node that is `blind_to` another needs an agent that keeps the sessions of the two apart: otherwise a run does not start.
    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        let _ = (role, session);
        None
    }

    /// What it can do; everything, unless it says otherwise.
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    /// Looks whether it can work at all, before anything runs: whether its program is there and of a version that is known to
    /// work, and whether that can do what the agent was set up to do. Costs no money. Asked once before a run starts.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration): what is missing or cannot be done, and what to do.
    async fn ready(&self) -> Result<(), AgentError> {
        Ok(())
    }

    /// Makes one call. It asks for the turn's schema as its model does best: for the output as a whole, or for a call of
    /// one of its [decision tools](crate::Schema::decisions). As soon as it knows its session it says [`context.started`](TurnContext::started).
    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError>;
}

/// What a running turn has around it.
pub struct TurnContext<'a> {
    pub(crate) hold: &'a SessionHold,
    pub(crate) events: &'a dyn AgentEvents,
    pub(crate) interrupt: &'a Interrupt,
    /// Of this call alone: it was idle for too long.
    pub(crate) idle: &'a Interrupt,
    pub(crate) pulse: &'a Pulse,
    pub(crate) meter: &'a EventMeter,
}

impl TurnContext<'_> {
    /// The session is known: marks it as in use, ties it to the workspace, reports [`AgentEvent::Started`].
    pub fn started(&self, session: &SessionId) -> Result<(), AgentError> {
        self.pulse.beat();
        self.hold.started(session)?;
        self.emit(AgentEvent::Started { session: session.clone() });
        Ok(())
    }

    /// Reports something the agent did, unless there was [too much](AgentEvent::MOST_OF_A_CALL) already.
    pub fn emit(&self, event: AgentEvent) {
        self.pulse.beat();
        if self.meter.admits(&event) {
            self.events.emit(event);
        }
    }

    /// The same turn with other ears: for an agent that wraps another one and wants to hear, change or keep back its
    /// events.
    pub fn with_events<'b>(&'b self, events: &'b dyn AgentEvents) -> TurnContext<'b> {
        TurnContext { events, ..*self }
    }

    /// Says that the agent works on something of its own, such as a command, of which it will see the end. While what this
    /// returns lives, silence does not make it [idle](crate::Nudges::idle); its end is a sign of life.
    pub fn working(&self) -> Working<'_> {
        self.pulse.work()
    }

    /// Resolves when the turn shall end by itself: somebody [interrupts](Interrupt) it, or the agent was
    /// [idle](crate::Nudges::idle).
    pub async fn interrupted(&self) {
        tokio::select! {
            () = self.interrupt.requested() => {}
            () = self.idle.requested() => {}
        }
    }
}
