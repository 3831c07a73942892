//! Finds the step of a path that goes back and leaves tokens behind: such a step causes most second tokens, and most
//! tokens that are live at exit. A shortest path has no unnecessary loops, so the first such step is the cause.

use crate::remedy::leads_to;
use crate::verdict::Step;
use interlocking_core::net::Net;
use interlocking_core::table::{Goto, NodeKind, NodeRow, Quorum, Target};
use std::collections::HashSet;

/// A step that goes back.
pub(crate) struct WayBack<'p> {
    pub(crate) step: &'p Step,
    /// What it should clear, spelled as in `cancels(…)`: first what it clears already, then the places it leaves marked
    /// and all that these lead to before a join.
    pub(crate) region: Vec<String>,
}

/// The first step that goes to a node which was executed before, while something else is live, or while a latched slot
/// remembers a value that will be sent to it again.
pub(crate) fn of<'p>(net: &Net, path: &'p [Step]) -> Option<WayBack<'p>> {
    // If the last step is the route of an exhausted budget, the path needed the loop to exhaust it.
    if path.last()?.exhausted {
        return None;
    }
    let (mut live, mut remembered, mut blank): (HashSet<&str>, HashSet<&str>, HashSet<&str>) = Default::default();
    let mut executed: HashSet<&str> = HashSet::new();
    for step in path {
        let cancels = cancels(net, step);
        let stays = |place: &str| !cancels.iter().any(|name| names(name, place));
        remembered.extend(live.iter().filter(|place| names(&step.node, place) && is_latched(net, place)));
        remembered.retain(|place| stays(place));
        live.retain(|place| stays(place) && !names(&step.node, place));
        executed.insert(&step.node);
        // A further token for a slot belongs to the join's next round, and a node that goes to itself makes another
        // attempt: neither goes back.
        if step.to.iter().any(|to| executed.contains(to.as_str()) && *to != step.node) {
            let comes_again = |slot: &&str| step.to.iter().any(|to| leads_to(net, to, slot, node_of(slot)));
            let left: Vec<&str> =
                live.iter().chain(remembered.iter().filter(|slot| comes_again(slot))).copied().collect();
            if !left.is_empty() {
                return Some(WayBack { step, region: wide_region(net, step, &cancels, &left) });
            }
        }
        live.extend(step.to.iter().map(String::as_str));
        blank.retain(|place| live.contains(place));
        blank.extend(step.none.iter().map(String::as_str).chain(skips(net, step)));
        for join in &net.table().nodes {
            if fires(join, &live, &blank) {
                let stays =
                    |place: &&str| node_of(place) == join.name || !join.cancels.iter().any(|name| names(name, place));
                live.retain(stays);
                remembered.retain(stays);
            }
        }
    }
    None
}

/// Whether a join with a quorum fires with these slots.
fn fires(join: &NodeRow, live: &HashSet<&str>, blank: &HashSet<&str>) -> bool {
    let Some(Quorum::AtLeast(enough)) = join.quorum.filter(|_| join.kind == NodeKind::Join) else { return false };
    let filled = live.iter().filter(|place| node_of(place) == join.name).count();
    let values = live.iter().filter(|place| node_of(place) == join.name && !blank.contains(*place)).count();
    values >= enough as usize || filled == join.slots.len()
}

/// The slots that a step fills directly although the fork's branch has other targets.
fn skips<'p>(net: &Net, step: &'p Step) -> impl Iterator<Item = &'p str> {
    let branches = net.table().node(&step.node).and_then(|row| row.fork.as_ref()).filter(|_| step.to.len() > 1);
    let choosing: Vec<Target> =
        branches.iter().flat_map(|fork| &fork.branches).filter(|branch| branch.len() > 1).flatten().cloned().collect();
    let skipped =
        move |place: &&str| place.contains('.') && choosing.iter().any(|target| node_of(place) == target.node);
    step.to.iter().map(String::as_str).filter(skipped)
}

/// What is cleared already, and then the places left marked and all that these lead to, in the order of the table.
fn wide_region(net: &Net, step: &Step, cancels: &[&str], left: &[&str]) -> Vec<String> {
    let targets: Vec<&str> = step.to.iter().map(|place| node_of(place)).collect();
    let found: HashSet<String> = left.iter().flat_map(|place| region(net, place, &targets)).collect();
    let mut wide: Vec<String> = cancels.iter().map(|&name| name.to_owned()).collect();
    for row in &net.table().nodes {
        let slots = row.slots.iter().map(|slot| format!("{}.{}", row.name, slot.name));
        let places = std::iter::once(row.name.clone()).chain(slots);
        let is_new = |name: &String| found.contains(name) && !cancels.contains(&name.as_str());
        // The name of a join includes its slots.
        let join = is_new(&row.name).then(|| row.name.clone());
        wide.extend(places.filter(|name| is_new(name) && join.as_ref().is_none_or(|join| join == name)));
    }
    wide
}

fn is_latched(net: &Net, place: &str) -> bool {
    net.place_named(place).is_some_and(|place| net.place(place).latched)
}

/// The nodes that a token of `place` can have reached, up to the next join and the nodes that will run again anyway.
fn region(net: &Net, place: &str, targets: &[&str]) -> HashSet<String> {
    if place.contains('.') {
        return HashSet::from([place.to_owned()]);
    }
    let (mut open, mut seen) = (vec![place], HashSet::new());
    while let Some(node) = open.pop() {
        let Some(row) = net.table().node(node) else { continue };
        if node != place && targets.contains(&node) || !seen.insert(node.to_owned()) {
            continue;
        }
        if row.kind != NodeKind::Join {
            open.extend(row.targets().map(|target| target.node.as_str()));
        }
    }
    seen
}

/// The names that a step clears according to the table.
fn cancels<'n>(net: &'n Net, step: &Step) -> Vec<&'n str> {
    let Some(row) = net.table().node(&step.node) else { return Vec::new() };
    let leads = |target: &Target, place: &String| {
        *place == target.to_string() || (target.slot.is_none() && target.node == node_of(place))
    };
    let own: Vec<&Goto> = match (step.exhausted, step.timed_out, step.failed) {
        (true, ..) => {
            row.exhausted.iter().chain(row.goto.iter().filter_map(|goto| goto.exhausted.as_deref())).collect()
        }
        (_, true, _) => row.timed_out.iter().collect(),
        (.., true) => row.failed.iter().collect(),
        _ => row.goto.iter().collect(),
    };
    let gotos = own.into_iter();
    let goto = gotos.filter(|goto| matches!(&step.to[..], [place] if leads(&goto.to, place))).map(|goto| &goto.cancels);
    let fork = row.fork.iter().filter(|_| step.to.len() > 1).map(|fork| &fork.cancels);
    goto.chain(fork).next().into_iter().flatten().map(String::as_str).collect()
}

/// Whether a name of a region includes a place.
fn names(name: &str, place: &str) -> bool {
    name == "*" || name == place || name == node_of(place)
}

fn node_of(place: &str) -> &str {
    place.split('.').next().unwrap_or_default()
}
