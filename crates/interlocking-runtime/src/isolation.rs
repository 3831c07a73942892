//! Whether what a table demands of isolation can be kept where a run is, and what keeps an agent's programs.
//!
//! **Invariant:** no agent works less apart than its node demands, unless the run was told to go on without, and then it
//! says so.

use crate::event::EventKind;
use crate::roles::Roles;
use crate::services::Backstage;
use crate::settings::Settings;
use crate::workspaces::{WorkspaceError, Workspaces};
use interlocking_agents::SessionOp;
use interlocking_core::net::Net;
use interlocking_core::table::{Isolation, NodeRow};
use interlocking_sandbox::{Protection, Sandbox, Support};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// How far a place keeps an agent, on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsolationOffer {
    /// The strongest level that holds.
    pub level: Isolation,
    /// What the next one lacks: "the kernel has no Landlock". For a message.
    pub lacks: Option<String>,
}

/// A node whose demand cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unkept {
    /// The node.
    pub node: String,
    /// Its workspace.
    pub workspace: String,
    /// What it demands.
    pub demanded: Isolation,
    /// The nodes that it is to be blind to.
    pub blind_to: Vec<String>,
    /// What there is.
    pub given: Isolation,
    /// Why there is no more.
    pub reason: String,
}

impl IsolationOffer {
    /// A place that gives so much, and was never meant to give more.
    pub fn of(level: Isolation) -> Self {
        Self { level, lacks: None }
    }

    /// A place whose agents are confined by `sandbox`, if this machine enforces all of it; otherwise it gives `without`.
    pub fn sandboxed(sandbox: &Sandbox, without: Isolation) -> Self {
        Self::sandboxed_on(sandbox, without, Support::of_this_system())
    }

    /// The same on a machine that enforces so much.
    pub fn sandboxed_on(sandbox: &Sandbox, without: Isolation, support: &Support) -> Self {
        let missing: Vec<String> = sandbox.missing_on(support).iter().map(ToString::to_string).collect();
        if missing.is_empty() {
            return Self::of(Isolation::Sandbox);
        }
        let lacks =
            format!("this machine cannot keep a program from {}: {}", missing.join(", "), support.explanation());
        Self { level: without.min(Isolation::Clone), lacks: Some(lacks) }
    }
}

/// What cannot be kept of a table's demands.
pub(crate) fn unkept(net: &Net, workspaces: &dyn Workspaces, roles: &Roles) -> Vec<Unkept> {
    let mut unkept = Vec::new();
    for row in &net.table().nodes {
        let (Some(demanded), Some(workspace)) = (row.isolation, &row.workspace) else { continue };
        let miss = |given, reason| Unkept {
            node: row.name.clone(),
            workspace: workspace.clone(),
            demanded,
            blind_to: row.blind_to.clone(),
            given,
            reason,
        };
        let offer = workspaces.isolation(workspace);
        if offer.level < demanded {
            let reason = offer.lacks.unwrap_or_else(|| "the run's workspaces give no more".to_owned());
            unkept.push(miss(offer.level, reason));
        } else if demanded == Isolation::Sandbox
            && let role = row.agent.as_ref().unwrap_or(&row.name)
            && let Some(player) = roles.player(role)
            && !player.agent.confines()
        {
            let name = player.agent.name();
            let reason =
                format!("the agent `{name}`, which plays `{role}`, does not confine the programs that it starts");
            unkept.push(miss(Isolation::Clone, reason));
        } else if let Some((hidden, store)) = readable_sessions(net, row, roles).next() {
            let reason = format!(
                "its agent can read what `{hidden}` was told and has said, in {}: let them play different roles, and with a key \
                 of their own in place of a login that they share",
                store.display()
            );
            unkept.push(miss(Isolation::Worktree, reason));
        }
    }
    unkept
}

