//! Where a handler goes next.

use crate::failure::NodeError;
use crate::graph::{Graph, Node};
pub use crate::step::Step;
use std::fmt;
use std::marker::PhantomData;

/// What a handler returns: the way on, or the error that ends the run.
///
/// A [`Goto`] is made only by the context's [`goto`](crate::context::Cx::goto), [`fork`](crate::context::Cx::fork) and
/// their macros, so it can lead only where the node's row of the table says. Any error converts into a [`NodeError`]
/// with `?`.
pub type Route<N> = Result<Goto<N>, NodeError>;

/// The way on from node `N`, as [`goto!`](crate::goto) makes it: a value by itself is none, for it does not say where it goes.
pub struct Goto<N: Node> {
    step: Step<<N::Graph as Graph>::Token>,
    node: PhantomData<fn() -> N>,
}

/// A branch of a fork that chose among its targets. Made by [`Cx::branch`](crate::context::Cx::branch).
pub struct Choice<N: Node, B> {
    token: <N::Graph as Graph>::Token,
    branch: PhantomData<fn() -> (N, B)>,
}

/// The position of a branch in its fork, as a type.
pub enum Nth<const BRANCH: usize> {}

impl<N: Node> Goto<N> {
    pub(crate) fn new(step: Step<<N::Graph as Graph>::Token>) -> Self {
        Self { step, node: PhantomData }
    }

    /// Leaves the run as it is, for node kinds whose nodes take no token of it.
    #[doc(hidden)]
    pub fn stay() -> Self {
        Self::new(Step::Stay)
    }

    /// The step itself.
    pub fn into_step(self) -> Step<<N::Graph as Graph>::Token> {
        self.step
    }
}

impl<N: Node, B> Choice<N, B> {
    pub(crate) fn new(token: <N::Graph as Graph>::Token) -> Self {
        Self { token, branch: PhantomData }
    }

    /// The token of the target that was chosen.
    pub fn into_token(self) -> <N::Graph as Graph>::Token {
        self.token
    }
}

impl<N: Node> fmt::Debug for Goto<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Goto").field("alternative", &self.step.alternative()).finish_non_exhaustive()
    }
}

impl<N: Node, B> fmt::Debug for Choice<N, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Choice").finish_non_exhaustive()
    }
}
