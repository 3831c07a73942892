//! The routes of a table: the possible steps of a run.

use std::fmt;

use interlocking_core::net::{AlternativeIndex, Net, NodeIndex, PlaceIndex};
use interlocking_core::table::NodeKind;

/// One route of a table. It is shown as `write → review`, and can be looked up by that text, with `→` or `->`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The node that takes it.
    pub from: String,
    /// The place that it leads to: a node, `join.slot` or `exit`. For an event node that leaves the run as it is, the
    /// node itself.
    pub to: String,
    /// How it is taken.
    pub kind: RouteKind,
    /// For the exhausted route of an edge: the target of that edge.
    pub instead_of: Option<String>,
}

/// How a [`Route`] is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RouteKind {
    /// By one token: `goto(…)`.
    Goto,
    /// By one of a fork's tokens: `fork(…)`; with alternatives, each is a route.
    Branch,
    /// By a token for a node that may not be entered again, or by a node that chose an edge whose budget is spent:
    /// `exhausted(…)`.
    Exhausted,
    /// In place of an execution that took too long: `timed_out(…)`.
    TimedOut,
    /// In place of an execution that failed: `failed(…)`.
    Failed,
    /// Beside the graph: `spawn(…)`.
    Spawn,
    /// Without a token, when a message changes nothing: `resume`.
    Resume,
    /// Without a token, when a message adds items to a map: `adds_to(…)`.
    AddsItems,
}

/// A position in [`Routes`].
pub(crate) type RouteIndex = usize;

/// All routes of a net.
#[derive(Debug)]
pub(crate) struct Routes {
    pub(crate) all: Vec<Route>,
}

impl Routes {
    pub(crate) fn of(net: &Net) -> Self {
        let place = |place: PlaceIndex| net.place(place).name.clone();
        let mut all = Vec::new();
        for (index, row) in net.table().nodes.iter().enumerate() {
            let source = index as NodeIndex;
            let node = net.node(source);
            let mut add =
                |to: String, kind, instead_of| all.push(Route { from: row.name.clone(), to, kind, instead_of });
            for index in node.alternatives.clone() {
                let Some(alternative) = net.alternative(index) else { continue };
                let kind = RouteKind::of(net, source, index);
                let spent =
                    alternative.instead_of.and_then(|edge| net.alternative(edge)).map(|edge| place(edge.only[0]));
                alternative.branches.iter().flatten().for_each(|&to| add(place(to), kind, spent.clone()));
            }
            row.spawn.iter().for_each(|to| add(to.clone(), RouteKind::Spawn, None));
            row.adds_to.iter().for_each(|to| add(to.clone(), RouteKind::AddsItems, None));
            if row.kind == NodeKind::Event && row.resume {
                add(row.name.clone(), RouteKind::Resume, None);
            }
        }
        Self { all }
    }

    pub(crate) fn find(&self, from: &str, to: &str, kind: RouteKind) -> Option<RouteIndex> {
        self.all.iter().position(|route| route.from == from && route.to == to && route.kind == kind)
    }

    /// The exhausted route of an edge, by the node that chose the edge, the edge's target, and the route's target.
    pub(crate) fn instead_of(&self, from: &str, edge: &str, to: &str) -> Option<RouteIndex> {
        let is = |route: &Route| route.from == from && route.to == to && route.instead_of.as_deref() == Some(edge);
        self.all.iter().position(is)
    }

    pub(crate) fn named(&self, text: &str) -> Option<RouteIndex> {
        let text = text.replace("->", "→");
        self.all.iter().position(|route| route.to_string() == text.trim())
    }

    /// By node, the least number of steps from the node to the source of one of the wanted routes; nodes without a path
    /// to one are absent.
    pub(crate) fn distances(&self, wanted: impl Fn(RouteIndex) -> bool) -> std::collections::HashMap<&str, usize> {
        let mut distances = std::collections::HashMap::new();
        let mut due: std::collections::VecDeque<(&str, usize)> = (0..self.all.len())
            .filter(|&index| wanted(index))
            .map(|index| (self.all[index].from.as_str(), 0))
            .collect();
        while let Some((node, distance)) = due.pop_front() {
            if distances.contains_key(node) {
                continue;
            }
            distances.insert(node, distance);
            let before = self.all.iter().filter(|route| route.target() == node);
            due.extend(before.map(|route| (route.from.as_str(), distance + 1)));
        }
        distances
    }
}

impl RouteKind {
    /// How a node takes one of its alternatives.
    pub(crate) fn of(net: &Net, node: NodeIndex, alternative: AlternativeIndex) -> Self {
        let (row, node) = (net.row(node), net.node(node));
        let routes = [(node.exhausted, Self::Exhausted), (node.timed_out, Self::TimedOut), (node.failed, Self::Failed)];
        let is_fork = row.fork.is_some() && usize::from(alternative - node.alternatives.start) == row.goto.len();
        match routes.into_iter().find(|(route, _)| *route == Some(alternative)) {
            Some((_, kind)) => kind,
            None if net.alternative(alternative).is_some_and(|way| way.instead_of.is_some()) => Self::Exhausted,
            None if is_fork => Self::Branch,
            None => Self::Goto,
        }
    }
}

impl Route {
    /// The name of the node that it leads to, or `exit`.
    pub fn target(&self) -> &str {
        self.to.split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, kind, instead_of } = self;
        match kind {
            RouteKind::Goto => write!(f, "{from} → {to}"),
            RouteKind::Branch => write!(f, "{from} → {to} (fork)"),
            RouteKind::Exhausted => match instead_of {
                Some(edge) => write!(f, "{from} → {to} (exhausted: {edge})"),
                None => write!(f, "{from} → {to} (exhausted)"),
            },
            RouteKind::TimedOut => write!(f, "{from} → {to} (timed out)"),
            RouteKind::Failed => write!(f, "{from} → {to} (failed)"),
            RouteKind::Spawn => write!(f, "{from} → {to} (spawn)"),
            RouteKind::Resume => write!(f, "{from} → resume"),
            RouteKind::AddsItems => write!(f, "{from} → {to} (adds items)"),
        }
    }
}
