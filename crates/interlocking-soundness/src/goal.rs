//! A broken rule as the goal of a search: which nodes must fire before it can be reached.
//!
//! Every path from a state to the goal has a firing of one of the nodes that [`Goal::needs`] returns. The first firing
//! on the path of these nodes, or of a stubborn set around them, can be moved to the start, and the path keeps its
//! length. So a search that tries only such sets finds a shortest path, and does not move nodes that are irrelevant to
//! the goal. That holds where total firings depend on the nodes that they undo; with `totals_wait`, the search finds a
//! path, which need not be a shortest.

use crate::model::Model;
use crate::search::Broken;

pub(crate) struct Goal {
    /// Any of these reaches the goal.
    any: Vec<Broken>,
}

impl Goal {
    pub(crate) fn any(rules: impl IntoIterator<Item = Broken>) -> Self {
        Self { any: rules.into_iter().collect() }
    }

    pub(crate) fn is(&self, broken: &Broken) -> bool {
        self.any.contains(broken)
    }

    /// The pair of nodes that is reached where these nodes are enabled. Broken rules of tokens are reported elsewhere.
    pub(crate) fn reached(&self, enabled: &[usize]) -> Option<&Broken> {
        let meet = |broken: &&Broken| matches!(broken, Broken::Beside { nodes } if nodes.iter().all(|node| enabled.contains(node)));
        self.any.iter().find(meet)
    }

    /// Nodes of which one must fire before the goal, which is not reached yet, can be reached.
    pub(crate) fn needs(&self, model: &Model<'_>, enabled: &[usize]) -> Vec<usize> {
        self.any.iter().flat_map(|broken| needs(broken, model, enabled)).collect()
    }
}

fn needs(broken: &Broken, model: &Model<'_>, enabled: &[usize]) -> Vec<usize> {
    match broken {
        // The last firing is of this node, or of a choice of its fork.
        Broken::DoubleToken { from, .. } | Broken::LiveAtExit { from } => {
            (0..model.nodes.len()).filter(|&index| model.table_node(index) == *from).collect()
        }
        // One of the two is not enabled yet, and waits for another node.
        Broken::Beside { nodes } => nodes.iter().copied().filter(|node| !enabled.contains(node)).take(1).collect(),
        // Each enabled node must stop being enabled: it fires, or another node clears it.
        Broken::Stuck { .. } => {
            let first = enabled.iter().copied().find(|&index| !model.is_event(index));
            let Some(first) = first else { return enabled.to_vec() };
            // Nodes that complete the quorum of a join that clears `first` need not be listed: they depend on `first`.
            let clears = |index: &usize| {
                model.nodes[*index]
                    .firings
                    .iter()
                    .filter_map(|firing| firing.clears.as_ref())
                    .any(|clears| model.nodes[first].places.clone().any(|place| clears.places.contains(place)))
            };
            (0..model.nodes.len()).filter(clears).chain([first]).collect()
        }
    }
}
