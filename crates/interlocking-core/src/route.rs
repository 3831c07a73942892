//! Where a handler goes next.

use crate::failure::NodeError;
use crate::graph::{Graph, Node};
pub use crate::step::Step;
use std::fmt;
use std::marker::PhantomData;

/// What a handler returns: where to go next, or the node's error.
///
/// Only the context's [`goto`](crate::context::Cx::goto), [`fork`](crate::context::Cx::fork) and their macros make a
/// [`Goto`], so it can lead only where the node's row of the table allows. Any error converts into a [`NodeError`] with
/// `?`.
///
/// Code that several paths of a handler share can be a function that returns the route:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Newsroom {
///     #[node(entry, input = String, goto(review, exit), visits = 3)]
///     review: LogicNode<Review>,
/// }
///
/// fn publish(text: &str, cx: &Cx<'_, newsroom::review>) -> Route<newsroom::review> {
///     if text.is_empty() {
///         return Err("there is nothing to publish".into());
///     }
///     goto!(cx, newsroom::exit, text.to_owned())
/// }
///
/// struct Review;
/// impl LogicHandler<newsroom::review> for Review {
///     async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::review>) -> Route<newsroom::review> {
///         match text.strip_suffix("!") {
///             Some(calmer) if !cx.is_final_visit() => goto!(cx, self, calmer.to_owned()),
///             Some(calmer) => publish(calmer, cx),
///             None => publish(&text, cx),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Newsroom { review: LogicNode(Review) }).start("Rain!!".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("Rain"));
/// # Ok(())
/// # }
/// ```
pub type Route<N> = Result<Goto<N>, NodeError>;

/// The step from node `N`, as [`goto!`](crate::goto) makes it. A payload alone is not a step, as it does not say where
/// it goes.
pub struct Goto<N: Node> {
    step: Step<<N::Graph as Graph>::Token>,
    node: PhantomData<fn() -> N>,
}

/// A fork's branch with the target chosen for it. Made by [`Cx::branch`](crate::context::Cx::branch).
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

    /// Leaves the run as it is, for node kinds whose nodes take no token of the run.
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

/// Goes to a node with `goto!(cx, graph::node, payload)`, or to this node again with `goto!(cx, self, payload)`.
///
/// It compiles only for targets in the row of the node that `cx` belongs to, and only with the payload that the target
/// takes.
///
/// A node that goes to itself until the number is large enough, in at most five attempts:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Doubling {
///     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
///     double: LogicNode<Double>,
/// }
///
/// #[derive(Default)]
/// struct Double;
/// impl LogicHandler<doubling::double> for Double {
///     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
///         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Doubling::default()).start(30).await?;
/// assert_eq!(report.outcome.finished(), Some(120));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! goto {
    ($cx:expr, self, $payload:expr $(,)?) => {
        $cx.goto_self($payload)
    };
    ($cx:expr, $target:ty, $payload:expr $(,)?) => {
        $cx.goto::<$target>($payload)
    };
}

/// Continues on all branches of the node's fork: `fork!(cx, (first, second))`, one payload per branch in table order.
///
/// A branch that may choose among several targets takes `cx.branch::<graph::target>(payload)`.
///
/// Any node with a `fork(…)` in its row may continue on all branches, here as an alternative to a `goto`:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = u32)]
/// struct Halving {
///     #[node(entry, input = u32, fork(left, right), goto(exit))]
///     halve: LogicNode<Halve>,
///     #[node(input = u32, goto(sum))]
///     left: LogicNode<Square>,
///     #[node(input = u32, goto(sum))]
///     right: LogicNode<Square>,
///     #[node(join(left: u32, right: u32), goto(exit))]
///     sum: JoinNode<Sum>,
/// }
///
/// struct Halve;
/// impl LogicHandler<halving::halve> for Halve {
///     async fn run(&self, number: u32, cx: &mut Cx<'_, halving::halve>) -> Route<halving::halve> {
///         match number {
///             0 => goto!(cx, halving::exit, 0),
///             _ => fork!(cx, (number / 2, number - number / 2)),
///         }
///     }
/// }
/// # struct Square;
/// # impl LogicHandler<halving::left> for Square {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, halving::left>) -> Route<halving::left> {
/// #         goto!(cx, halving::sum, number * number)
/// #     }
/// # }
/// # impl LogicHandler<halving::right> for Square {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, halving::right>) -> Route<halving::right> {
/// #         goto!(cx, halving::sum, number * number)
/// #     }
/// # }
/// # struct Sum;
/// # impl JoinHandler<halving::sum> for Sum {
/// #     async fn join(&self, (left, right): (u32, u32), cx: &mut Cx<'_, halving::sum>) -> Route<halving::sum> {
/// #         goto!(cx, halving::exit, left + right)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (left, right) = (LogicNode(Square), LogicNode(Square));
/// # let halving = Halving { halve: LogicNode(Halve), left, right, sum: JoinNode(Sum) };
/// assert_eq!(Run::new(halving).start(7).await?.outcome.finished(), Some(9 + 16));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! fork {
    ($cx:expr, $branches:expr $(,)?) => {
        $cx.fork($branches)
    };
}
