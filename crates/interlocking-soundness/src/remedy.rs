//! What to do about a broken rule, in words: a hint from the path, not a proof that the graph is sound then.

use crate::trace::quoted;
use crate::verdict::{Rule, Step};
use interlocking_core::net::Net;
use interlocking_core::table::NodeKind;
use std::collections::HashSet;

pub(crate) fn of(net: &Net, rule: &Rule, path: &[Step]) -> String {
    match rule {
        Rule::DoubleToken { from, place } => double_token(from, place, path),
        Rule::LiveAtExit { from, .. } => {
            format!("join the branches before the exit, or let `{from}` end them: `goto(exit, cancels(*))`")
        }
        Rule::StarvedJoin { join, missing } => starved(net, join, missing, path),
        Rule::Deadlock { joins, missing } => {
            format!("let what fills {} come on every way to {}", quoted(missing), quoted(joins))
        }
        Rule::UnboundedCycle { nodes } => {
            let which = if nodes.len() == 1 { "it" } else { "one of them" };
            format!("bound {which}: `visits = 3`; or say that it may go on for ever: `visits = unbounded`")
        }
        Rule::NeverRuns { node } => never_runs(net, node),
        Rule::ExitUnreachable => "let a node that runs go to `exit`".to_owned(),
        Rule::NoWayOut { nodes } => format!("let one of {} lead on to `exit`, or give it a budget", quoted(nodes)),
    }
}

fn double_token(from: &str, place: &str, path: &[Step]) -> String {
    let targets = path.last().map_or(&[][..], |step| &step.to);
    if targets.iter().filter(|to| *to == place).count() > 1 {
        return format!("two branches of `{from}` go to `{place}`: give each a place of its own");
    }
    let how = if targets.len() > 1 {
        format!("fork(…, cancels({place}))")
    } else {
        format!("goto({place}, cancels({place}))")
    };
    format!(
        "let `{from}` clear what is still on its way there: `{how}` at least; or let the branches meet in a join before"
    )
}

/// A fork that fed all slots once, and a later step that feeds only some of them, should be as wide as the fork.
fn starved(net: &Net, join: &str, missing: &[String], path: &[Step]) -> String {
    let is_event = |step: &Step| net.table().node(&step.node).is_some_and(|row| row.kind == NodeKind::Event);
    for step in path.iter().rev().filter(|step| step.to.len() == 1 && !is_event(step)) {
        for fork in path.iter().filter(|fork| fork.to.len() > 1 && fork.to.contains(&step.to[0])) {
            let others = fork.to.iter().filter(|to| **to != step.to[0]);
            if others.into_iter().any(|other| missing.iter().any(|slot| leads_to(net, other, slot, join))) {
                let branches: Vec<&str> = fork.to.iter().map(String::as_str).collect();
                let width = if branches.len() == 2 { "both" } else { "all of them" };
                return format!("let `{}` continue on {width}: `fork({})`", step.node, branches.join(", "));
            }
        }
    }
    let slots: Vec<&str> = missing.iter().filter_map(|place| Some(place.split_once('.')?.1)).collect();
    if path.iter().any(|step| step.node == join) {
        let slots = slots.join("`, `");
        return format!("fill `{slots}` again on this way, or keep the last value: `latched` at the slot");
    }
    let slot = slots.first().copied().unwrap_or_default();
    format!(
        "fill `{join}.{slot}` on this way too: by a branch of a fork, `fork(a, b | {join}.{slot})`, or by `goto({join}.{slot})`"
    )
}

/// Whether a token in `from` can come to `slot` without passing `join`.
fn leads_to(net: &Net, from: &str, slot: &str, join: &str) -> bool {
    let (mut open, mut seen) = (vec![from.to_owned()], HashSet::new());
    while let Some(place) = open.pop() {
        if place == slot {
            return true;
        }
        let node = place.split('.').next().unwrap_or_default();
        if node == join || !seen.insert(place.clone()) {
            continue;
        }
        let Some(index) = net.node_named(node) else { continue };
        for alternative in net.node(index).alternatives.clone().filter_map(|at| net.alternative(at)) {
            open.extend(alternative.branches.iter().flatten().map(|&place| net.place(place).name.clone()));
        }
    }
    false
}

fn never_runs(net: &Net, node: &str) -> String {
    let row = net.table().node(node);
    let is_join = row.is_some_and(|row| !row.slots.is_empty());
    if is_join {
        return "its slots are never all filled in one round: let one way lead to all of them, or take it out"
            .to_owned();
    }
    if net.table().nodes.iter().any(|row| row.spawn.iter().chain(row.targets().map(|to| &to.node)).any(|to| to == node))
    {
        return "nothing that leads to it ever runs: give it another way in, or take it out".to_owned();
    }
    "nothing leads to it: name it in a `goto(…)`, or take it out".to_owned()
}
