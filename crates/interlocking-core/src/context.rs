//! What a handler can read of its run and request from it.

use crate::frontier::Execution;
use crate::graph::{Branch, Edge, Forks, Graph, Memory, Node, Place, Remembers, Resumes, Spawns, Works};
use crate::net::NodeIndex;
use crate::route::{Choice, Goto, Route, Step};
use crate::run_id::RunId;
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

pub use crate::effects::{Addition, Commit, Effects, MemoryCell, Message, NewItem};
pub use crate::entered::Entered;
pub use crate::label::{Label, LabelType, Labelled, Severity};
pub use crate::services::{ContextError, Services, Workspace};

/// A handler's view of the run, typed by the node it stands on.
///
/// A node that reads its attempt number, and goes only where its row of the table lets it:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Download {
///     #[node(entry, input = String, goto(fetch, exit), attempts = 3)]
///     fetch: LogicNode<Fetch>,
/// }
///
/// struct Fetch;
/// impl LogicHandler<download::fetch> for Fetch {
///     async fn run(&self, path: String, cx: &mut Cx<'_, download::fetch>) -> Route<download::fetch> {
///         cx.note(format!("attempt {} of {path}", cx.attempt()));
///         match std::fs::read_to_string(&path) {
///             Ok(text) => goto!(cx, download::exit, text),
///             Err(error) if cx.is_final_attempt() => Err(error.into()),
///             Err(_) => goto!(cx, self, path),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Download { fetch: LogicNode(Fetch) }).start("no/such/file".to_owned()).await?;
/// let Outcome::Failed(failure) = report.outcome else { return Err("there is such a file".into()) };
/// assert_eq!(failure.attempt, 3);
/// # Ok(())
/// # }
/// ```
pub struct Cx<'run, N: Node> {
    pub(crate) entered: &'run Entered<'run, N::Graph>,
    pub(crate) effects: &'run mut Effects,
    pub(crate) node: PhantomData<fn() -> N>,
}

impl<N: Node> fmt::Debug for Cx<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let execution = self.execution();
        f.debug_struct("Cx").field("node", &self.node()).field("execution", &execution).finish_non_exhaustive()
    }
}

/// The route.
impl<N: Node> Cx<'_, N> {
    /// Goes to `Target` with `payload`. [`goto!`](crate::goto) is the shorter form.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    pub fn goto<Target>(&self, payload: <<N as Edge<Target>>::To as Place>::Payload) -> Route<N>
    where
        N: Edge<Target>,
    {
        Ok(Goto::new(Step::One(N::ALTERNATIVE, <N as Edge<Target>>::To::put(payload))))
    }

    /// Goes to this node again.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    pub fn goto_self(&self, payload: <<N as Edge<N>>::To as Place>::Payload) -> Route<N>
    where
        N: Edge<N>,
    {
        self.goto::<N>(payload)
    }

    /// Continues on all branches of the node's fork: one payload per branch, in table order.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    pub fn fork(&self, branches: N::Branches) -> Route<N>
    where
        N: Forks,
    {
        Ok(Goto::new(Step::All(N::ALTERNATIVE, N::tokens(branches))))
    }

    /// The target of a branch that may choose among several.
    ///
    /// A fork that skips a branch where there is nothing to do, and fills that branch's slot directly:
    ///
    /// ```
    /// use interlocking::prelude::*;
    ///
    /// #[derive(Graph)]
    /// #[graph(output = String)]
    /// struct Translation {
    ///     #[node(entry, input = String, fork(pages.original, translate | pages.translation))]
    ///     split: ForkNode<Split>,
    ///     #[node(input = String, goto(pages.translation))]
    ///     translate: LogicNode<Translate>,
    ///     #[node(join(original: String from(split), translation: String from(translate, split)), goto(exit))]
    ///     pages: JoinNode<Pages>,
    /// }
    ///
    /// struct Split;
    /// impl ForkHandler<translation::split> for Split {
    ///     async fn fork(&self, text: String, cx: &mut Cx<'_, translation::split>) -> Route<translation::split> {
    ///         if text.is_ascii() {
    ///             return fork!(cx, (text, cx.branch::<translation::pages_translation>("the same".to_owned())));
    ///         }
    ///         fork!(cx, (text.clone(), cx.branch::<translation::translate>(text)))
    ///     }
    /// }
    /// # struct Translate;
    /// # impl LogicHandler<translation::translate> for Translate {
    /// #     async fn run(&self, text: String, cx: &mut Cx<'_, translation::translate>) -> Route<translation::translate> {
    /// #         goto!(cx, translation::pages_translation, text.to_uppercase())
    /// #     }
    /// # }
    /// # struct Pages;
    /// # impl JoinHandler<translation::pages> for Pages {
    /// #     async fn join(&self, (original, other): (String, String), cx: &mut Cx<'_, translation::pages>) -> Route<translation::pages> {
    /// #         goto!(cx, translation::exit, format!("{original}: {other}"))
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = || Translation { split: ForkNode(Split), translate: LogicNode(Translate), pages: JoinNode(Pages) };
    /// let report = Run::new(graph()).start("tea".to_owned()).await?;
    /// assert_eq!(report.outcome.finished().as_deref(), Some("tea: the same"));
    /// # assert_eq!(Run::new(graph()).start("thé".to_owned()).await?.outcome.finished().as_deref(), Some("thé: THÉ"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn branch<Target>(
        &self,
        payload: <<N as Branch<Target>>::To as Place>::Payload,
    ) -> Choice<N, <N as Branch<Target>>::Position>
    where
        N: Branch<Target>,
    {
        Choice::new(<N as Branch<Target>>::To::put(payload))
    }
}

