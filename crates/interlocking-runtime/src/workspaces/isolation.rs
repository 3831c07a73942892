//! Whether a run can keep the isolation that its table demands, and what confines an agent's programs.
//!
//! **Invariant:** no agent works with less isolation than its node demands, unless the run was told to accept that, and then
//! the run reports it.

use crate::roles::Roles;
use crate::run::settings::Settings;
pub use crate::workspaces::isolation_offer::IsolationOffer;
pub use crate::workspaces::unkept::Unkept;
use crate::workspaces::{WorkspaceError, Workspaces};
use interlocking_agents::SessionOp;
use interlocking_core::net::Net;
use interlocking_core::table::{Isolation, NodeRow};
use interlocking_sandbox::{Protection, Sandbox};
use std::path::PathBuf;
use std::sync::Arc;

/// Whether a table demands a sandbox for any node.
pub(crate) fn demands_a_sandbox(net: &Net) -> bool {
    net.features().isolation && net.table().nodes.iter().any(|row| row.isolation == Some(Isolation::Sandbox))
}

/// The demands of a table that cannot be kept.
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

/// The nodes that this node is blind to although its own agent can read the sessions of their agents; each with the place of
/// the sessions.
fn readable_sessions<'t>(
    net: &'t Net,
    row: &'t NodeRow,
    roles: &'t Roles,
) -> impl Iterator<Item = (&'t str, PathBuf)> + 't {
    let own = session_store(row, roles);
    hidden_stores(net, row, roles).filter(move |(_, hidden)| {
        // If one directory contains the other, the sessions can be read, too.
        own.as_ref().is_some_and(|own| hidden.starts_with(own) || own.starts_with(hidden))
    })
}

/// Where the agents of the nodes that this node is blind to keep their sessions.
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

/// Refuses a turn in a session that the node's agent must not read: a session of a node that it is blind to.
///
/// # Errors
///
/// [`WorkspaceError::Unusable`], which names the node that the session belongs to.
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

/// The sandbox that confines the programs of a node's agent, if the node demands one.
///
/// # Errors
///
/// [`WorkspaceError::Unconfined`] where the workspace has no sandbox, although it offered one; [`WorkspaceError::Unusable`]
/// where the sandbox lets the agent read sessions that its node is blind to.
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
        // Weaker isolation is accepted, but what the machine can enforce is enforced all the same.
        (Some(sandbox), true) => Ok(Some(Arc::new(Protection::ALL.into_iter().fold(sandbox, Sandbox::accept_without)))),
        (None, true) => Ok(None),
        (None, false) => Err(WorkspaceError::Unconfined { workspace: workspace.clone() }),
    }
}
