//! The suggested change for a broken rule, in words: a hint from the path, not a proof that the changed graph is sound.

use crate::trace::quoted;
use crate::verdict::{Rule, Step};
use crate::way_back::{self, WayBack};
use crate::writers;
use interlocking_core::net::Net;
use interlocking_core::table::{NodeKind, NodeRow, Visits};
use std::collections::HashSet;

/// The most names in a list.
const LONGEST_LIST: usize = 6;

pub(crate) fn of(net: &Net, rule: &Rule, path: &[Step]) -> String {
    match rule {
        Rule::DoubleToken { from, place } => double_token(net, from, place, path),
        Rule::LiveAtExit { from, live } => live_at_exit(net, from, live, path),
        Rule::StarvedJoin { join, missing } => starved(net, join, missing, path),
        Rule::Deadlock { joins, missing } => deadlock(net, joins, missing),
        Rule::UnboundedCycle { nodes } => unbounded_cycle(net, nodes),
        Rule::NeverRuns { node } => never_runs(net, node),
        Rule::SharedWorkspace { workspace, nodes } => shared_workspace(net, workspace, nodes),
        Rule::ExitUnreachable => "let a node that runs go to `exit`".to_owned(),
        Rule::NoWayOut { nodes } => no_way_out(net, nodes),
    }
}

fn double_token(net: &Net, from: &str, place: &str, path: &[Step]) -> String {
    let Some((last, before)) = path.split_last() else { return String::new() };
    if last.to.iter().filter(|to| *to == place).count() > 1 {
        return format!("two branches of `{from}` go to `{place}`: give each a place of its own");
    }
    if let Some(remedy) = clear_on_the_way_back(net, path).or_else(|| clear_at_the_quorum(net, place, path)) {
        return remedy;
    }
    let first = before.iter().rev().find(|step| step.to.iter().any(|to| to == place));
    let mut both = [first.map_or("entry", |step| &step.node), from];
    both.sort_unstable();
    let [one, other] = both;
    format!("`{one}` and `{other}` both lead to `{place}`: let them meet in a join before")
}

fn live_at_exit(net: &Net, from: &str, live: &[String], path: &[Step]) -> String {
    let at_quorum = || live.iter().find_map(|place| clear_at_the_quorum(net, place, path));
    clear_on_the_way_back(net, path).or_else(at_quorum).unwrap_or_else(|| {
        let exit = path.last().map_or("goto", way);
        format!(
            "let the branches meet in a join before the exit, or let `{from}` end what is left: `{exit}(exit, cancels(*))`"
        )
    })
}

fn clear_on_the_way_back(net: &Net, path: &[Step]) -> Option<String> {
    let WayBack { step, mut region } = way_back::of(net, path)?;
    if region.len() > LONGEST_LIST {
        region.truncate(LONGEST_LIST);
        region.push("…".to_owned());
    }
    let (node, way, to, region) = (&step.node, way(step), step.to.join(", "), region.join(", "));
    let join = if is_event(net, step) { "" } else { "; or go back only after a join" };
    Some(format!("let `{node}` clear what it leaves behind: `{way}({to}, cancels({region}))`{join}"))
}

/// The hint for a token left in a place that leads to a join which has fired without it: the join should clear that
/// place.
fn clear_at_the_quorum(net: &Net, place: &str, path: &[Step]) -> Option<String> {
    let node = place.split('.').next().unwrap_or_default();
    let has_fired =
        |row: &&NodeRow| row.quorum.is_some() && path.iter().any(|step| step.to.iter().any(|to| is_slot(row, to)));
    let joins = net.table().nodes.iter().filter(|row| row.kind == NodeKind::Join).filter(has_fired);
    let leads = |row: &&NodeRow| {
        row.name == node
            || row.slots.iter().any(|slot| leads_to(net, place, &format!("{}.{}", row.name, slot.name), &row.name))
    };
    let join = joins.into_iter().find(leads)?;
    let late = if join.name == node { &path.last()?.node } else { node };
    let names = |name: &&String| *name != "*" && *name != late;
    let region: Vec<&str> = join.cancels.iter().filter(names).map(String::as_str).chain([late]).collect();
    Some(format!(
        "`{late}` comes to join `{}` after its quorum: let that clear it, `cancels({})`",
        join.name,
        region.join(", ")
    ))
}

fn is_slot(row: &NodeRow, place: &str) -> bool {
    place.split_once('.').is_some_and(|(join, _)| join == row.name)
}

/// The attribute of a step in the table.
fn way(step: &Step) -> &'static str {
    match step.to.len() {
        _ if step.exhausted => "exhausted",
        _ if step.timed_out => "timed_out",
        _ if step.failed => "failed",
        0 | 1 => "goto",
        _ => "fork",
    }
}

fn is_event(net: &Net, step: &Step) -> bool {
    net.table().node(&step.node).is_some_and(|row| row.kind == NodeKind::Event)
}

fn deadlock(net: &Net, joins: &[String], missing: &[String]) -> String {
    let waits_for_another = |slot: &String| {
        let own = slot.split('.').next().unwrap_or_default();
        joins.iter().any(|join| join != own && leads_to(net, join, slot, own))
    };
    if missing.iter().all(waits_for_another) {
        format!("they wait for each other: let another node fill one of {}", quoted(missing))
    } else {
        format!("fill {} on this way too, by branches of a fork or by a `goto(…)`", quoted(missing))
    }
}