/// The nodes that this one is blind to, and whose agents' sessions its own agent can read all the same; with where they are.
fn readable_sessions<'t>(
    net: &'t Net,
    row: &'t NodeRow,
    roles: &'t Roles,
) -> impl Iterator<Item = (&'t str, PathBuf)> + 't {
    let own = session_store(row, roles);
    hidden_stores(net, row, roles).filter(move |(_, hidden)| {
        // One within the other can be read, too.
        own.as_ref().is_some_and(|own| hidden.starts_with(own) || own.starts_with(hidden))
    })
}

/// Where the agents of the nodes that this one is blind to keep their sessions.
fn hidden_stores<'t>(
    net: &'t Net,
    row: &'t NodeRow,
    roles: &'t Roles,
) -> impl Iterator<Item = (&'t str, PathBuf)> + 't {
    let hidden = |name: &'t String| net.table().nodes.iter().find(|row| row.name == *name);
    let named = row.blind_to.iter().filter_map(hidden);
    named.filter_map(|row| Some((row.name.as_str(), session_store(row, roles)?)))
}

fn session_store(row: &NodeRow, roles: &Roles) -> Option<PathBuf> {
    let role = row.agent.as_ref().unwrap_or(&row.name);
    roles.player(role)?.agent.session_store(Some(role), None)
}

/// Refuses a turn in a session that its agent must not read: one of a node that its own is blind to.
///
/// # Errors
///
/// [`WorkspaceError::Unusable`], which says whose it is.
pub(crate) fn refuse_hidden(
    settings: &Settings,
    net: &Net,
    row: &NodeRow,
    session: &SessionOp,
) -> Result<(), WorkspaceError> {
    let options = settings.options();
    let Some(origin) = session.origin().filter(|_| !row.blind_to.is_empty() && !options.accepts_weaker_isolation)
    else {
        return Ok(());
    };
    let role = row.agent.as_ref().unwrap_or(&row.name);
    let Some(player) = options.roles.player(role) else { return Ok(()) };
    let store = player.agent.session_store(Some(role), Some(origin));
    match hidden_stores(net, row, &options.roles).find(|(_, hidden)| store.as_ref() == Some(hidden)) {
        None => Ok(()),
        Some((hidden, _)) => Err(WorkspaceError::Unusable {
            reason: format!(
                "node `{}` is to go on with session `{origin}`, which is one of `{hidden}`'s, which it is blind to: \
                 start a fresh session",
                row.name
            ),
        }),
    }
}

/// Tells what isolation a run goes without; there is some only where it was told to go on.
#[cold]
pub(crate) fn tell(backstage: &Backstage) {
    let options = backstage.settings.options();
    for unkept in unkept(backstage.net, &*options.workspaces, &options.roles) {
        tracing::warn!(run = %backstage.run(), "going on with less isolation than demanded: {unkept}");
        backstage.emit(|| EventKind::IsolationUnkept(Box::new(unkept)));
    }
}

/// What confines the programs of a node's agent, if the node demands that.
///
/// # Errors
///
/// [`WorkspaceError::Unconfined`] where the place has nothing to confine them with, although it said that it had;
/// [`WorkspaceError::Unusable`] where that lets the agent read sessions that its node is blind to.
pub(crate) fn sandbox(settings: &Settings, net: &Net, row: &NodeRow) -> Result<Option<Arc<Sandbox>>, WorkspaceError> {
    let (Some(Isolation::Sandbox), Some(workspace)) = (row.isolation, &row.workspace) else { return Ok(None) };
    let options = settings.options();
    match (options.workspaces.sandbox(workspace)?, options.accepts_weaker_isolation) {
        (Some(sandbox), false) => {
            match hidden_stores(net, row, &options.roles).find(|(_, store)| sandbox.reaches(store)) {
                None => Ok(Some(Arc::new(sandbox))),
                Some((hidden, store)) => Err(WorkspaceError::Unusable {
                    reason: format!(
                        "the sandbox of `{workspace}` reaches {}, where the sessions of `{hidden}` are, which `{}` is blind to: \
                     grant it its own role's alone",
                        store.display(),
                        row.name
                    ),
                }),
            }
        }
        // What the machine can enforce is enforced all the same.
        (Some(sandbox), true) => Ok(Some(Arc::new(Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without)))),
        (None, true) => Ok(None),
        (None, false) => Err(WorkspaceError::Unconfined { workspace: workspace.clone() }),
    }
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, workspace, demanded, blind_to, given, reason } = self;
        write!(f, "node `{node}` demands a {demanded} for its workspace `{workspace}`")?;
        if !blind_to.is_empty() {
            let names: Vec<String> = blind_to.iter().map(|name| format!("`{name}`")).collect();
            write!(f, ", being blind to {}", names.join(" and "))?;
        }
        write!(f, ", and there is a {given}: {reason}")
    }
}

/// One line each.
pub(crate) fn lines(unkept: &[Unkept]) -> String {
    unkept.iter().map(|unkept| format!("\n  {unkept}")).collect()
}
