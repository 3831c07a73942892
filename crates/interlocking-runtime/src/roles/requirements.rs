//! Whether every role that a graph asks for is played, by an agent that can do what the nodes need. This is checked before a
//! run starts.

use crate::roles::{Player, Roles};
use crate::run::start_error::StartError;
use interlocking_agents::{Agent, AgentError};
use interlocking_core::net::{Net, Nets};
use interlocking_core::table::NodeRow;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A role, and the nodes that ask for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestedRole {
    /// The role.
    pub role: String,
    /// The nodes, in the order of their tables: those of the graph itself, then those of its child graphs.
    pub nodes: Vec<RequestingNode>,
}

/// A node that asks for a role.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestingNode {
    /// The node.
    pub node: String,
    /// The node's graph, if that is a child graph of the run's graph.
    pub graph: Option<String>,
}

/// An agent that cannot do what a node needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incapable {
    /// The node.
    pub node: RequestingNode,
    /// The role that it asks for.
    pub role: String,
    /// [`Agent::name`].
    pub agent: String,
    /// What the node needs, and the agent cannot do.
    pub reason: String,
}

/// An agent that cannot work as it is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotReady {
    /// The roles that it plays.
    pub roles: Vec<String>,
    /// [`Agent::name`].
    pub agent: String,
    /// The agent's [error message](Agent::ready).
    pub reason: String,
}

/// The role that a node asks for, if it asks for one.
fn role(row: &NodeRow) -> Option<&str> {
    row.is_prompted().then(|| row.agent.as_ref().unwrap_or(&row.name).as_str())
}

/// Every node that asks for a role, with the role.
fn requesting_nodes(nets: &Nets) -> impl Iterator<Item = (&'static str, &'static NodeRow, RequestingNode)> + '_ {
    let root = nets.iter().next().map(std::ptr::from_ref);
    nets.iter().flat_map(move |net| {
        let graph = (root != Some(std::ptr::from_ref(net))).then(|| net.table().graph.clone());
        let rows = net.table().nodes.iter();
        rows.filter_map(move |row| {
            Some((role(row)?, row, RequestingNode { node: row.name.clone(), graph: graph.clone() }))
        })
    })
}

/// The roles that graphs ask for, each once.
pub(crate) fn requested_roles(nets: &Nets) -> Vec<RequestedRole> {
    let mut all: Vec<RequestedRole> = Vec::new();
    for (role, _, node) in requesting_nodes(nets) {
        match all.iter_mut().find(|known| known.role == role) {
            Some(known) => known.nodes.push(node),
            None => all.push(RequestedRole { role: role.to_owned(), nodes: vec![node] }),
        }
    }
    all
}

/// Checks that each role is played, by an agent that can do what its nodes need.
pub(crate) fn check(nets: &Nets, roles: &Roles) -> Result<(), StartError> {
    let unbound: Vec<RequestedRole> =
        requested_roles(nets).into_iter().filter(|requested| roles.player(&requested.role).is_none()).collect();
    if !unbound.is_empty() {
        return Err(StartError::UnboundRoles { unbound, bound: roles.lines() });
    }
    let incapable: Vec<Incapable> = requesting_nodes(nets)
        .filter_map(|(role, row, node)| {
            let player = roles.player(role)?;
            let reason = missing_capability(row, player)?;
            Some(Incapable { node, role: role.to_owned(), agent: player.agent.name().to_owned(), reason })
        })
        .collect();
    if incapable.is_empty() { Ok(()) } else { Err(StartError::IncapableAgents { incapable }) }
}

/// What a node needs and its agent cannot do, if there is something.
fn missing_capability(row: &NodeRow, player: &Player) -> Option<String> {
    let workspace = row.workspace.as_ref().filter(|_| !player.agent.capabilities().works)?;
    let does = if row.read_only { "read" } else { "change" };
    Some(format!("the node is there to {does} the files of workspace `{workspace}`, and the agent works with none"))
}

/// Asks every agent that a role of the graphs is bound to whether it can work, all at once.
pub(crate) async fn ask(nets: &Nets, roles: &Roles) -> Result<(), StartError> {
    let mut players: Vec<(Arc<dyn Agent>, Vec<String>)> = Vec::new();
    for RequestedRole { role, .. } in requested_roles(nets) {
        let Some(Player { agent, .. }) = roles.player(&role) else { continue };
        match players.iter_mut().find(|(known, _)| Arc::ptr_eq(known, agent)) {
            Some((_, roles)) => roles.push(role),
            None => players.push((agent.clone(), vec![role])),
        }
    }
    let answers = all_of(players.iter().map(|(agent, _)| agent.ready()).collect()).await;
    let refused: Vec<NotReady> = players
        .iter()
        .zip(answers)
        .filter_map(|((agent, roles), answer)| {
            let reason = answer.err()?.to_string();
            Some(NotReady { roles: roles.clone(), agent: agent.name().to_owned(), reason })
        })
        .collect();
    if refused.is_empty() { Ok(()) } else { Err(StartError::AgentsNotReady { refused }) }
}

type Answering<'a> = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send + 'a>>;

/// The answers, in the order of the questions. All are awaited in one task, because an agent that looks for its program only
/// waits for it, and does no work.
async fn all_of(mut asked: Vec<Answering<'_>>) -> Vec<Result<(), AgentError>> {
    let mut answers: Vec<Option<Result<(), AgentError>>> = asked.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (answer, asked) in answers.iter_mut().zip(&mut asked).filter(|(answer, _)| answer.is_none()) {
            if let Poll::Ready(said) = asked.as_mut().poll(context) {
                *answer = Some(said);
            }
        }
        if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}

/// The nets to check: for a run that is started those of its whole tree, and for a child run its own.
pub(crate) fn nets_of(net: &'static Net, depth: u32, all: impl FnOnce() -> Nets) -> Nets {
    if depth == 0 && net.features().maps {
        return all();
    }
    let mut nets = Nets::default();
    nets.add(net);
    nets
}

impl fmt::Display for RequestedRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, nodes } = self;
        let nodes: Vec<String> = nodes.iter().map(RequestingNode::to_string).collect();
        write!(f, "`{role}`, for {}", nodes.join(" and "))
    }
}

impl fmt::Display for RequestingNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}`", self.node)?;
        match &self.graph {
            Some(graph) => write!(f, " of child graph `{graph}`"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Incapable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, role, agent, reason } = self;
        write!(f, "`{agent}`, which plays `{role}`, for {node}: {reason}")
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { roles, agent, reason } = self;
        let roles: Vec<String> = roles.iter().map(|role| format!("`{role}`")).collect();
        write!(f, "`{agent}`, which plays {}: {reason}", roles.join(" and "))
    }
}

/// Lists the items, one line each.
pub(crate) fn lines(items: &[impl fmt::Display]) -> String {
    items.iter().map(|item| format!("\n  {item}")).collect()
}

/// The roles that are bound, for a message about roles that are not bound.
pub(crate) fn bound_lines(bound: &[String]) -> String {
    match bound {
        [] => "no role is bound".to_owned(),
        bound => format!("played are:{}", lines(bound)),
    }
}
