//! Node kinds: the type of a node's field says how the node runs.

use crate::context::Cx;
use crate::graph::{Forks, Node};
use crate::route::Route;
use std::future::Future;

/// How nodes of one kind run their handler. A new kind implements this trait, and needs no change to derived code.
#[diagnostic::on_unimplemented(
    message = "the field's type cannot run node `{N}`",
    label = "implement the handler trait of this kind for node `{N}`"
)]
pub trait Kind<N: Node>: Send + Sync {
    /// Runs the node once.
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// A node whose handler is plain async Rust.
///
/// The value holds what its handler needs, here a limit:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Post {
///     #[node(entry, input = String, goto(exit))]
///     shorten: LogicNode<Shorten>,
/// }
///
/// struct Shorten {
///     characters: usize,
/// }
/// impl LogicHandler<post::shorten> for Shorten {
///     async fn run(&self, text: String, cx: &mut Cx<'_, post::shorten>) -> Route<post::shorten> {
///         goto!(cx, post::exit, text.chars().take(self.characters).collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let post = Post { shorten: LogicNode(Shorten { characters: 4 }) };
/// assert_eq!(Run::new(post).start("mind the gap".to_owned()).await?.outcome.finished().as_deref(), Some("mind"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LogicNode<H>(pub H);

/// A node that continues on all of its branches.
///
/// A branch may lead straight to the slot of a join, while another branch does work first:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = (String, usize))]
/// struct Parcel {
///     #[node(entry, input = String, fork(label.text, weigh))]
///     accept: ForkNode<Accept>,
///     #[node(input = String, goto(label.grams))]
///     weigh: LogicNode<Weigh>,
///     #[node(join(text: String from(accept), grams: usize from(weigh)), goto(exit))]
///     label: JoinNode<Label>,
/// }
///
/// struct Accept;
/// impl ForkHandler<parcel::accept> for Accept {
///     async fn fork(&self, text: String, cx: &mut Cx<'_, parcel::accept>) -> Route<parcel::accept> {
///         fork!(cx, (text.clone(), text))
///     }
/// }
/// # struct Weigh;
/// # impl LogicHandler<parcel::weigh> for Weigh {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, parcel::weigh>) -> Route<parcel::weigh> {
/// #         goto!(cx, parcel::label_grams, text.len())
/// #     }
/// # }
/// # struct Label;
/// # impl JoinHandler<parcel::label> for Label {
/// #     async fn join(&self, slots: (String, usize), cx: &mut Cx<'_, parcel::label>) -> Route<parcel::label> {
/// #         goto!(cx, parcel::exit, slots)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let parcel = Parcel { accept: ForkNode(Accept), weigh: LogicNode(Weigh), label: JoinNode(Label) };
/// assert_eq!(Run::new(parcel).start("books".to_owned()).await?.outcome.finished(), Some(("books".to_owned(), 5)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ForkNode<H>(pub H);

/// A node that fires once when every slot has a value.
///
/// With `quorum = 1` it continues with the first value that arrives, and cancels the other branches:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Mirrors {
///     #[node(entry, input = String, fork(near, far))]
///     ask: ForkNode<Both>,
///     #[node(input = String, goto(first))]
///     near: LogicNode<Near>,
///     #[node(input = String, goto(first))]
///     far: LogicNode<Far>,
///     #[node(join(near: String, far: String), quorum = 1, cancels(near, far), goto(exit))]
///     first: JoinNode<First>,
/// }
///
/// struct First;
/// impl JoinHandler<mirrors::first> for First {
///     async fn join(
///         &self,
///         (near, far): (Option<String>, Option<String>),
///         cx: &mut Cx<'_, mirrors::first>,
///     ) -> Route<mirrors::first> {
///         goto!(cx, mirrors::exit, near.or(far).ok_or("nobody came")?)
///     }
/// }
/// # struct Both;
/// # impl ForkHandler<mirrors::ask> for Both {
/// #     async fn fork(&self, name: String, cx: &mut Cx<'_, mirrors::ask>) -> Route<mirrors::ask> {
/// #         fork!(cx, (name.clone(), name))
/// #     }
/// # }
/// # struct Near;
/// # impl LogicHandler<mirrors::near> for Near {
/// #     async fn run(&self, name: String, cx: &mut Cx<'_, mirrors::near>) -> Route<mirrors::near> {
/// #         goto!(cx, mirrors::first, format!("{name} from near by"))
/// #     }
/// # }
/// # struct Far;
/// # impl LogicHandler<mirrors::far> for Far {
/// #     async fn run(&self, name: String, cx: &mut Cx<'_, mirrors::far>) -> Route<mirrors::far> {
/// #         std::future::pending::<()>().await;
/// #         goto!(cx, mirrors::first, name)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mirrors = Mirrors { ask: ForkNode(Both), near: LogicNode(Near), far: LogicNode(Far), first: JoinNode(First) };
/// let report = Run::new(mirrors).start("tides.csv".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("tides.csv from near by"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinNode<H>(pub H);

/// A node that handles a message from outside while the rest of the graph is paused.
///
/// The handler runs while no other node works. A node that waits for a person does not delay it, so a message can end
/// that wait. Any run may send the message, here the run itself:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Station {
///     #[node(entry, input = String, goto(wait))]
///     announce: LogicNode<Announce>,
///     #[node(input = (), question = String, answer = String, goto(exit))]
///     wait: HumanNode<Wait>,
///     #[node(on(String), goto(exit, cancels(*)))]
///     arrived: EventNode<Arrived>,
/// }
///
/// struct Announce;
/// impl LogicHandler<station::announce> for Announce {
///     async fn run(&self, train: String, cx: &mut Cx<'_, station::announce>) -> Route<station::announce> {
///         let to = cx.run_id().clone();
///         cx.send::<station::arrived>(&to, &train)?;
///         goto!(cx, station::wait, ())
///     }
/// }
///
/// struct Arrived;
/// impl EventHandler<station::arrived> for Arrived {
///     async fn handle(&self, train: String, cx: &mut Cx<'_, station::arrived>) -> Route<station::arrived> {
///         goto!(cx, station::exit, train)
///     }
/// }
/// # struct Wait;
/// # impl HumanHandler<station::wait> for Wait {
/// #     async fn ask(&self, (): &(), _: &mut Cx<'_, station::wait>) -> Result<String, NodeError> {
/// #         Ok("Which train has come?".to_owned())
/// #     }
/// #     async fn answered(&self, (): (), train: String, cx: &mut Cx<'_, station::wait>) -> Route<station::wait> {
/// #         goto!(cx, station::exit, train)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let station = Station { announce: LogicNode(Announce), wait: HumanNode(Wait), arrived: EventNode(Arrived) };
/// let report = Run::new(station).start("the 8:15".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("the 8:15"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EventNode<H>(pub H);

/// The handler of a [`LogicNode`].
///
/// It is plain async Rust: an error that `?` returns is the failure of the node.
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = u64)]
/// struct Bill {
///     #[node(entry, input = String, goto(exit))]
///     sum: LogicNode<Sum>,
/// }
///
/// struct Sum;
/// impl LogicHandler<bill::sum> for Sum {
///     async fn run(&self, text: String, cx: &mut Cx<'_, bill::sum>) -> Route<bill::sum> {
///         let cents = text.lines().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>()?;
///         goto!(cx, bill::exit, cents.iter().sum())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let bill = |text: &str| Run::new(Bill { sum: LogicNode(Sum) }).start(text.to_owned());
/// assert_eq!(bill("250\n120").await?.outcome.finished(), Some(370));
///
/// let Outcome::Failed(failure) = bill("free").await?.outcome else { return Err("it has a sum".into()) };
/// assert_eq!(failure.to_string(), "node `sum` failed: invalid digit found in string");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle logic node `{N}`",
    label = "missing `impl LogicHandler<{N}> for {Self}`"
)]
pub trait LogicHandler<N: Node>: Send + Sync {
    /// Does the node's work and says where to go next.
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of a [`ForkNode`].
///
/// Both counts run at the same time, each on its own copy of the text:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Desk {
///     #[node(entry, input = String, fork(words, lines))]
///     split: ForkNode<Split>,
///     #[node(input = String, goto(sum))]
///     words: LogicNode<Words>,
///     #[node(input = String, goto(sum))]
///     lines: LogicNode<Lines>,
///     #[node(join(words: usize, lines: usize), goto(exit))]
///     sum: JoinNode<Sum>,
/// }
///
/// struct Split;
/// impl ForkHandler<desk::split> for Split {
///     async fn fork(&self, text: String, cx: &mut Cx<'_, desk::split>) -> Route<desk::split> {
///         fork!(cx, (text.clone(), text))
///     }
/// }
/// # struct Words;
/// # impl LogicHandler<desk::words> for Words {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, desk::words>) -> Route<desk::words> {
/// #         goto!(cx, desk::sum, text.split_whitespace().count())
/// #     }
/// # }
/// # struct Lines;
/// # impl LogicHandler<desk::lines> for Lines {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, desk::lines>) -> Route<desk::lines> {
/// #         goto!(cx, desk::sum, text.lines().count())
/// #     }
/// # }
/// # struct Sum;
/// # impl JoinHandler<desk::sum> for Sum {
/// #     async fn join(&self, (words, lines): (usize, usize), cx: &mut Cx<'_, desk::sum>) -> Route<desk::sum> {
/// #         goto!(cx, desk::exit, format!("{words} words on {lines} lines"))
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let desk = Desk { split: ForkNode(Split), words: LogicNode(Words), lines: LogicNode(Lines), sum: JoinNode(Sum) };
/// let report = Run::new(desk).start("mind\nthe gap".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("3 words on 2 lines"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle fork node `{N}`",
    label = "missing `impl ForkHandler<{N}> for {Self}`"
)]
pub trait ForkHandler<N: Forks>: Send + Sync {
    /// Makes one payload per branch: `fork!(cx, (a, b))`.
    fn fork(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of a [`JoinNode`].
///
/// The results of two nodes arrive as a tuple, in the order of the slots:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Desk {
///     #[node(entry, input = String, fork(words, lines))]
///     split: ForkNode<Split>,
///     #[node(input = String, goto(sum))]
///     words: LogicNode<Words>,
///     #[node(input = String, goto(sum))]
///     lines: LogicNode<Lines>,
///     #[node(join(words: usize, lines: usize), goto(exit))]
///     sum: JoinNode<Sum>,
/// }
/// # struct Split;
/// # impl ForkHandler<desk::split> for Split {
/// #     async fn fork(&self, text: String, cx: &mut Cx<'_, desk::split>) -> Route<desk::split> {
/// #         fork!(cx, (text.clone(), text))
/// #     }
/// # }
/// # struct Words;
/// # impl LogicHandler<desk::words> for Words {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, desk::words>) -> Route<desk::words> {
/// #         goto!(cx, desk::sum, text.split_whitespace().count())
/// #     }
/// # }
/// # struct Lines;
/// # impl LogicHandler<desk::lines> for Lines {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, desk::lines>) -> Route<desk::lines> {
/// #         goto!(cx, desk::sum, text.lines().count())
/// #     }
/// # }
///
/// struct Sum;
/// impl JoinHandler<desk::sum> for Sum {
///     async fn join(&self, (words, lines): (usize, usize), cx: &mut Cx<'_, desk::sum>) -> Route<desk::sum> {
///         goto!(cx, desk::exit, format!("{words} words on {lines} lines"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let desk = Desk { split: ForkNode(Split), words: LogicNode(Words), lines: LogicNode(Lines), sum: JoinNode(Sum) };
/// let report = Run::new(desk).start("mind\nthe gap".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("3 words on 2 lines"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle join node `{N}`",
    label = "missing `impl JoinHandler<{N}> for {Self}`"
)]
pub trait JoinHandler<N: Node>: Send + Sync {
    /// Takes one value per slot, in table order, and says where to go next.
    fn join(&self, slots: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

/// The handler of an [`EventNode`].
///
/// A message that changes the order redirects the run; a message that repeats the order leaves the run as it is:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Kitchen {
///     #[node(entry, input = String, goto(confirm))]
///     order: LogicNode<Order>,
///     #[node(input = String, question = String, answer = bool, goto(exit))]
///     confirm: HumanNode<Confirm>,
///     #[node(on(String), resume, goto(confirm, cancels(*)), visits = 3)]
///     changed: EventNode<Changed>,
/// }
///
/// struct Changed;
/// impl EventHandler<kitchen::changed> for Changed {
///     async fn handle(&self, dish: String, cx: &mut Cx<'_, kitchen::changed>) -> Route<kitchen::changed> {
///         if dish == cx.input_of::<kitchen::confirm>()? { cx.resume() } else { goto!(cx, kitchen::confirm, dish) }
///     }
/// }
/// # struct Order;
/// # impl LogicHandler<kitchen::order> for Order {
/// #     async fn run(&self, dish: String, cx: &mut Cx<'_, kitchen::order>) -> Route<kitchen::order> {
/// #         let to = cx.run_id().clone();
/// #         cx.send::<kitchen::changed>(&to, &dish)?;
/// #         cx.send::<kitchen::changed>(&to, &"pie".to_owned())?;
/// #         goto!(cx, kitchen::confirm, dish)
/// #     }
/// # }
/// # struct Confirm;
/// # impl HumanHandler<kitchen::confirm> for Confirm {
/// #     async fn ask(&self, dish: &String, _: &mut Cx<'_, kitchen::confirm>) -> Result<String, NodeError> {
/// #         Ok(format!("Shall it be {dish}?"))
/// #     }
/// #     async fn answered(&self, dish: String, _: bool, cx: &mut Cx<'_, kitchen::confirm>) -> Route<kitchen::confirm> {
/// #         goto!(cx, kitchen::exit, dish)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let kitchen = Kitchen { order: LogicNode(Order), confirm: HumanNode(Confirm), changed: EventNode(Changed) };
/// // While a person is asked about the soup, somebody says "soup", and then "pie".
/// let report = Run::new(kitchen).start("soup".to_owned()).await?;
/// let Outcome::Waiting { questions } = report.outcome else { return Err("nobody is asked".into()) };
/// assert_eq!(questions[0].question, "Shall it be pie?");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle event node `{N}`",
    label = "missing `impl EventHandler<{N}> for {Self}`"
)]
pub trait EventHandler<N: Node>: Send + Sync {
    /// Handles one message: leaves the run as it is with `cx.resume()`, or redirects it with `goto!`.
    fn handle(&self, message: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

impl<N: Node, H: LogicHandler<N>> Kind<N> for LogicNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.run(input, cx)
    }
}

impl<N: Forks, H: ForkHandler<N>> Kind<N> for ForkNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.fork(input, cx)
    }
}

impl<N: Node, H: JoinHandler<N>> Kind<N> for JoinNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.join(input, cx)
    }
}

impl<N: Node, H: EventHandler<N>> Kind<N> for EventNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        self.0.handle(input, cx)
    }
}
