//! Which agent plays which role.

use interlocking_agents::{Agent, LostSession, Nudges};
use std::collections::HashMap;
use std::sync::Arc;

/// The agents of a run, by the role that nodes ask for with `agent = "role"`.
#[derive(Clone, Default)]
pub struct Roles {
    bound: HashMap<String, Player>,
    otherwise: Option<Player>,
}

/// An agent, and the model it shall use.
#[derive(Clone)]
pub struct Player {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The model in the agent's own naming; its default when absent.
    pub model: Option<String>,
    /// When the agent is reminded to decide; as its run says when absent.
    pub nudges: Option<Nudges>,
    /// What becomes of a turn whose session the agent has lost; as its run says when absent.
    pub lost_session: Option<LostSession>,
}

impl Roles {
    /// No role is bound.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a role.
    pub fn bind(&mut self, role: impl Into<String>, player: Player) {
        self.bound.insert(role.into(), player);
    }

    /// Binds every role that is not bound by name.
    pub fn bind_others(&mut self, player: Player) {
        self.otherwise = Some(player);
    }

    /// Who plays `role`.
    pub fn player(&self, role: &str) -> Option<&Player> {
        self.bound.get(role).or(self.otherwise.as_ref())
    }
}

impl Player {
    /// An agent with its default model.
    pub fn new(agent: Arc<dyn Agent>) -> Self {
        Self { agent, model: None, nudges: None, lost_session: None }
    }
}

impl std::fmt::Debug for Roles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound: Vec<_> = self.bound.iter().map(|(role, player)| (role, player.agent.name())).collect();
        f.debug_struct("Roles").field("bound", &bound).field("otherwise", &self.otherwise.is_some()).finish()
    }
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Player").field("agent", &self.agent.name()).field("model", &self.model).finish()
    }
}
