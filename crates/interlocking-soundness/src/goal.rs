//! A rule that is known to be broken, or may be, as something to search for: which nodes must fire before it can be.
//!
//! Every way from a state to the goal has a firing of one of the nodes that [`Goal::needs`] names. The first of these on the
//! way, or of a stubborn set around them, can come first of all, and the way is as long as before. So a search that tries
//! only such sets finds a shortest way, and what does not matter to the goal never moves. That holds where total firings
//! depend on what they undo; where they wait, it finds a way.

use crate::model::Model;
use crate::search::Broken;

pub(crate) struct Goal {
    /// One of them is enough.
    any: Vec<Broken>,
}

impl Goal {
    pub(crate) fn any(rules: impl IntoIterator<Item = Broken>) -> Self {
        Self { any: rules.into_iter().collect() }
    }

    pub(crate) fn is(&self, broken: &Broken) -> bool {
        self.any.contains(broken)
    }

    /// What is reached where these nodes are enabled; a rule of tokens is broken elsewhere.
    pub(crate) fn reached(&self, enabled: &[usize]) -> Option<&Broken> {
        let meet = |broken: &&Broken| matches!(broken, Broken::Beside { nodes } if nodes.iter().all(|node| enabled.contains(node)));
        self.any.iter().find(meet)
    }

    /// Nodes of which one must fire before the goal is reached, which is not yet.
    pub(crate) fn needs(&self, model: &Model<'_>, enabled: &[usize]) -> Vec<usize> {
        self.any.iter().flat_map(|broken| needs(broken, model, enabled)).collect()
    }
}

fn needs(broken: &Broken, model: &Model<'_>, enabled: &[usize]) -> Vec<usize> {
    match broken {
        // It is the last to fire, or a choice of its fork is.
        Broken::DoubleToken { from, .. } | Broken::LiveAtExit { from } => {
            (0..model.nodes.len()).filter(|&index| model.table_node(index) == *from).collect()
        }
        // One of them is not enabled yet, and waits for another node.
        Broken::Beside { nodes } => nodes.iter().copied().filter(|node| !enabled.contains(node)).take(1).collect(),
        // Whatever is enabled must come to rest: it fires, or something clears it.
        Broken::Stuck { .. } => {
            let first = enabled.iter().copied().find(|&index| !model.is_event(index));
            let Some(first) = first else { return enabled.to_vec() };
            // What joins clear at their quorum comes with it: who brings that depends on it.
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
