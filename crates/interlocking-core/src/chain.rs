//! A chain of executions that run one after the other.

use crate::context::Cx;
use crate::effects::Effects;
use crate::entered::Entered;
use crate::failure::NodeError;
use crate::frontier::{Execution, Payload as _};
use crate::graph::{Done, Graph, Node, Relay};
use crate::kind::Kind;
use crate::net::{AlternativeIndex, PlaceIndex};
use crate::route::{Route, Step};
use std::marker::PhantomData;

/// A chain of executions that run one after the other: the state that [`dispatch`](crate::dispatch) keeps beside the
/// token.
#[doc(hidden)]
pub struct Chain<'run, G: Graph> {
    pub(crate) entered: Entered<'run, G>,
    pub(crate) effects: Effects,
    relay: &'run mut dyn Relay,
}

/// Runs one execution of the node `N`, whose kind is `kind`.
pub async fn run<N, K>(kind: &K, input: N::Input, entered: Entered<'_, N::Graph>) -> Done<N::Graph>
where
    N: Node,
    K: Kind<N>,
{
    let mut chain = Chain::new(entered, no_relay());
    let mut cx = Cx { entered: &chain.entered, effects: &mut chain.effects, node: PhantomData };
    let route = leave(kind.run(input, &mut cx).await);
    chain.done(route)
}

/// The route, without the node's type.
///
/// # Errors
///
/// The handler's.
#[inline]
pub(crate) fn leave<N: Node>(route: Route<N>) -> Result<Step<<N::Graph as Graph>::Token>, NodeError> {
    match route {
        Ok(next) => Ok(next.into_step()),
        Err(error) => Err(error),
    }
}

impl<'run, G: Graph> Chain<'run, G> {
    /// Starts a chain with its first execution.
    #[inline]
    pub fn new(entered: Entered<'run, G>, relay: &'run mut dyn Relay) -> Self {
        Self { entered, effects: Effects::default(), relay }
    }

    /// Whether the chain continues along an alternative. If so, this is afterwards at the node that the
    /// alternative leads to.
    #[inline]
    pub fn continues(&mut self, alternative: AlternativeIndex, token: &G::Token) -> bool {
        self.effects.is_empty() && self.relay.relay(alternative, token.place(), &mut self.entered.execution)
    }

    /// [`continues`](Self::continues), but only to a place from `first` to `last`.
    #[inline]
    pub fn continues_within(
        &mut self,
        first: PlaceIndex,
        last: PlaceIndex,
        alternative: AlternativeIndex,
        token: &G::Token,
    ) -> bool {
        (first..=last).contains(&token.place()) && self.continues(alternative, token)
    }

    /// The start of a shorter chain within this one.
    pub fn reborrow(&mut self) -> (Entered<'run, G>, &mut dyn Relay) {
        (self.entered, &mut *self.relay)
    }

    /// Takes over the result of a shorter chain.
    pub fn after(&mut self, done: Done<G>) -> Result<Step<G::Token>, NodeError> {
        self.effects = done.effects;
        done.route
    }

    /// The result of the chain.
    pub fn done(self, route: Result<Step<G::Token>, NodeError>) -> Done<G> {
        Done { route, effects: self.effects }
    }
}

/// A relay that continues no chain: for a single execution.
#[inline]
pub fn no_relay<'run>() -> &'run mut dyn Relay {
    let nothing: &mut [Execution; 0] = &mut [];
    nothing
}
