//! How many messages from outside a run may have.

use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::table::NodeKind;

use crate::route::{Route, RouteKind};

/// As many as every run may have.
const FEW: u32 = 2;

/// As many as a run has where an exhausted route takes more: each is one more choice at all points of the run.
pub(crate) const MOST: u32 = 10;

/// How many messages a run of this graph may have: enough for the exhausted routes of its event nodes.
pub(crate) fn allowed(net: &Net) -> u32 {
    let events = (0..).zip(&net.table().nodes).filter(|(_, row)| row.kind == NodeKind::Event);
    let bounds = events.flat_map(|(node, _)| bounds(net, node)).map(|(_, bound)| bound.saturating_add(1));
    bounds.max().unwrap_or_default().clamp(FEW, MOST)
}

/// How many messages an exhausted route of an event node takes; `None` for any other route.
pub(crate) fn taken_by(net: &Net, route: &Route) -> Option<u32> {
    let node = net.node_named(&route.from)?;
    if route.kind != RouteKind::Exhausted || net.row(node).kind != NodeKind::Event {
        return None;
    }
    let (_, bound) = bounds(net, node).find(|(edge, _)| *edge == route.instead_of.as_deref())?;
    Some(bound.saturating_add(1))
}

/// The bounds of a node that have an exhausted route. The bound of an edge is with the place that the edge leads to.
fn bounds(net: &Net, node: NodeIndex) -> impl Iterator<Item = (Option<&str>, u32)> {
    let of_edges = net.node(node).alternatives.clone().filter_map(|index| {
        let edge = net.alternative(index)?;
        let times = edge.times.filter(|times| times.exhausted.is_some())?;
        Some((Some(net.place(edge.only[0]).name.as_str()), times.limit))
    });
    let node = net.node(node);
    node.exhausted.map(|_| (None, node.visits)).into_iter().chain(of_edges)
}
