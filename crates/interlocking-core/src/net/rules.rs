//! The rules for a row that do not depend on where edges lead.

use super::names::Names;
use super::{NetError, quorum};
use crate::isolation::Isolation;
use crate::table::{NodeKind, NodeRow, Quorum, Visits};

/// Whether nodes of this kind take tokens of the run.
pub(super) fn takes_tokens(kind: NodeKind) -> bool {
    !matches!(kind, NodeKind::Advisory | NodeKind::Observer | NodeKind::Event)
}

/// Checks what each kind allows: which kinds take tokens, which are started beside the graph, which wait for messages.
pub(super) fn kinds(names: &Names<'_>) -> Result<(), NetError> {
    for row in &names.table.nodes {
        let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
        let leads_on = !row.goto.is_empty() || row.fork.is_some();
        match row.kind {
            kind if row.entry && (!takes_tokens(kind) || kind == NodeKind::Join) => {
                return wrong(
                    "a run starts with one token, which this kind of node does not take: enter elsewhere".into(),
                );
            }
            _ if row.visits == Some(Visits::AtMost(0)) || row.attempts == Some(0) => {
                return wrong("with a budget of 0 it never runs: the least is 1".into());
            }
            NodeKind::Join if row.attempts.is_some() => {
                return wrong("a join does not try again by itself: bound it with `visits`".into());
            }
            NodeKind::Join if row.slots.iter().all(|slot| slot.latched) => {
                return wrong("every slot is latched, so none would start a new round: free one".into());
            }
            NodeKind::Advisory | NodeKind::Observer if leads_on || row.routes().next().is_some() => {
                return wrong("it works beside the graph and leads nowhere: take its targets away".into());
            }
            NodeKind::Event if row.fork.is_some() || row.attempts.is_some() => {
                return wrong("a message redirects the run to one target: no fork, no attempts".into());
            }
            NodeKind::Event if row.timed_out.is_some() || row.failed.is_some() => {
                return wrong("it takes no token that could go elsewhere: no `timed_out`, no `failed`".into());
            }
            _ if row.timed_out.is_some() && row.timeout_ms.is_none() => {
                return wrong(
                    "it has no `timeout`, so it is never timed out: give it one, or take the route away".into(),
                );
            }
            NodeKind::Event if row.goto.iter().chain(row.routes()).any(|goto| goto.cancels.is_empty()) => {
                return wrong("a redirect takes the run from somewhere: say what it clears, `cancels(…)`".into());
            }
            _ if row.resume && row.kind != NodeKind::Event => {
                return wrong("only an event node, which takes no token, can leave the run as it is".into());
            }
            _ if row.transient && row.kind != NodeKind::Event => {
                return wrong("only an event node takes messages, and may lose some: take its `transient` away".into());
            }
            NodeKind::Event if row.transient && !leads_on && row.adds_to.is_empty() => {
                return wrong(
                    "the run never waits for it, so all its messages would be lost: lead somewhere, or take its \
                     `transient` away"
                        .into(),
                );
            }
            NodeKind::Event if !leads_on && !row.may_stay() => {
                return wrong("it leads nowhere: let it `resume`, or redirect the run by a `goto`".into());
            }
            kind if takes_tokens(kind) && !leads_on => {
                return wrong("it leads nowhere: say where it goes, by a `goto` or a `fork`".into());
            }
            _ => {}
        }
        if row.fork.as_ref().is_some_and(|fork| fork.branches.is_empty() || fork.branches.iter().any(Vec::is_empty)) {
            return wrong("its fork has no branches, or one without a target: each branch names where it goes".into());
        }
        let is_beside = matches!(row.kind, NodeKind::Advisory | NodeKind::Observer);
        if row.report.is_some() && !is_beside {
            return wrong("only an advisory node or an observer reports at the exit: take the report away".into());
        }
        if row.kind != NodeKind::Observer && !row.observes.is_empty() {
            return wrong("only an observer sees what other nodes do".into());
        }
        if row.kind != NodeKind::Map && row.adopt {
            return wrong("only a map node, which runs child graphs, adopts children".into());
        }
        if row.kind != NodeKind::Graph && row.graph.is_some() {
            return wrong("only a graph node runs a child graph once: take its `graph` away".into());
        }
        if row.depth == Some(0) || row.concurrency == Some(0) {
            return wrong("with a bound of 0 none of its children would run: the least is 1".into());
        }
        if let Some(name) = row.observes.iter().find(|name| names.row(name).is_none()) {
            return Err(NetError::Unknown { node: row.name.clone(), name: name.clone() });
        }
        quorum_of_children(row)?;
        additions(names, row)?;
        exclusive(names, row)?;
        quorum::fits(row)?;
        edges(row)?;
        sources(names, row)?;
        isolation(names, row)?;
        for target in row.targets().filter_map(|target| names.row(&target.node)) {
            if !takes_tokens(target.kind) {
                return wrong(format!("`{}` is no target: it takes no token of the run", target.name));
            }
        }
        for name in &row.spawn {
            match names.row(name) {
                None => return Err(NetError::Unknown { node: row.name.clone(), name: name.clone() }),
                Some(spawned) if spawned.kind == NodeKind::Advisory => {}
                Some(_) => return wrong(format!("it can spawn advisory nodes only, and `{name}` is none")),
            }
        }
    }
    Ok(())
}