/// What a handler requests beside its route.
impl<N: Node> Cx<'_, N> {
    /// Leaves the run as it is. An event node does this when a message needs no redirect.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    pub fn resume(&self) -> Route<N>
    where
        N: Resumes,
    {
        Ok(Goto::stay())
    }

    /// Starts the advisory node `Target` beside the graph when this execution's outcome is accepted.
    pub fn spawn<Target>(&mut self, payload: <<N as Spawns<Target>>::To as Place>::Payload)
    where
        N: Spawns<Target>,
    {
        let token = <N as Spawns<Target>>::To::put(payload);
        self.effects.list().spawned.push(Box::new(token));
    }

    /// Records what sort of message this execution's tokens are, for readers of the journal and of the run's events:
    /// the label of `value`, whose type has `#[derive(Labels)]`.
    pub fn label(&mut self, value: &impl Labelled<N>) {
        self.effects.list().label = Some(Label::of::<N, _>(value));
    }

    /// Adds items to a map node, and leaves the run as it is otherwise, for executors.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    #[doc(hidden)]
    pub fn add_items(&mut self, map: NodeIndex, items: Vec<NewItem>) -> Route<N> {
        self.effects.list().added = Some(Addition { map, items });
        Ok(Goto::stay())
    }

    /// Sends a message, for executors.
    #[doc(hidden)]
    pub fn post(&mut self, to: RunId, node: &str, json: String) {
        self.effects.list().posted.push(Message { to, node: node.to_owned(), json });
    }

    /// Sets what an execution beside the graph reports, for node kinds.
    #[doc(hidden)]
    pub fn report(&mut self, json: String) {
        self.effects.list().report = Some(json);
    }
}

/// What the node knows of its run.
impl<N: Node> Cx<'_, N> {
    /// The run's name.
    pub fn run_id(&self) -> &RunId {
        self.entered.services.run_id()
    }

    /// The node's name.
    pub fn node(&self) -> &'static str {
        N::Graph::net().name(N::INDEX)
    }

    /// Which execution this is.
    pub fn execution(&self) -> Execution {
        self.entered.execution
    }

    /// How often the node has been entered in this run, this time included: 1-based, counted by the runtime.
    pub fn visit(&self) -> u32 {
        self.entered.execution.visit
    }

    /// Which attempt of this visit it is: 1-based, counted by the runtime.
    pub fn attempt(&self) -> u32 {
        self.entered.execution.attempt
    }

    /// Whether the table allows no further visit.
    pub fn is_final_visit(&self) -> bool {
        self.entered.execution.visit >= N::Graph::net().node(N::INDEX).visits
    }

    /// Whether the table allows no further attempt in this visit.
    pub fn is_final_attempt(&self) -> bool {
        N::Graph::net().node(N::INDEX).attempts.is_some_and(|limit| self.entered.execution.attempt >= limit)
    }

    /// What the run started with.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the executor does not have it.
    pub fn entry(&self) -> Result<&<N::Graph as Graph>::Entry, ContextError> {
        self.entered.services.entry()
    }

    /// The last input of node `Other`: a fresh copy, typed by its marker.
    ///
    /// A node that reads the input of another node, which no edge hands on to it:
    ///
    /// ```
    /// use interlocking::prelude::*;
    ///
    /// #[derive(Graph)]
    /// #[graph(output = String)]
    /// struct Orders {
    ///     #[node(entry, input = String, goto(price))]
    ///     order: LogicNode<Order>,
    ///     #[node(input = u32, goto(exit))]
    ///     price: LogicNode<Price>,
    /// }
    /// # struct Order;
    /// # impl LogicHandler<orders::order> for Order {
    /// #     async fn run(&self, _: String, cx: &mut Cx<'_, orders::order>) -> Route<orders::order> {
    /// #         goto!(cx, orders::price, 12)
    /// #     }
    /// # }
    ///
    /// struct Price;
    /// impl LogicHandler<orders::price> for Price {
    ///     async fn run(&self, dollars: u32, cx: &mut Cx<'_, orders::price>) -> Route<orders::price> {
    ///         let what = cx.input_of::<orders::order>()?;
    ///         goto!(cx, orders::exit, format!("{what} for ${dollars}"))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let report = Run::new(Orders { order: LogicNode(Order), price: LogicNode(Price) }).start("a lamp".to_owned()).await?;
    /// assert_eq!(report.outcome.finished().as_deref(), Some("a lamp for $12"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ContextError`] where that node was never entered, or the run has no journal to read it from.
    pub fn input_of<Other>(&self) -> Result<Other::Input, ContextError>
    where
        Other: Node<Graph = N::Graph>,
    {
        self.entered.services.last_input(Other::INDEX).map(Other::take)
    }

    /// The workspace in which the node works.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the run was not given a workspace of that name.
    pub fn workspace(&self) -> Result<Workspace, ContextError>
    where
        N: Works,
    {
        self.entered.services.workspace(N::INDEX)
    }

    /// Publishes a note among the events of the run, for instance about the progress of a long step.
    pub fn note(&self, text: impl Into<String>) {
        self.entered.services.note(self.entered.execution, text.into());
    }

    /// Records that the node made a commit in a workspace.
    pub fn committed(&mut self, workspace: impl Into<String>, id: impl Into<String>) {
        self.effects.list().commits.push(Commit { workspace: workspace.into(), id: id.into() });
    }
}

