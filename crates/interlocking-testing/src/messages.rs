//! How many messages from outside a run may have.

use interlocking_core::net::{Net, NodeIndex};
use interlocking_core::table::NodeKind;

use crate::route::{Route, RouteKind};

/// As many as every run may have.
const FEW: u32 = 2;

/// As many as a run has where an exhausted route takes more: each is one more choice at all points of the run.
pub(crate) const MOST: u32 = 10;

/// How many messages a run may have: enough for each of the wanted routes that [`MOST`] are enough for.
pub(crate) fn allowed<'r>(net: &Net, wanted: impl Iterator<Item = &'r Route>) -> u32 {
    wanted.filter_map(|route| taken_by(net, route)).filter(|&taken| taken <= MOST).fold(FEW, u32::max)
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

#[cfg(test)]
mod tests {
    use interlocking_core::table::{NodeRow, Table};

    use super::*;
    use crate::route::Routes;

    #[test]
    fn a_run_has_as_many_as_the_wanted_exhausted_routes_take_if_it_can_have_them() {
        let event = |name, visits| {
            NodeRow::new(name, NodeKind::Event).visits(visits).goto("price", &["price"]).exhausted("exit", &["*"])
        };
        let table = Table::new("Haggling", "Offer")
            .with(NodeRow::new("price", NodeKind::Human).entry().goto("exit", &[]))
            .with(event("ask", 2))
            .with(event("complain", 4))
            .with(event("wait", 1000))
            .with(event("last", 9));
        let net = Net::new(table).unwrap();
        let routes = Routes::of(&net);
        let allowed_for =
            |nodes: &[&str]| allowed(&net, routes.all.iter().filter(|route| nodes.contains(&route.from.as_str())));
        assert_eq!(allowed_for(&["price"]), FEW);
        assert_eq!(allowed_for(&["price", "ask"]), 3);
        assert_eq!(allowed_for(&["ask", "complain"]), 5);
        assert_eq!(allowed_for(&["ask", "wait"]), 3, "the route of `wait` is never taken");
        assert_eq!(allowed_for(&["wait"]), FEW);
        assert_eq!(allowed_for(&["last"]), MOST);
    }
}
