//! Which agent plays which role.

pub mod requirements;

use crate::roles::requirements::requested_roles;
use crate::run::start_error::StartError;
use interlocking_agents::backends::{RoleBinding, RoleBindings, RoleBindingsError};
use interlocking_agents::{Agent, LostSession, Nudges};
use interlocking_core::graph::Graph;
use interlocking_core::net::Nets;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The agents of a run, by the role that nodes ask for with `agent = "role"`.
#[derive(Clone, Default)]
pub struct Roles {
    bound: HashMap<String, Player>,
    otherwise: Option<Player>,
}

/// An agent, and the model that it is to use.
#[derive(Clone)]
pub struct Player {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The model in the agent's own naming. If absent, the model that the node names, and if that is absent too, the agent's
    /// default.
    pub model: Option<String>,
    /// When the agent is reminded to decide. If absent, the run's setting applies.
    pub nudges: Option<Nudges>,
    /// What happens to a turn whose session the agent has lost. If absent, the run's setting applies.
    pub lost_session: Option<LostSession>,
}

impl Roles {
    /// Binds no role.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds every role to this agent.
    pub fn all(agent: Arc<dyn Agent>) -> Self {
        let mut roles = Self::new();
        roles.bind_others(Player::new(agent));
        roles
    }

    /// Binds a role.
    pub fn bind(&mut self, role: impl Into<String>, player: Player) {
        self.bound.insert(role.into(), player);
    }

    /// Binds every role that is not bound by name.
    pub fn bind_others(&mut self, player: Player) {
        self.otherwise = Some(player);
    }

    /// Binds the roles of `G`, and of its child graphs, as `bindings` says. A role that `bindings` does not mention keeps its
    /// player. Only agents that some role needs are made.
    ///
    /// # Errors
    ///
    /// [`RoleBindingsError`] with everything that is wrong with `bindings`, including roles that the graph does not have;
    /// nothing is bound then.
    pub fn bind_all<G: Graph>(&mut self, bindings: &RoleBindings) -> Result<(), RoleBindingsError> {
        let requested = requested_roles(&Nets::of::<G>());
        let bound = bindings.bind(requested.iter().map(|requested| requested.role.as_str()))?;
        for RoleBinding { role, agent, model, nudges, lost_session, .. } in bound {
            self.bind(role, Player { agent, model, nudges, lost_session });
        }
        Ok(())
    }

    /// Checks that every role of `G`, and of its child graphs, is played by an agent that can do what its nodes need, and that
    /// can work here. A run checks the same when it starts; this is for a program that has much to do before that.
    ///
    /// # Errors
    ///
    /// [`StartError::UnboundRoles`], [`StartError::IncapableAgents`] or [`StartError::AgentsNotReady`].
    pub async fn check<G: Graph>(&self) -> Result<(), StartError> {
        let nets = Nets::of::<G>();
        requirements::check(&nets, self)?;
        requirements::ask(&nets, self).await
    }

    /// The roles that are bound, by name, each with its player; then the player of all other roles, if there is one.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines: Vec<_> = self.bound.iter().map(|(role, player)| format!("`{role}` by {player}")).collect();
        lines.sort();
        lines.extend(self.otherwise.iter().map(|player| format!("all others by {player}")));
        lines
    }

    /// The player of `role`.
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

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.agent.name())?;
        match &self.model {
            Some(model) => write!(f, " with model `{model}`"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound: Vec<_> = self.bound.iter().map(|(role, player)| (role, player.agent.name())).collect();
        f.debug_struct("Roles").field("bound", &bound).field("otherwise", &self.otherwise.is_some()).finish()
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("agent", &self.agent.name()).field("model", &self.model).finish()
    }
}
