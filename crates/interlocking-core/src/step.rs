//! The effect of an execution on the tokens of its run.

use crate::net::AlternativeIndex;

/// The route that an execution took, without the node's type: one token, or one token per branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<P> {
    /// To one place.
    One(AlternativeIndex, P),
    /// To all branches of a fork.
    All(AlternativeIndex, Vec<P>),
    /// Nowhere: the run stays as it is. Only nodes that take no token of the run do this.
    Stay,
}

impl<P> Step<P> {
    /// The alternative that the step takes; `None` if it stays.
    #[inline]
    pub fn alternative(&self) -> Option<AlternativeIndex> {
        match self {
            Self::One(alternative, _) | Self::All(alternative, _) => Some(*alternative),
            Self::Stay => None,
        }
    }

    /// The tokens that the step makes.
    pub fn tokens(&self) -> &[P] {
        match self {
            Self::One(_, token) => std::slice::from_ref(token),
            Self::All(_, tokens) => tokens,
            Self::Stay => &[],
        }
    }
}
