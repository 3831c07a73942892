//! A run: its settings, and its start.

use crate::cancel::Cancel;
use crate::clock::{Clock, CoarseClock};
use crate::driver::Driver;
use crate::event::{EventKind, EventSink};
use crate::journal::{Journal, JournalError, MemoryJournal};
use crate::outcome::Report;
use crate::roles::{Player, Roles};
use crate::services::{Backstage, RunServices, memories};
use crate::workspaces::{Directories, Workspaces};
use interlocking_agents::Agent;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use serde::Deserialize;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// A run of a graph, to be started.
///
/// Nothing is required but the graph, and an agent for every role that its table names.
pub struct Run<G: Graph> {
    graph: Arc<G>,
    id: Option<RunId>,
    roles: Roles,
    workspaces: Arc<dyn Workspaces>,
    journal: Option<Arc<dyn Journal>>,
    sink: Option<Arc<dyn EventSink>>,
    cancel: Cancel,
    clock: Arc<dyn Clock>,
}

/// Why a run did not start. Nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The table names roles that no agent plays.
    #[error(
        "no agent plays {}: bind one with `with_agent`, or all others with `with_agent_for_others`",
        roles(unbound)
    )]
    UnboundRoles {
        /// The roles, each with the first node that names it.
        unbound: Vec<(String, String)>,
    },
    /// The entry value cannot be stored.
    #[error(transparent)]
    Entry(#[from] JournalError),
}

impl<G: Graph> Run<G> {
    /// A run of `graph` with a journal in memory, and no agents, workspaces or observers.
    pub fn new(graph: G) -> Self {
        Self::shared(Arc::new(graph))
    }

    /// The same for a graph that several runs share.
    pub fn shared(graph: Arc<G>) -> Self {
        Self {
            graph,
            id: None,
            roles: Roles::new(),
            workspaces: Arc::new(Directories::new()),
            journal: Some(Arc::new(MemoryJournal::new())),
            sink: None,
            cancel: Cancel::new(),
            clock: Arc::new(CoarseClock),
        }
    }

    /// Names the run. Without a name it is `run`, which is enough for a journal that holds no other.
    #[must_use]
    pub fn with_id(mut self, id: RunId) -> Self {
        self.id = Some(id);
        self
    }

    /// Lets `agent` play `role`.
    #[must_use]
    pub fn with_agent(mut self, role: impl Into<String>, agent: Arc<dyn Agent>) -> Self {
        self.roles.bind(role, Player::new(agent));
        self
    }

    /// Lets `agent` play every role that nobody else plays.
    #[must_use]
    pub fn with_agent_for_others(mut self, agent: Arc<dyn Agent>) -> Self {
        self.roles.bind_others(Player::new(agent));
        self
    }

    /// Replaces all bindings of roles.
    #[must_use]
    pub fn with_roles(mut self, roles: Roles) -> Self {
        self.roles = roles;
        self
    }

    /// Says where the named workspaces are.
    #[must_use]
    pub fn with_workspaces(mut self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.workspaces = workspaces;
        self
    }

    /// Records the run in `journal`.
    #[must_use]
    pub fn with_journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Records nothing. Handlers then cannot ask for the inputs of other nodes, and the run cannot be resumed.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        self.journal = None;
        self
    }

    /// Tells `sink` what happens.
    #[must_use]
    pub fn with_events(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Stops the run when `cancel` is requested.
    #[must_use]
    pub fn with_cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Tells the time by `clock`; a [`TokioClock`](crate::clock::TokioClock) for tests with paused time.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Runs the graph from `entry` to its end.
    ///
    /// Dropping the future stops the run where it stands: nodes that wait are dropped, and agents kill what they started.
    ///
    /// # Errors
    ///
    /// [`StartError`] where the run lacks something that the table names: nothing was done then. What goes wrong later is
    /// in the report's [`Outcome`](crate::Outcome).
    pub async fn start(self, entry: G::Entry) -> Result<Report<G::Output>, StartError> {
        self.check_roles()?;
        let net = G::net();
        let run = self.id.unwrap_or_else(default_id);
        let encoded = serde_json::to_string(&entry).map_err(|error| unreadable(&error))?;
        // One copy goes to the entry node and one is kept for every handler that asks: read back, so that a value which
        // does not survive its own serialization is found now and not at a resume.
        let kept = G::Entry::deserialize(&mut serde_json::Deserializer::from_str(&encoded))
            .map_err(|error| unreadable(&error))?;
        let inputs = self.journal.is_some().then(|| vec![None; net.places().len()].into());
        let services = RunServices::<G> {
            backstage: Backstage::new(run.clone(), net, self.roles, self.sink, self.clock),
            entry: kept,
            inputs,
            memories: memories::<G>(),
            workspaces: self.workspaces,
        };
        let graph = net.table().graph.as_str();
        services.backstage.emit(|| EventKind::RunStarted { run: run.clone(), graph });
        let entry_record = self.journal.is_some().then(|| encoded.into());
        let driver = Driver::new(self.graph, services, G::enter(entry), self.journal, self.cancel);
        let shared = driver.shared();
        let (outcome, visits) = driver.run(entry_record).await;
        let backstage = &shared.services.backstage;
        Ok(Report { run, outcome, ledger: backstage.ledger(), visits, took: backstage.now() })
    }

    fn check_roles(&self) -> Result<(), StartError> {
        let mut unbound: Vec<(String, String)> = Vec::new();
        for row in G::net().table().nodes.iter().filter(|row| row.kind == NodeKind::Llm) {
            let role = row.agent.as_ref().unwrap_or(&row.name);
            if self.roles.player(role).is_none() && unbound.iter().all(|(known, _)| known != role) {
                unbound.push((role.clone(), row.name.clone()));
            }
        }
        if unbound.is_empty() { Ok(()) } else { Err(StartError::UnboundRoles { unbound }) }
    }
}

impl<G: Graph> fmt::Debug for Run<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = &G::net().table().graph;
        f.debug_struct("Run").field("graph", graph).field("id", &self.id).field("roles", &self.roles).finish()
    }
}

#[expect(clippy::expect_used, reason = "a constant that is a run id")]
fn default_id() -> RunId {
    "run".parse().expect("`run` is a run id")
}

fn unreadable(error: &serde_json::Error) -> JournalError {
    JournalError::Encoding { what: "the entry value".to_owned(), reason: error.to_string() }
}

fn roles(unbound: &[(String, String)]) -> String {
    let named: Vec<_> = unbound.iter().map(|(role, node)| format!("role `{role}` (node `{node}`)")).collect();
    named.join(" or ")
}