/// Checks that a map waits for at least one of its children.
fn quorum_of_children(row: &NodeRow) -> Result<(), NetError> {
    if row.kind == NodeKind::Map && row.quorum == Some(Quorum::AtLeast(0)) {
        let reason = "with a quorum of 0 it would wait for none of its children: the least is 1".into();
        return Err(NetError::Unfit { node: row.name.clone(), reason });
    }
    Ok(())
}

/// Checks that only event nodes add items, and only to maps.
fn additions(names: &Names<'_>, row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    if row.kind != NodeKind::Event && !row.adds_to.is_empty() {
        return wrong("only an event node, which runs while a map does, adds items to it".into());
    }
    for name in &row.adds_to {
        match names.row(name) {
            None => return Err(NetError::Unknown { node: row.name.clone(), name: name.clone() }),
            Some(map) if map.kind == NodeKind::Map => {}
            Some(_) => return wrong(format!("it can add items to maps only, and `{name}` is none")),
        }
    }
    Ok(())
}

/// Checks `exclusive`: the name is held during one execution, and never while that execution waits for something that
/// may need the name. What a graph node's child may not do is checked where both tables are known.
fn exclusive(names: &Names<'_>, row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    match (row.kind, &row.exclusive) {
        (_, None) => Ok(()),
        (_, Some(name)) if name.is_empty() => wrong("`exclusive` names nothing: name what is not to overlap".into()),
        (NodeKind::Map, _) => wrong(
            "its children would each wait for the others' turn: say `exclusive` at a graph node, or at the nodes of the \
             child graph"
                .into(),
        ),
        (NodeKind::Graph, _) if row.graph.as_ref() == Some(&names.table.graph) => {
            wrong(
                "it runs its own graph, whose run would wait for the turn that its parent has: take its `exclusive` away"
                    .into(),
            )
        }
        (NodeKind::Human, _) => wrong(
            "it waits for a person, and what is exclusive is never held while waiting: take its `exclusive` away"
                .into(),
        ),
        (NodeKind::Observer, _) => wrong("it sees and reports, and no more: take its `exclusive` away".into()),
        _ => Ok(()),
    }
}

/// Checks what a row says of the budgets of its edges.
fn edges(row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    for goto in &row.goto {
        let to = &goto.to;
        match goto.times {
            None if goto.exhausted.is_some() => {
                return wrong(format!("its edge to `{to}` has no budget to exhaust: say `times`"));
            }
            Some(0) => return wrong(format!("with `times` of 0 its edge to `{to}` is never taken: the least is 1")),
            Some(_) if to.is_exit() => {
                return wrong("a run goes to `exit` once: take the budget of that edge away".into());
            }
            Some(_) if to.node == row.name && row.attempts.is_some() => {
                return wrong(
                    "its edge to itself has `attempts` already, and `times` would bound it twice: keep one".into(),
                );
            }
            _ => {}
        }
    }
    match row.routes().find(|route| route.times.is_some() || route.exhausted.is_some()) {
        Some(route) => wrong(format!("its route to `{}` is no edge that a handler takes: it has no budget", route.to)),
        None => Ok(()),
    }
}

/// Checks that each slot has sources, and that these are nodes with targets.
fn sources(names: &Names<'_>, row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    for slot in &row.slots {
        if slot.sources.is_empty() {
            return wrong(format!("slot `{}` is filled from nothing: name a node in its `sources`", slot.name));
        }
        for source in &slot.sources {
            match names.row(source) {
                None => return Err(NetError::Unknown { node: row.name.clone(), name: source.clone() }),
                Some(from) if matches!(from.kind, NodeKind::Advisory | NodeKind::Observer) => {
                    return wrong(format!(
                        "slot `{}` cannot be filled from `{source}`, which works beside the graph and leads nowhere",
                        slot.name
                    ));
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}

/// Checks what a row says of its isolation: the node has an agent and a workspace, the nodes in `blind_to` have other
/// workspaces, and the level hides these.
fn isolation(names: &Names<'_>, row: &NodeRow) -> Result<(), NetError> {
    let wrong = |reason: String| Err(NetError::Unfit { node: row.name.clone(), reason });
    let demands = row.isolation.is_some() || !row.blind_to.is_empty();
    if demands && !(row.is_prompted() && row.workspace.is_some()) {
        return wrong(
            "no agent works in a workspace here, so nothing is isolated: give it both, or demand nothing".into(),
        );
    }
    if !row.blind_to.is_empty() && row.isolation.unwrap_or_default() == Isolation::Worktree {
        return wrong("in a linked worktree nothing is hidden: to be blind takes `clone` or `sandbox`".into());
    }
    for name in &row.blind_to {
        let Some(other) = names.row(name) else {
            return Err(NetError::Unknown { node: row.name.clone(), name: name.clone() });
        };
        if other.workspace.is_none() || other.workspace == row.workspace {
            return wrong(format!("`{name}` works in no place of its own, so nothing of it can be hidden"));
        }
    }
    Ok(())
}
