//! Dispatches a token to the node it is for: the loop that awaits handlers, written once for all graphs. Only derived
//! code uses it.
//!
//! If the derive wrote the loop into each graph's crate, the compiler would have to check there one future that holds
//! the futures of all nodes, which is the largest part of a graph's compile time. Here the loop is checked once,
//! generic over the nodes, and a graph only lists its nodes: [`Few`] for up to sixteen, [`Many`] for blocks of them.

use crate::chain::{Chain, leave};
use crate::context::Cx;
use crate::entered::Entered;
use crate::graph::{Done, Field, Graph, Node, Relay, misplaced};
use crate::kind::Kind;
use crate::net::{NodeIndex, PlaceIndex};
use crate::route::{Route, Step};
use std::convert::Infallible;
use std::future::{Future, pending};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// A token that knows which node consumes it.
pub trait Addressed: crate::graph::Token {
    /// The node; any number beyond the table if no node consumes the token.
    fn node(&self) -> NodeIndex;
}

/// Nodes of a graph that follow each other in its table.
pub trait Nodes<G: Graph>: 'static {
    /// [`Graph::chain`], for as long as the chain stays among these nodes. The input must be for one of them.
    fn chain<'run>(
        graph: &'run G,
        input: G::Token,
        entered: Entered<'run, G>,
        relay: &'run mut dyn Relay,
    ) -> impl Future<Output = Done<G>> + Send + 'run;
}

/// A tuple of sixteen [`Field`]s, padded with [`Padding`]: the nodes from `FIRST` on, with the places from `PLACE` to
/// `LAST`.
pub struct Few<T, const FIRST: NodeIndex, const PLACE: PlaceIndex, const LAST: PlaceIndex>(PhantomData<fn() -> T>);

/// A tuple of sixteen [`Nodes`] of `EACH` nodes each (the last may have fewer), padded with [`Padding`].
pub struct Many<T, const FIRST: NodeIndex, const EACH: NodeIndex, const PLACE: PlaceIndex, const LAST: PlaceIndex>(
    PhantomData<fn() -> T>,
);

/// No node: pads a tuple.
pub struct Padding<G>(PhantomData<fn() -> G>);

impl<G: Graph> Node for Padding<G> {
    type Graph = G;
    type Input = Infallible;
    const INDEX: NodeIndex = NodeIndex::MAX;

    fn take(_: G::Token) -> Infallible {
        wrong_node()
    }
}

impl<G: Graph> Field for Padding<G> {
    const EXISTS: bool = false;
    type Kind = Self;

    fn of(_: &G) -> &Self {
        &Self(PhantomData)
    }
}

impl<G: Graph> Kind<Self> for Padding<G> {
    fn run(&self, input: Infallible, _: &mut Cx<'_, Self>) -> impl Future<Output = Route<Self>> + Send {
        match input {}
        #[expect(unreachable_code, reason = "the type of the future must be known all the same")]
        pending()
    }
}

impl<G: Graph> Nodes<G> for Padding<G> {
    fn chain<'run>(
        _: &'run G,
        _: G::Token,
        _: Entered<'run, G>,
        _: &'run mut dyn Relay,
    ) -> impl Future<Output = Done<G>> + Send + 'run {
        std::future::ready(Done::misplaced())
    }
}

/// The match arm for a token. The token is passed by value, because a borrowed variable would stay in the future.
///
/// The token is wrapped in [`ManuallyDrop`] because it is always moved on at once. Without the wrapper, the future
/// would hold a drop flag for the token, which every transition sets and clears. Nothing in between can fail, so no
/// token is leaked.
#[inline]
fn arm<T: Addressed>(token: ManuallyDrop<T>, first: NodeIndex, each: NodeIndex) -> (NodeIndex, ManuallyDrop<T>) {
    (token.node().wrapping_sub(first) / each, token)
}

