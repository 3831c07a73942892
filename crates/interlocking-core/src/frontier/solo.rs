//! The quick way on from node to node.

use super::{Counts, Execution, NodeState, Phase};
use crate::bits::Bits;
use crate::net::{AlternativeIndex, Net, NodeIndex, PlaceIndex, Shortcut};

/// A run while one execution runs and nothing is due: the quick way on from node to node.
///
/// Nothing can come between, so a move is checked against the table and counted, and no more; the marking follows when
/// this is dropped.
#[derive(Debug)]
pub struct Solo<'f> {
    pub(super) net: &'f Net,
    pub(super) shortcuts: &'f [Shortcut],
    pub(super) nodes: &'f mut [NodeState],
    /// None where there is none yet.
    pub(super) marked: Option<&'f mut Bits>,
    /// The node that the marking still shows.
    pub(super) first: NodeIndex,
    /// The node that runs.
    pub(super) last: NodeIndex,
}

impl Solo<'_> {
    /// The execution that runs.
    pub fn execution(&self) -> Execution {
        self.nodes[usize::from(self.last)].execution(self.last)
    }

    /// If `alternative` leads plainly to `place` and its node may be entered, gives that node's execution, which runs now;
    /// the token never enters the frontier.
    ///
    /// The same as [`complete`](super::Frontier::complete) followed by [`next_due`](super::Frontier::next_due), or `None` and no
    /// change.
    #[inline]
    pub fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex) -> Option<Execution> {
        let shortcut = self.shortcuts.get(usize::from(alternative))?;
        if shortcut.source != self.last || shortcut.place != place {
            return None;
        }
        // No token can lie in the target's only place: the target would be due or run.
        let state = self.nodes.get_mut(shortcut.target as usize)?;
        let (visits, attempt) = (state.counts.visits(), state.counts.attempt());
        state.counts = if visits < shortcut.visits {
            Counts::new(visits + 1, 1)
        } else if attempt < shortcut.attempts {
            std::hint::cold_path();
            Counts::new(visits, attempt + 1)
        } else {
            return None;
        };
        self.last = shortcut.target as NodeIndex;
        Some(state.execution(self.last))
    }
}

impl Drop for Solo<'_> {
    fn drop(&mut self) {
        if let Some(marked) = self.marked.as_deref_mut()
            && self.first != self.last
        {
            marked.remove(usize::from(self.net.node(self.first).first_place));
            marked.insert(usize::from(self.net.node(self.last).first_place));
            self.nodes[usize::from(self.first)].phase = Phase::Idle;
            self.nodes[usize::from(self.last)].phase = Phase::Running;
        }
    }
}
