//! The loop that an edge closes, which is reported when the edge's budget is exhausted.

use super::{AlternativeIndex, Net, NodeIndex};
use crate::table::NodeKind;
use std::collections::VecDeque;

impl Net {
    /// The shortest loop that an edge closes, by the names of its nodes: the edge's source, its target, and so on back
    /// to the source. Empty where no path leads back, and for a fork. No token leads back to an event node, so the loop
    /// of its edge closes at the first node in the region that the edge clears.
    pub fn loop_of(&self, edge: AlternativeIndex) -> Vec<&str> {
        let Some(edge) = self.alternative(edge) else { return Vec::new() };
        let [target] = edge.only[..] else { return Vec::new() };
        let source = edge.source;
        let region = edge.cancels.as_ref().filter(|_| self.row(source).kind == NodeKind::Event);
        let closes = |node| node == source || region.is_some_and(|region| region.nodes.contains(usize::from(node)));
        let Some(way) = self.shortest_way(self.place(target).node, closes) else { return Vec::new() };
        let last = way.last().filter(|&&last| last != source).map(|_| source);
        [source].into_iter().chain(way).chain(last).map(|node| self.name(node)).collect()
    }

    /// The shortest path from a node to the nearest for which `is_end` holds, both included.
    fn shortest_way(&self, from: NodeIndex, is_end: impl Fn(NodeIndex) -> bool) -> Option<Vec<NodeIndex>> {
        let mut before: Vec<Option<NodeIndex>> = vec![None; self.nodes.len()];
        let mut open = VecDeque::from([from].map(|node| (node, node)));
        while let Some((at, earlier)) = open.pop_front() {
            let Some(known) = before.get_mut(usize::from(at)).filter(|known| known.is_none()) else { continue };
            *known = Some(earlier);
            if is_end(at) {
                let mut way: Vec<NodeIndex> =
                    std::iter::successors(Some(at), |&at| before[usize::from(at)].filter(|&earlier| earlier != at))
                        .collect();
                way.reverse();
                return Some(way);
            }
            let ways = self.node(at).alternatives.clone().filter_map(|way| self.alternative(way));
            open.extend(ways.flat_map(|way| way.branches.iter().flatten()).map(|&place| (self.place(place).node, at)));
        }
        None
    }
}