/// The event node of a cycle: whatever else is bounded, a message can take the run round the cycle once more.
pub(crate) fn event_of<'c>(net: &Net, nodes: &'c [String]) -> Option<&'c String> {
    nodes.iter().find(|name| net.table().node(name).is_some_and(|row| row.kind == NodeKind::Event))
}

fn unbounded_cycle(net: &Net, nodes: &[String]) -> String {
    let row = |name: &String| net.table().node(name);
    // A cycle through a bounded node is unbounded only by the node's exhausted route.
    let is_bounded = |name: &&String| {
        row(name).is_some_and(|row| row.visits.is_some() || (row.attempts.is_some() && nodes.len() == 1))
    };
    let event = event_of(net, nodes);
    let bounded = event.filter(is_bounded).or_else(|| nodes.first().filter(|_| nodes.iter().all(|it| is_bounded(&it))));
    let bound = match (nodes, event, bounded) {
        ([_], _, Some(_)) => return "let `exhausted(…)` lead elsewhere".to_owned(),
        (_, _, Some(node)) => return format!("let `exhausted(…)` of `{node}` lead elsewhere"),
        (_, Some(event), _) => format!("bound `{event}`: `visits = 3`"),
        ([node], ..) if row(node).is_some_and(|row| row.kind == NodeKind::Join) => "bound it: `visits = 3`".to_owned(),
        ([_], ..) => "bound it: `attempts = 3`".to_owned(),
        _ => "bound one of them: `visits = 3`".to_owned(),
    };
    format!("{bound}; or say that it may go on for ever: `visits = unbounded`")
}

/// If a fork fed all slots once and a later step feeds only some of them, the step should feed all that the fork did.
/// This does not apply where a branch of the fork filled the slot directly: the later step has no value for that slot.
fn starved(net: &Net, join: &str, missing: &[String], path: &[Step]) -> String {
    for step in path.iter().rev().filter(|step| step.to.len() == 1 && !is_event(net, step)) {
        for fork in path.iter().filter(|fork| fork.to.len() > 1 && fork.to.contains(&step.to[0])) {
            let mut others = fork.to.iter().filter(|to| **to != step.to[0] && !missing.contains(to));
            if others.any(|other| missing.iter().any(|slot| leads_to(net, other, slot, join))) {
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

/// Whether a token in `from` can reach `slot` without passing `join`.
pub(crate) fn leads_to(net: &Net, from: &str, slot: &str, join: &str) -> bool {
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

fn no_way_out(net: &Net, nodes: &[String]) -> String {
    let is_unbounded = |name: &&String| net.table().node(name).is_some_and(|row| row.visits == Some(Visits::Unbounded));
    let unbounded: Vec<String> = nodes.iter().filter(is_unbounded).cloned().collect();
    match &unbounded[..] {
        [one] => format!("let `{one}` lead on to `exit`, or bound it: `visits = 3`"),
        [] => format!("let one of {} lead on to `exit`", quoted(nodes)),
        several => format!("let one of {} lead on to `exit`, or bound them: `visits = 3`", quoted(several)),
    }
}

/// Suggests taking turns where the nodes can, and separate workspaces where they cannot.
fn shared_workspace(net: &Net, workspace: &str, nodes: &[String]) -> String {
    let rows: Vec<&NodeRow> = nodes.iter().filter_map(|name| net.table().node(name)).collect();
    if let Some(row) = rows.iter().find(|row| !writers::takes_turns(row)) {
        return format!(
            "`{}` waits for others while it is at work, so it takes no turns: give each a workspace of its own, or say \
             `read_only` at who changes nothing",
            row.name
        );
    }
    if nodes.len() == 1 {
        return format!(
            "let it take turns with itself, `exclusive = \"{workspace}\"`; or let it run once: `visits = 1`"
        );
    }
    let mut names: Vec<&String> = rows.iter().filter_map(|row| row.exclusive.as_ref()).collect();
    names.dedup();
    let at = match (&names[..], rows.iter().find(|row| row.exclusive.is_none())) {
        ([name], Some(other)) => format!("`exclusive = \"{name}\"` at `{}` too", other.name),
        ([_, _], _) => "by one `exclusive` name for both".to_owned(),
        _ => format!("`exclusive = \"{workspace}\"` at both"),
    };
    format!("let them take turns, {at}; or give each a workspace of its own")
}

fn never_runs(net: &Net, node: &str) -> String {
    let rows = &net.table().nodes;
    match net.table().node(node).map(|row| row.kind) {
        Some(NodeKind::Join) => {
            let has_quorum = net.table().node(node).is_some_and(|row| row.quorum.is_some());
            let never = if has_quorum { "its quorum is never reached" } else { "its slots are never all filled" };
            return format!(
                "{never} in one round: let one way lead to {}, or take it out",
                if has_quorum { "enough of its slots" } else { "all of them" }
            );
        }
        Some(NodeKind::Advisory) => {
            return "nothing that runs spawns it: let a node do that, or take it out".to_owned();
        }
        _ => {}
    }
    let leads_here = |row: &&NodeRow| row.name != node && row.targets().any(|to| to.node == node);
    let sources: Vec<String> = rows.iter().filter(leads_here).map(|row| row.name.clone()).collect();
    match &sources[..] {
        [] => "nothing leads to it: name it in a `goto(…)`, or take it out".to_owned(),
        [one] => format!("only `{one}` leads to it, and never does: mend that, or take it out"),
        several => format!("only {} lead to it, and never do: mend that, or take it out", quoted(several)),
    }
}
