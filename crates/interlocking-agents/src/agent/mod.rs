//! The trait that every agent implements.

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
use crate::conversation::activity::{Activity, Working};
use crate::conversation::interrupt::Interrupt;
use crate::drivers::event_meter::EventMeter;
use crate::sessions::session::SessionId;
use crate::sessions::{SessionHold, Sessions};

/// A coding agent: it takes a prompt, reports events and returns an answer.
///
/// Implement this trait to add an agent. To *use* an agent, run a [`Conversation`](crate::Conversation) with it, which
/// holds the session, validates the output and asks for corrections. (Only a conversation can make the [`TurnContext`]
/// that [`run`](Self::run) takes, so no turn bypasses the session guard.)
///
/// Dropping the future that `run` returns cancels the turn; the agent then kills every process it started.
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

    /// Whether the turn's [sandbox](Turn::sandbox), if there is one, confines every program that the agent starts. An
    /// agent that starts no programs can return true as well. An agent that returns false is not used where a sandbox
    /// is required.
    fn confines(&self) -> bool {
        false
    }

    /// The directory in which the agent's programs keep sessions for a role, and can therefore read the other sessions
    /// kept there. It holds for a turn that continues or forks `session`, or that starts a fresh session if there is
    /// none. `None` means that the programs can read no sessions; this is the default.
    ///
    /// A node that is `blind_to` another node needs an agent that keeps the sessions of the two apart; otherwise a run
    /// does not start.
    fn session_store(&self, role: Option<&str>, session: Option<&SessionId>) -> Option<PathBuf> {
        let _ = (role, session);
        None
    }

    /// What the agent can do; everything by default.
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    /// Checks, before anything runs, whether the agent can work at all: whether its program is installed in a version
    /// that is known to work, and whether that version can do what the agent is configured to do. Costs no money.
    /// Called once before a run starts.
    ///
    /// # Errors
    ///
    /// [`Configuration`](crate::AgentErrorKind::Configuration) says what is missing or impossible, and what to do about
    /// it.
    async fn ready(&self) -> Result<(), AgentError> {
        Ok(())
    }

    /// Makes one call. The agent requests the turn's schema in the way that suits its model best: as the output as a
    /// whole, or as a call of one of its [decision tools](crate::Schema::decisions). The agent must call
    /// [`context.started`](TurnContext::started) as soon as it knows its session.
    async fn run(&self, context: &TurnContext<'_>, turn: &Turn) -> Result<Reply, AgentError>;
}

/// The environment of a running turn: its session, events and interruption.
pub struct TurnContext<'a> {
    pub(crate) hold: &'a SessionHold,
    pub(crate) events: &'a dyn AgentEvents,
    pub(crate) interrupt: &'a Interrupt,
    /// Interrupts this call alone, because it was idle for too long.
    pub(crate) idle: &'a Interrupt,
    pub(crate) activity: &'a Activity,
    pub(crate) meter: &'a EventMeter,
}

impl TurnContext<'_> {
    /// Announces that the session is known: marks it as in use, ties it to the workspace and reports
    /// [`AgentEvent::Started`].
    pub fn started(&self, session: &SessionId) -> Result<(), AgentError> {
        self.activity.record();
        self.hold.started(session)?;
        self.emit(AgentEvent::Started { session: session.clone() });
        Ok(())
    }

    /// Reports something the agent did, unless the call has already reported [too much](AgentEvent::MAX_EVENTS_PER_CALL).
    pub fn emit(&self, event: AgentEvent) {
        self.activity.record();
        if self.meter.admits(&event) {
            self.events.emit(event);
        }
    }

    /// The same turn with another receiver of events: for an agent that wraps another agent and observes, changes or
    /// suppresses its events.
    pub fn with_events<'b>(&'b self, events: &'b dyn AgentEvents) -> TurnContext<'b> {
        TurnContext { events, ..*self }
    }

    /// Announces that the agent is busy with something whose end it will notice, such as a command. While the returned
    /// guard lives, silence does not make the agent [idle](crate::Nudges::idle). Dropping the guard counts as activity.
    pub fn working(&self) -> Working<'_> {
        self.activity.start_work()
    }

    /// Resolves when the turn is to stop: it was [interrupted](Interrupt), or the agent was
    /// [idle](crate::Nudges::idle).
    pub async fn interrupted(&self) {
        tokio::select! {
            () = self.interrupt.requested() => {}
            () = self.idle.requested() => {}
        }
    }
}
