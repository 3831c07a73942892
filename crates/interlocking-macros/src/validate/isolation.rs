//! Isolation: which agents are confined to their workspace, and to which nodes they are blind.

use super::questions::{are_distinct, instead};
use crate::ast::GraphModel;
use crate::errors::Errors;
use interlocking_core::table::Isolation;
use syn::ext::IdentExt;

/// A node with an isolation must have an agent and a workspace.
pub(super) fn isolation_has_an_agent(graph: &GraphModel<'_>, errors: &Errors) {
    for node in &graph.nodes {
        let (name, attributes) = (&node.name, &node.attributes);
        let keys = [
            attributes.isolation.as_ref().map(|isolation| &isolation.key),
            attributes.blind_to.as_ref().map(|blind_to| &blind_to.key),
        ];
        let Some(key) = keys.into_iter().flatten().next() else { continue };
        if node.workspace().is_none() && !node.unparsed.may_include("workspace") {
            errors.over(key, format_args!("`{name}` has no workspace to be kept in: `workspace = \"name\"`"));
        }
        let may_ask = node.unparsed.may_include("prompt")
            || node.unparsed.may_include("output")
            || node.unparsed.may_include("agent");
        // Kinds that never have an agent are reported by another rule.
        if node.is_beside() && !node.asks_an_agent() && !may_ask {
            let message = format!(
                "no agent works in `{name}`, so no agent is kept in its workspace: give it one, `prompt = Template<'_>`, or take `{key}` away"
            );
            errors.over(key, message);
        }
    }
}

/// All nodes that work in one workspace have the same isolation.
pub(super) fn a_workspace_has_one_isolation(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let (Some(own), Some(workspace)) = (&node.attributes.isolation, node.workspace()) else { continue };
        let earlier = graph.nodes[..index].iter().filter(|other| other.workspace() == Some(workspace));
        let first = earlier.filter_map(|other| Some((other, other.attributes.isolation.as_ref()?))).next();
        if let Some((other, held)) = first.filter(|(_, held)| held.value != own.value) {
            let message = format!(
                "workspace `{workspace}` is a `{}` at `{}`: a place has one isolation, whoever works there",
                held.value, other.name
            );
            errors.at(own.at, message);
        }
    }
}

/// A `blind_to` needs more than a worktree: all worktrees of a repository share one object store, so git can show the
/// commits of all.
pub(super) fn a_worktree_hides_nothing(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        let Some(blind_to) = &node.attributes.blind_to else { continue };
        let name = &node.name;
        if let Some(own) = &node.attributes.isolation {
            if own.value == Isolation::Worktree {
                let message = format!(
                    "`{name}` is blind, and a worktree hides nothing: its git shows what the others commit; write \"clone\" or \"sandbox\""
                );
                errors.at(own.at, message);
            }
        } else if graph.isolation(index) == Some(Isolation::Worktree) && !node.unparsed.may_include("isolation") {
            let workspace = node.workspace().unwrap_or_default();
            let message = format!(
                "`{name}` is blind, and its workspace `{workspace}` is a worktree, which hides nothing: make it a \"clone\" or a \"sandbox\""
            );
            errors.over(&blind_to.key, message);
        }
    }
}

/// A node can be blind only to nodes that work in another workspace.
pub(super) fn blind_to_names_other_workspaces(graph: &GraphModel<'_>, errors: &Errors) {
    for (index, node) in graph.nodes.iter().enumerate() {
        are_distinct(&node.attributes.blind_to, errors);
        for name in node.blind_to() {
            let hidden = name.unraw().to_string();
            let Some(found) = graph.find(name) else {
                errors.over(name, format_args!("no node is called `{hidden}`: {}", instead(graph, &hidden, false)));
                continue;
            };
            let other = &graph.nodes[found];
            if found == index {
                errors.over(name, format_args!("`{hidden}` cannot be blind to itself: name the nodes it must not see"));
            } else if other.unparsed.may_include("workspace") {
                // Reported already.
            } else if other.workspace().is_none() {
                let message = format!("`{hidden}` has no workspace, so there is nothing of it to be blind to");
                errors.over(name, message);
            } else if other.workspace() == node.workspace() {
                let message = format!(
                    "`{hidden}` works in the same workspace, `{}`: give one of the two another",
                    other.workspace().unwrap_or_default()
                );
                errors.over(name, message);
            }
        }
    }
}