/// Starts the node that the token is for.
#[inline]
fn call<N: Field>(
    graph: &N::Graph,
    token: ManuallyDrop<Token<N>>,
    cx: &mut Cx<'_, N>,
) -> impl Future<Output = Route<N>> + Send {
    N::of(graph).run(N::take(ManuallyDrop::into_inner(token)), cx)
}

/// Reports a token that is not for the node it names.
///
/// # Panics
///
/// Always.
#[cold]
pub fn wrong_node() -> ! {
    unreachable!("derived code names the node of a token and takes its input by the same variant")
}

type Token<N> = <<N as Node>::Graph as Graph>::Token;

macro_rules! sixteen {
    ($($node:ident $index:literal),*) => {
        impl<G, $($node,)* const FIRST: NodeIndex, const PLACE: PlaceIndex, const LAST: PlaceIndex> Nodes<G>
            for Few<($($node,)*), FIRST, PLACE, LAST>
        where
            G: Graph<Token: Addressed>,
            $($node: Field<Graph = G>,)*
        {
            // Not an `async fn`, which would move its arguments once more.
            #[inline]
            fn chain<'run>(
                graph: &'run G,
                input: G::Token,
                entered: Entered<'run, G>,
                relay: &'run mut dyn Relay,
            ) -> impl Future<Output = Done<G>> + Send + 'run {
                let mut chain = Chain::new(entered, relay);
                async move {
                    // A captured variable would stay in the future, so the token moves to a local one.
                    let mut next = ManuallyDrop::new(input);
                    loop {
                        let (arm, input) = arm(next, FIRST, 1);
                        // Each arm consumes the token before it awaits, so that no future holds the token.
                        let route = match arm {
                            $($index if $node::EXISTS => {
                                let Chain { entered, effects, .. } = &mut chain;
                                let mut cx = Cx { entered, effects, node: PhantomData };
                                leave(call::<$node>(graph, input, &mut cx).await)
                            })*
                            _ => {
                                drop(ManuallyDrop::into_inner(input));
                                misplaced()
                            }
                        };
                        match route {
                            Ok(Step::One(way, token)) if chain.continues_within(PLACE, LAST, way, &token) => {
                                next = ManuallyDrop::new(token);
                            }
                            route => return chain.done(route),
                        }
                    }
                }
            }
        }

        impl<
            G,
            $($node,)*
            const FIRST: NodeIndex,
            const EACH: NodeIndex,
            const PLACE: PlaceIndex,
            const LAST: PlaceIndex,
        > Nodes<G> for Many<($($node,)*), FIRST, EACH, PLACE, LAST>
        where
            G: Graph<Token: Addressed>,
            $($node: Nodes<G>,)*
        {
            fn chain<'run>(
                graph: &'run G,
                input: G::Token,
                entered: Entered<'run, G>,
                relay: &'run mut dyn Relay,
            ) -> impl Future<Output = Done<G>> + Send + 'run {
                let mut chain = Chain::new(entered, relay);
                async move {
                    // A captured variable would stay in the future, so the token moves to a local one.
                    let mut next = ManuallyDrop::new(input);
                    loop {
                        let (arm, input) = arm(next, FIRST, EACH);
                        let (entered, relay) = chain.reborrow();
                        let done = match arm {
                            $($index => $node::chain(graph, ManuallyDrop::into_inner(input), entered, relay).await,)*
                            _ => {
                                drop(ManuallyDrop::into_inner(input));
                                Done::misplaced()
                            }
                        };
                        match chain.after(done) {
                            Ok(Step::One(way, token)) if chain.continues_within(PLACE, LAST, way, &token) => {
                                next = ManuallyDrop::new(token);
                            }
                            route => return chain.done(route),
                        }
                    }
                }
            }
        }
    };
}

sixteen!(
    N0 0, N1 1, N2 2, N3 3, N4 4, N5 5, N6 6, N7 7, N8 8, N9 9, N10 10, N11 11, N12 12, N13 13, N14 14, N15 15
);
