//! Queries about the state of a run.

use super::counts::{Counts, entries};
use super::marking::{NodeState, Phase};
use super::{Execution, Frontier, Payload};
use crate::bits::Bits;
use crate::net::{Net, NodeIndex};
use crate::violation::Violation;
use std::fmt;

impl<P: Payload> Frontier<'_, P> {
    /// Whether the outcome of `execution` still counts.
    #[inline]
    pub fn is_current(&self, execution: Execution) -> bool {
        let node = usize::from(execution.node);
        let (Some(state), Some(counts)) = (self.marking.nodes.get(node), self.counts.get(node)) else { return false };
        // Each entry raises one of the counts, so the outcome of an earlier execution has other counts.
        state.phase == Phase::Running && counts.execution(execution.node) == execution && !self.ended
    }

    /// The execution of a node that takes one token: the execution that runs, or that is due and within the node's
    /// bounds.
    pub fn live(&self, node: NodeIndex) -> Option<Execution> {
        let (state, counts) = (&self.marking.nodes[usize::from(node)], &self.counts[usize::from(node)]);
        if self.ended {
            return None;
        }
        if state.phase == Phase::Running {
            return Some(counts.execution(node));
        }
        let row = self.net.intake(node);
        let (visits, attempt) = (counts.visits(), counts.attempt());
        let next = match state.again {
            false if visits < row.visits => Execution { node, visit: visits + 1, attempt: 1 },
            true if attempt < row.attempts => Execution { node, visit: visits, attempt: attempt + 1 },
            _ => return None,
        };
        self.due.contains(&node).then_some(next)
    }

    /// Takes the exit's token, once the run has reached the exit.
    pub fn take_exit(&mut self) -> Option<P> {
        self.exit.take()
    }

    /// Whether the run has reached its exit, or was [abandoned](Self::abandon).
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// How many executions run.
    pub fn running(&self) -> usize {
        self.running as usize
    }

    /// The executions that run, in table order.
    pub fn executions(&self) -> impl Iterator<Item = Execution> + '_ {
        running(&self.marking.nodes, &self.counts)
    }

    /// How many nodes are due.
    pub fn due(&self) -> usize {
        self.due.len()
    }

    /// The node of the execution that starts next.
    #[doc(hidden)]
    pub fn next_node(&self) -> Option<NodeIndex> {
        self.due.front().copied()
    }

    /// Whether something is due.
    pub fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// How often the node has been entered so far.
    pub fn visits(&self, node: NodeIndex) -> u32 {
        self.counts[usize::from(node)].visits()
    }

    /// The nodes that have been entered so far, in table order, each with how often.
    pub fn entries(&self) -> impl Iterator<Item = (NodeIndex, u32)> + '_ {
        entries(&self.counts)
    }

    /// The places that hold a token, by index.
    pub fn marking(&self) -> impl Iterator<Item = usize> + '_ {
        self.marking.marked.iter()
    }

    /// Why the run cannot continue, if nothing is due and nothing runs.
    pub fn stuck(&self) -> Option<Violation> {
        if self.ended || self.running > 0 || self.has_due() {
            return None;
        }
        let (mut filled, mut missing) = (Vec::new(), Vec::new());
        for index in places_of_marked_nodes(self.net, &self.marking.marked) {
            let list = if self.has_value(index) { &mut filled } else { &mut missing };
            list.push(self.net.places()[index].name.clone());
        }
        Some(Violation::Deadlock { filled, missing })
    }
}

// The functions below do not depend on the payload type, so they are compiled once and not for each graph.

fn running<'n>(states: &'n [NodeState], counts: &'n [Counts]) -> impl Iterator<Item = Execution> + 'n {
    let running = states.iter().zip(counts).zip(0..).filter(|((state, _), _)| state.phase == Phase::Running);
    running.map(|((_, counts), node)| counts.execution(node))
}

/// The places of the nodes that have a marked place.
fn places_of_marked_nodes(net: &Net, marked: &Bits) -> Vec<usize> {
    let nodes: Vec<_> = marked.iter().map(|place| net.places()[place].node).collect();
    let places = net.places().iter().enumerate();
    places.filter(|(_, place)| nodes.contains(&place.node)).map(|(index, _)| index).collect()
}

impl<P: fmt::Debug> fmt::Debug for Frontier<'_, P> {
    /// The whole state of the run, without the net.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frontier")
            .field("counts", &self.counts)
            .field("marked", &self.marking.marked)
            .field("waiting", &self.waiting)
            .field("remembered", &self.remembered)
            .field("nodes", &self.marking.nodes)
            .field("due", &self.due)
            .field("running", &self.running)
            .field("exit", &self.exit)
            .field("taken", &self.taken)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
