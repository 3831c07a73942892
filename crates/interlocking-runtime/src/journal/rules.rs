//! Decisions that the driver of a run and the replay of its records must make alike.

use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::frontier::{Execution, Limit, Payload};
use interlocking_core::net::{AlternativeIndex, Net, NodeIndex};
use interlocking_core::table::NodeKind;

/// Whether a running node keeps a message waiting. All nodes do, except those that only wait themselves. An exclusive graph node
/// keeps it waiting, too: its child run does not wait for anything outside, and the handler of the message may need the node's
/// turn.
pub(crate) fn keeps_waiting(net: &Net, node: NodeIndex) -> bool {
    let row = net.row(node);
    !matches!(row.kind, NodeKind::Map | NodeKind::Graph | NodeKind::Human) || row.exclusive.is_some()
}

/// Clears what has arrived in the slots for which a join with a quorum did not wait, as `slots` are those that it takes: what came
/// there in an earlier round is not its input.
pub(crate) fn clear_unfilled_slots<P: Payload, A>(net: &Net, node: NodeIndex, slots: &[P], arrived: &mut [Option<A>]) {
    let node = net.node(node);
    if node.quorum.is_some() {
        let unfilled = node.places().filter(|&place| slots.iter().all(|token| usize::from(token.place()) != place));
        unfilled.for_each(|place| arrived[place] = None);
    }
}

/// The failure of a node that was entered more often than its table allows, and has no exhausted route.
pub(crate) fn beyond_bounds(net: &Net, execution: Execution, limit: Limit) -> Failure {
    let message = format!("may not be entered again: its table says `{limit}`");
    failure(net, execution, FailureKind::Exhausted(limit), message)
}

/// The failure of a node that chose an edge more often than the table allows, where the edge has no exhausted route.
pub(crate) fn edge_is_spent(net: &Net, execution: Execution, edge: AlternativeIndex) -> Failure {
    let found = net.alternative(edge);
    let to = found.and_then(|found| found.only.first()).map(|&place| net.place(place).name.clone()).unwrap_or_default();
    let times = found.and_then(|found| found.times).map(|times| times.limit).unwrap_or_default();
    let cycle: Vec<String> = net.loop_of(edge).into_iter().map(str::to_owned).collect();
    let of_loop = if cycle.is_empty() { String::new() } else { format!(", of the loop {}", cycle.join(" → ")) };
    let message = format!("may not go to `{to}` again: its table says `times = {times}` for that edge{of_loop}");
    failure(net, execution, FailureKind::EdgeExhausted { to, times, cycle }, message)
}

/// The failure of an execution.
pub(crate) fn failure(net: &Net, execution: Execution, kind: FailureKind, message: String) -> Failure {
    let Execution { node, visit, attempt } = execution;
    Failure::new(net.name(node), visit, attempt, kind, message)
}
