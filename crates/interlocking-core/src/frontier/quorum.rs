//! Joins that need not wait for all of their slots.

use super::marking::Phase;
use super::{Execution, Frontier, Payload};
use crate::net::{NodeIndex, PlaceIndex};
use crate::step::Step;

impl<P: Payload> Frontier<'_, P> {
    /// Counts a token that arrived in a slot. `fire_quorums` checks the quorum after the whole step.
    #[cold]
    pub(super) fn count_filled(&mut self, place: usize, node: NodeIndex) {
        let is_value = self.waiting[place].as_ref().is_some_and(P::is_value);
        let state = &mut self.marking.nodes[usize::from(node)];
        state.filled += 1;
        state.values += u16::from(is_value);
    }

    /// The slots that a step fills with a value that does not count: a fork skipped a branch by filling the slot
    /// directly, where the branch could have led elsewhere.
    pub(super) fn skipped(&self, step: &Step<P>) -> Vec<PlaceIndex> {
        let net = self.net;
        let mut skipped = Vec::new();
        let (Some(alternative), false) = (step.alternative(), net.quorum_joins().is_empty()) else { return skipped };
        let Some(alternative) = net.alternative(alternative) else { return skipped };
        for (at, branch) in alternative.branches.iter().enumerate() {
            let Some(token) = step.tokens().get(at) else { break };
            let place = token.place();
            let could_go_elsewhere = branch.len() > 1 && token.is_value() && place != net.exit();
            if could_go_elsewhere && net.node(net.place(place).node).quorum.is_some() {
                skipped.push(place);
            }
        }
        skipped
    }

    /// Undoes the counting of these slots as values.
    pub(super) fn uncount(&mut self, skipped: &[PlaceIndex]) {
        for &place in skipped {
            self.marking.nodes[usize::from(self.net.place(place).node)].values -= 1;
        }
    }

    /// Fires the joins that have reached their quorum, or have every slot filled, in table order. Returns the running
    /// executions that they clear.
    pub(super) fn fire_quorums(&mut self) -> Vec<Execution> {
        let (net, mut stopped) = (self.net, Vec::new());
        for &index in net.quorum_joins() {
            let (node, state) = (net.node(index), self.marking.nodes[usize::from(index)]);
            let Some(quorum) = &node.quorum else { continue };
            let is_due = state.values >= quorum.values || state.filled == node.place_count;
            if state.phase != Phase::Idle || !is_due {
                continue;
            }
            stopped.extend(self.clear(&quorum.clears.places, &quorum.clears.nodes));
            // Marks all slots, filled or not: a token that arrives while the join is due or running is a second one.
            for place in node.places() {
                self.marking.marked.insert(place);
            }
            self.marking.nodes[usize::from(index)].phase = Phase::Due;
            self.due.push_back(index);
        }
        stopped
    }
}
