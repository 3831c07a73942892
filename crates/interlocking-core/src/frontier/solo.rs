//! The fast path from node to node.

use super::Execution;
use super::counts::Counts;
use super::marking::{Marking, Phase};
use crate::net::{AlternativeIndex, Net, NodeIndex, PlaceIndex, Shortcut};

/// A run in which one execution runs and nothing is due: the fast path from node to node.
///
/// Nothing else can happen to the run meanwhile, so a move is only checked against the table and counted. The marking
/// is updated when this is dropped.
#[doc(hidden)]
#[derive(Debug)]
pub struct Solo<'f> {
    net: &'f Net,
    shortcuts: &'f [Shortcut],
    counts: &'f mut [Counts],
    /// `None` for a [`Single`](super::Single), which has no marking.
    marking: Option<&'f mut Marking>,
    /// The node that the marking still shows.
    first: NodeIndex,
    /// The node that runs.
    last: NodeIndex,
}

impl<'f> Solo<'f> {
    /// The run in which `node` runs, and nothing else.
    #[inline]
    pub(super) fn new(
        net: &'f Net,
        counts: &'f mut [Counts],
        marking: Option<&'f mut Marking>,
        node: NodeIndex,
    ) -> Self {
        Self { net, shortcuts: net.shortcuts(), counts, marking, first: node, last: node }
    }

    /// The execution that runs.
    pub fn execution(&self) -> Execution {
        self.counts[usize::from(self.last)].execution(self.last)
    }

    /// If `alternative` leads plainly to `place` and that place's node may be entered, starts that node and returns its
    /// execution. The token never enters the frontier.
    ///
    /// The same as [`complete`](super::Frontier::complete) followed by [`next_due`](super::Frontier::next_due).
    /// Otherwise returns `None` and changes nothing.
    #[inline]
    pub fn relay(&mut self, alternative: AlternativeIndex, place: PlaceIndex) -> Option<Execution> {
        let shortcut = self.shortcuts.get(usize::from(alternative))?;
        if shortcut.source != self.last || shortcut.place != place {
            return None;
        }
        // No token can lie in the target's only place, as the target would then be due or running.
        let counts = self.counts.get_mut(shortcut.target as usize)?;
        let (visits, attempt) = (counts.visits(), counts.attempt());
        *counts = if visits < shortcut.visits {
            Counts::new(visits + 1, 1)
        } else if attempt < shortcut.attempts {
            std::hint::cold_path();
            Counts::new(visits, attempt + 1)
        } else {
            return None;
        };
        self.last = shortcut.target as NodeIndex;
        Some(counts.execution(self.last))
    }
}

impl Drop for Solo<'_> {
    fn drop(&mut self) {
        if let Some(Marking { marked, nodes }) = self.marking.as_deref_mut()
            && self.first != self.last
        {
            marked.remove(usize::from(self.net.node(self.first).first_place));
            marked.insert(usize::from(self.net.node(self.last).first_place));
            nodes[usize::from(self.first)].phase = Phase::Idle;
            nodes[usize::from(self.last)].phase = Phase::Running;
        }
    }
}
