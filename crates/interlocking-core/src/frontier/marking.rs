//! Where the tokens are, and the phase of each node.

use crate::bits::Bits;

/// Where the tokens are.
#[derive(Clone, Debug)]
pub(super) struct Marking {
    pub(super) marked: Bits,
    pub(super) nodes: Box<[NodeState]>,
}

/// The state of a node besides its counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeState {
    pub(super) phase: Phase,
    /// Whether the token that waits came from the node itself, on an edge that `attempts` bounds.
    pub(super) again: bool,
    /// For a join without a quorum, how many of its first slots are known to have a value, so that a join of a thousand
    /// slots is not searched from the first at every arrival. For a join with a quorum, how many slots are filled.
    pub(super) filled: u16,
    /// For a join with a quorum, how many of the filled slots have a value that counts.
    pub(super) values: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Idle,
    Due,
    Running,
}
