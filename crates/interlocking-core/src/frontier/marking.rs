//! Where the tokens are, and what each node does.

use crate::bits::Bits;

/// Where the tokens are.
#[derive(Clone, Debug)]
pub(super) struct Marking {
    pub(super) marked: Bits,
    pub(super) nodes: Box<[NodeState]>,
}

/// What is known of a node beyond its counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) phase: Phase,
    /// Whether the token that waits came from the node itself, on an edge that `attempts` bounds.
    pub(super) again: bool,
    /// Of a join, how many of its first slots are known to have a value: a join of a thousand is not searched from its
    /// first slot at every arrival.
    /// Of a join with a quorum, how many slots are filled.
    pub(super) filled: u16,
    /// Of a join with a quorum, how many of these have a value.
    pub(super) values: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    Due,
    Running,
}
