//! The data that a run looks up at each step, in as few bytes as possible.

use super::{Alternative, NetNode, NetPlace, NodeIndex, PlaceIndex};

/// The data of a plain alternative, in as few bytes as possible: a chain of nodes reads nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shortcut {
    /// The node that takes it; `NodeIndex::MAX` where there is no shortcut.
    pub(crate) source: NodeIndex,
    pub(crate) place: PlaceIndex,
    /// A [`NodeIndex`], widened.
    pub(crate) target: u32,
    /// How many visits the target may have; 0 where the alternative is an edge of a node to itself that `attempts`
    /// bounds.
    pub(crate) visits: u32,
    /// How many attempts there may be on such an edge; 0 for any other alternative.
    pub(crate) attempts: u32,
}

impl Shortcut {
    /// The shortcut of an alternative. An alternative to or from a join has none, as a join takes and clears more than
    /// one token.
    pub(super) fn of(alternative: &Alternative, nodes: &[NetNode], places: &[NetPlace]) -> Self {
        let place = alternative.branches.first().and_then(|branch| branch.first()).copied().unwrap_or_default();
        let target = places[usize::from(place)].node;
        let node = nodes.get(usize::from(target)).filter(|node| alternative.plain && !node.is_join);
        match node.filter(|_| !nodes[usize::from(alternative.source)].is_join) {
            None => Self { source: NodeIndex::MAX, place, target: target.into(), visits: 0, attempts: 0 },
            Some(node) => {
                let attempts = node.attempts.filter(|_| target == alternative.source);
                let visits = if attempts.is_some() { 0 } else { node.visits };
                let (source, attempts) = (alternative.source, attempts.unwrap_or_default());
                Self { source, place, target: target.into(), visits, attempts }
            }
        }
    }
}

/// The data that a token arriving in a place needs, in as few bytes as possible: a fork of a thousand branches reads
/// two of these per branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// As in [`NetPlace`].
    pub(crate) node: NodeIndex,
    pub(crate) latched: bool,
    pub(crate) kept: bool,
}

impl Consumer {
    pub(super) fn of(place: &NetPlace) -> Self {
        Self { node: place.node, latched: place.latched, kept: place.kept }
    }
}

/// The data that a node needs to take its input, small for the same reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intake {
    /// As in [`NetNode`].
    pub(crate) visits: u32,
    /// As in [`NetNode`]; `u32::MAX` where attempts are unbounded.
    pub(crate) attempts: u32,
    pub(crate) first_place: PlaceIndex,
    pub(crate) place_count: u16,
    pub(crate) is_join: bool,
    pub(crate) has_quorum: bool,
    /// Whether its edge to itself is bounded by attempts.
    pub(crate) tries: bool,
}

impl Intake {
    pub(super) fn of(node: &NetNode) -> Self {
        Self {
            visits: node.visits,
            attempts: node.attempts.unwrap_or(u32::MAX),
            first_place: node.first_place,
            place_count: node.place_count,
            is_join: node.is_join,
            has_quorum: node.quorum.is_some(),
            tries: node.attempts.is_some(),
        }
    }

    /// The node's places.
    #[inline]
    pub(crate) fn places(&self) -> std::ops::Range<usize> {
        let first = usize::from(self.first_place);
        first..first + usize::from(self.place_count)
    }
}