/// The executor.
impl<'run, N: Node> Cx<'run, N> {
    /// The executor's further services.
    #[doc(hidden)]
    pub fn extension(&self) -> &'run (dyn Any + Send + Sync) {
        self.entered.services.extension()
    }
}

/// The node's memory.
impl<N: Node> Cx<'_, N> {
    /// A copy of the memory as it is now, this execution's own updates included.
    ///
    /// # Panics
    ///
    /// If the executor does not keep the memory of the graph it runs.
    pub fn memory<M>(&self) -> M
    where
        N: Remembers<Memory = M>,
        M: Memory,
    {
        let mut value = self.cell().lock().clone();
        self.effects.apply_to(&mut value);
        value
    }

    /// Changes the memory when this execution's outcome is accepted.
    ///
    /// Until then only this execution sees the change; if it fails, times out or is cancelled, the change is dropped.
    /// Updates of concurrent nodes are applied one after the other, each to the value that the previous update left. So
    /// `change` may be called more than once, and should depend on nothing but its argument.
    ///
    /// A node that collects values over its visits, and sees its own changes at once:
    ///
    /// ```
    /// use interlocking::prelude::*;
    ///
    /// #[derive(Graph)]
    /// #[graph(output = Vec<u32>)]
    /// struct Countdown {
    ///     #[node(entry, input = u32, goto(count, exit), visits = 10, memory = Vec<u32>)]
    ///     count: LogicNode<Count>,
    /// }
    ///
    /// struct Count;
    /// impl LogicHandler<countdown::count> for Count {
    ///     async fn run(&self, number: u32, cx: &mut Cx<'_, countdown::count>) -> Route<countdown::count> {
    ///         cx.update_memory(move |counted| counted.push(number));
    ///         if number == 0 { goto!(cx, countdown::exit, cx.memory()) } else { goto!(cx, self, number - 1) }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let report = Run::new(Countdown { count: LogicNode(Count) }).start(3).await?;
    /// assert_eq!(report.outcome.finished(), Some(vec![3, 2, 1, 0]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_memory<M>(&mut self, change: impl Fn(&mut M) + Send + Sync + 'static)
    where
        N: Remembers<Memory = M>,
        M: Memory,
    {
        self.effects.list().updates.push(Box::new(move |value| {
            if let Some(value) = value.downcast_mut::<M>() {
                change(value);
            }
        }));
    }

    #[expect(clippy::expect_used, reason = "an executor that loses a declared memory cannot run the graph")]
    fn cell(&self) -> &MemoryCell<N::Memory>
    where
        N: Remembers,
    {
        let cell = self.entered.services.memory(N::GROUP).and_then(<dyn Any + Send + Sync>::downcast_ref);
        cell.expect("the executor keeps every memory group of the table")
    }
}
