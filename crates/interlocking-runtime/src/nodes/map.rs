//! The node kind that runs a child graph for each of a list of items.
//!
//! How many items there are is known only at run time. Up to `concurrency` children run at once. Each child is a run with a
//! journal of its own, and shares its parent's agents, budgets and observers. A child's failure is a value. The child graph may
//! be the node's own graph: such a recursion is limited by the node's `depth`.
//!
//! A child is identified by its parent, the node, the node's execution and the key of its item. So a map node that is resumed
//! after a crash continues the children that it had, and repeats nothing that was done. A map node that is entered again begins
//! its items anew, unless its table says `adopt`: then it adopts the children whose items have equal keys, except those that
//! failed or were cancelled, and except for items that are to [run anew](Item::anew).
//!
//! A node with a `quorum` need not wait for all children: see [`EnoughHandler`].

mod children;
mod quorum;
mod start;

pub use self::children::{Child, Children};
pub(super) use self::start::start;

use self::quorum::{Ask, Waiting, wait_for_quorum};
use self::start::Starter;
use crate::context::services::UntypedServices;
use crate::erased::graph_type::{AnyValue, GraphType, graph_type, typed};
use crate::workspaces::Workspaces;
use interlocking_core::context::{Cx, NewItem};
use interlocking_core::failure::{ChildFailure, NodeError};
use interlocking_core::graph::{Counted, Graph, Judged, Maps};
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use interlocking_core::run_id::RunId;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

/// A node that runs a child graph for each of a list of items.
///
/// A graph that runs itself for each part of its work, three deep at most:
///
/// ```
/// use interlocking::prelude::*;
/// use std::sync::Arc;
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Halves {
///     #[node(entry, input = u32, goto(split, exit))]
///     look: LogicNode<Look>,
///     #[node(input = u32, map = Halves, depth = 3, goto(exit))]
///     split: MapNode<Split>,
/// }
///
/// #[derive(Default)]
/// struct Look;
/// impl LogicHandler<halves::look> for Look {
///     async fn run(&self, size: u32, cx: &mut Cx<'_, halves::look>) -> Route<halves::look> {
///         // What is small, or as deep as may be, is one piece.
///         let may_split = cx.depth_limit::<halves::split>().is_none_or(|limit| cx.depth() < limit);
///         if size > 1 && may_split { goto!(cx, halves::split, size) } else { goto!(cx, halves::exit, 1) }
///     }
/// }
///
/// #[derive(Default)]
/// struct Split;
/// impl MapHandler<halves::split> for Split {
///     fn graph(&self, cx: &Cx<'_, halves::split>) -> Result<Arc<Halves>, NodeError> {
///         Ok(cx.own_graph()?)
///     }
///     async fn items(&self, size: &u32, _: &mut Cx<'_, halves::split>) -> Result<Vec<Item<Halves>>, NodeError> {
///         Ok(vec![Item::new(size / 2), Item::new(size - size / 2)])
///     }
///     async fn gather(&self, _: u32, children: Children<Halves>, cx: &mut Cx<'_, halves::split>) -> Route<halves::split> {
///         let pieces = children.all().await.into_iter().filter_map(|child| child.result.ok());
///         goto!(cx, halves::exit, pieces.sum())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// assert_eq!(Run::new(Halves::default()).start(4).await?.outcome.finished(), Some(4));
/// assert_eq!(Run::new(Halves::default()).start(1000).await?.outcome.finished(), Some(8));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MapNode<H>(pub H);

/// The handler of a [`MapNode`].
///
/// Texts whose words are counted side by side:
///
/// ```
/// use interlocking::prelude::*;
/// use std::sync::Arc;
///
/// #[derive(Graph)]
/// #[graph(output = usize)]
/// struct Counting {
///     #[node(entry, input = String, goto(exit))]
///     count: LogicNode<Count>,
/// }
///
/// #[derive(Graph)]
/// #[graph(output = usize)]
/// struct Library {
///     #[node(entry, input = Vec<String>, map = Counting, concurrency = 2, goto(exit))]
///     books: MapNode<Books>,
/// }
///
/// struct Count;
/// impl LogicHandler<counting::count> for Count {
///     async fn run(&self, text: String, cx: &mut Cx<'_, counting::count>) -> Route<counting::count> {
///         goto!(cx, counting::exit, text.split_whitespace().count())
///     }
/// }
///
/// struct Books;
/// impl MapHandler<library::books> for Books {
///     fn graph(&self, _: &Cx<'_, library::books>) -> Result<Arc<Counting>, NodeError> {
///         Ok(Arc::new(Counting { count: LogicNode(Count) }))
///     }
///     async fn items(
///         &self,
///         texts: &Vec<String>,
///         _: &mut Cx<'_, library::books>,
///     ) -> Result<Vec<Item<Counting>>, NodeError> {
///         Ok(texts.iter().map(|text| Item::new(text.clone())).collect())
///     }
///     async fn gather(
///         &self,
///         _: Vec<String>,
///         children: Children<Counting>,
///         cx: &mut Cx<'_, library::books>,
///     ) -> Route<library::books> {
///         // A child that failed counts for nothing.
///         let counts = children.all().await.into_iter().filter_map(|child| child.result.ok());
///         goto!(cx, library::exit, counts.sum())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let library = Library { books: MapNode(Books) };
/// let report = Run::new(library).start(vec!["mind the gap".into(), "all clear".into()]).await?;
/// assert_eq!(report.outcome.finished(), Some(5));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle map node `{N}`",
    label = "missing `impl MapHandler<{N}> for {Self}`"
)]
pub trait MapHandler<N: Maps>: Send + Sync {
    /// The graph that the children run. Where it is the node's own graph, [`own_graph`](crate::RunContext::own_graph) returns
    /// it.
    ///
    /// # Errors
    ///
    /// The node fails with the error.
    fn graph(&self, cx: &Cx<'_, N>) -> Result<Arc<N::Child>, NodeError>;

    /// The items: what the children start with. There may be none.
    fn items(
        &self,
        input: &N::Input,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Result<Vec<Item<N::Child>>, NodeError>> + Send;

    /// Takes the children's results, one at a time or all at once, and says where to go next. Children that are still running
    /// when this returns are stopped: a later entry of a node that says `adopt` continues them; a later entry of any other node
    /// ends them, and so does the end of the run.
    fn gather(
        &self,
        input: N::Input,
        children: Children<N::Child>,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send;
}

/// The result of an item's child; `None` while the child has not ended.
pub type Ended<O> = Option<Result<O, ChildFailure>>;

/// The handler of a [`MapNode`] with `quorum = enough`, beside its [`MapHandler`].
///
/// Parts are built until their sum is fifty:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::ChildFailure;
/// use std::sync::Arc;
/// #
/// # #[derive(Graph)]
/// # #[graph(output = u32)]
/// # struct Building {
/// #     #[node(entry, input = u32, goto(exit))]
/// #     build: LogicNode<Build>,
/// # }
/// # struct Build;
/// # impl LogicHandler<building::build> for Build {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, building::build>) -> Route<building::build> {
/// #         if number > 4 {
/// #             std::future::pending::<()>().await;
/// #         }
/// #         goto!(cx, building::exit, number * 10)
/// #     }
/// # }
///
/// #[derive(Graph)]
/// #[graph(output = u32)]
/// struct Site {
///     #[node(entry, input = Vec<u32>, map = Building, quorum = enough, goto(exit))]
///     parts: MapNode<Parts>,
/// }
///
/// struct Parts;
/// impl MapHandler<site::parts> for Parts {
/// #     fn graph(&self, _: &Cx<'_, site::parts>) -> Result<Arc<Building>, NodeError> {
/// #         Ok(Arc::new(Building { build: LogicNode(Build) }))
/// #     }
/// #     async fn items(&self, numbers: &Vec<u32>, _: &mut Cx<'_, site::parts>) -> Result<Vec<Item<Building>>, NodeError> {
/// #         Ok(numbers.iter().map(|&number| Item::new(number)).collect())
/// #     }
/// #     async fn gather(
/// #         &self,
/// #         _: Vec<u32>,
/// #         children: Children<Building>,
/// #         cx: &mut Cx<'_, site::parts>,
/// #     ) -> Route<site::parts> {
/// #         let built = children.all().await.into_iter().filter_map(|child| child.result.ok());
/// #         goto!(cx, site::exit, built.sum())
/// #     }
/// }
///
/// impl EnoughHandler<site::parts> for Parts {
///     async fn enough(&self, ended: &[Option<Result<u32, ChildFailure>>], _: &Cx<'_, site::parts>) -> bool {
///         ended.iter().flatten().flatten().sum::<u32>() >= 50
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // 10 and 40 are enough: the third, which takes for ever, is not waited for.
/// let report = Run::new(Site { parts: MapNode(Parts) }).start(vec![1, 4, 5]).await?;
/// assert_eq!(report.outcome.finished(), Some(50));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say when map node `{N}` has enough",
    label = "missing `impl EnoughHandler<{N}> for {Self}`",
    note = "the table says `quorum = enough`; `quorum = 2` needs no handler"
)]
pub trait EnoughHandler<N: Maps>: MapHandler<N> {
    /// Whether the rest of the children need not be waited for and can be cancelled. Called after each child's end with the
    /// results of all children so far, in the order of their items. If true, the node continues with
    /// [`gather`](MapHandler::gather).
    ///
    /// This only looks: `cx` takes no effects here. Once it has returned true, a run that is resumed does not call it again.
    fn enough(&self, ended: &[Ended<<N::Child as Graph>::Output>], cx: &Cx<'_, N>)
    -> impl Future<Output = bool> + Send;
}

/// An item of a map: what a child starts with.
///
/// With a key, an item is the same item in a later entry of its node, although it starts with something else:
///
/// ```
/// use interlocking::prelude::*;
/// use std::sync::Arc;
/// #
/// # #[derive(Graph)]
/// # #[graph(output = u32)]
/// # struct Building {
/// #     #[node(entry, input = u32, goto(exit))]
/// #     build: LogicNode<Build>,
/// # }
/// # struct Build;
/// # impl LogicHandler<building::build> for Build {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, building::build>) -> Route<building::build> {
/// #         if number == 0 { Err("there is nothing to build".into()) } else { goto!(cx, building::exit, number * 10) }
/// #     }
/// # }
///
/// #[derive(Graph)]
/// #[graph(output = u32)]
/// struct Site {
///     #[node(entry, input = Vec<u32>, map = Building, goto(exit))]
///     parts: MapNode<Parts>,
/// }
///
/// struct Parts;
/// impl MapHandler<site::parts> for Parts {
/// #     fn graph(&self, _: &Cx<'_, site::parts>) -> Result<Arc<Building>, NodeError> {
/// #         Ok(Arc::new(Building { build: LogicNode(Build) }))
/// #     }
///     async fn items(&self, numbers: &Vec<u32>, _: &mut Cx<'_, site::parts>) -> Result<Vec<Item<Building>>, NodeError> {
///         let items = numbers.iter().enumerate();
///         Ok(items.map(|(position, &number)| Item::new(number).with_key(format!("part {position}"))).collect())
///     }
/// #     async fn gather(
/// #         &self,
/// #         _: Vec<u32>,
/// #         children: Children<Building>,
/// #         cx: &mut Cx<'_, site::parts>,
/// #     ) -> Route<site::parts> {
/// #         let built = children.all().await.into_iter().filter_map(|child| child.result.ok());
/// #         goto!(cx, site::exit, built.sum())
/// #     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let report = Run::new(Site { parts: MapNode(Parts) }).start(vec![1, 4]).await?;
/// # assert_eq!(report.outcome.finished(), Some(50));
/// # Ok(())
/// # }
/// ```
pub struct Item<C: Graph> {
    item: AnyItem,
    graph: PhantomData<fn() -> C>,
}

/// An item of any graph.
pub(super) struct AnyItem {
    entry: AnyValue,
    key: Option<String>,
    anew: bool,
    anew_after: Option<RunId>,
    workspaces: Option<WorkspacesFor>,
}

/// Makes a child's workspaces from the name of the child's run.
type WorkspacesFor = Box<dyn FnOnce(&RunId) -> Arc<dyn Workspaces> + Send>;

impl<C: Graph> fmt::Debug for Item<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Item").field("key", &self.item.key).finish_non_exhaustive()
    }
}

impl AnyItem {
    /// An item that an event node has added.
    fn of_record(
        graph_type: &dyn GraphType,
        NewItem { entry, key, anew, anew_after }: NewItem,
    ) -> Result<Self, NodeError> {
        let entry = graph_type.read_entry(&entry)?;
        Ok(Self { entry, key: Some(key), anew, anew_after, workspaces: None })
    }

    /// The item as it is recorded when it is added.
    fn into_record(self, graph_type: &dyn GraphType) -> Result<NewItem, NodeError> {
        if self.workspaces.is_some() {
            return Err("an item that is added cannot have workspaces of its own, which no journal can keep: leave \
                        them out, and its run's are made from its parent's"
                .into());
        }
        let entry = graph_type.encode_entry(&self.entry)?.as_ref().to_owned();
        let key = self.key.unwrap_or_else(|| entry.clone());
        Ok(NewItem { entry, key, anew: self.anew, anew_after: self.anew_after })
    }
}

impl<C: Graph> Item<C> {
    /// The item as it is recorded when it is added.
    pub(crate) fn into_record(self) -> Result<NewItem, NodeError> {
        self.item.into_record(graph_type::<C>())
    }

    /// The item without its graph's type.
    pub(super) fn untyped(self) -> AnyItem {
        self.item
    }

    /// An item whose key is its entry value.
    pub fn new(entry: C::Entry) -> Self {
        let entry = Box::new(entry);
        let item = AnyItem { entry, key: None, anew: false, anew_after: None, workspaces: None };
        Self { item, graph: PhantomData }
    }

    /// The item with a key, which makes it the same item when a node that says `adopt` is entered again.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.item.key = Some(key.into());
        self
    }

    /// The item, to be run anew in each entry of the node, although the node says `adopt`.
    #[must_use]
    pub fn anew(mut self) -> Self {
        self.item.anew = true;
        self
    }

    /// The item, to be run anew in place of `run`, although the node says `adopt`: `run` is a child of an equal item, and its
    /// result is not to be kept. Where `run` is not the latest such child, the latest is adopted as always. So an item may say
    /// this in every later entry of the node, and runs anew once.
    ///
    /// The new run has this item's entry value, and an id with a number: `night-7-29f20020aff60e81-2` after
    /// `night-7-29f20020aff60e81`. The result of the earlier run stays in the journal.
    #[must_use]
    pub fn anew_after(mut self, run: &RunId) -> Self {
        self.item.anew_after = Some(run.clone());
        self
    }

    /// The item with workspaces of its own, in place of its parent's.
    #[must_use]
    pub fn with_workspaces(self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.with_workspaces_for(|_| workspaces)
    }

    /// The item with the workspaces that `workspaces` makes from the run's name, which is the same whenever the child is
    /// resumed.
    #[must_use]
    pub fn with_workspaces_for(
        mut self,
        workspaces: impl FnOnce(&RunId) -> Arc<dyn Workspaces> + Send + 'static,
    ) -> Self {
        self.item.workspaces = Some(Box::new(workspaces));
        self
    }
}

/// How a map node `N` with handler `H` says that it has enough.
#[doc(hidden)]
pub trait SaysEnough<N: Maps, H>: Sized {
    /// Whether it has enough.
    fn enough(
        handler: &H,
        ended: &[Ended<<N::Child as Graph>::Output>],
        cx: &Cx<'_, N>,
    ) -> impl Future<Output = bool> + Send;
}

impl<N: Maps, H: MapHandler<N>> SaysEnough<N, H> for Counted {
    fn enough(_: &H, _: &[Ended<<N::Child as Graph>::Output>], _: &Cx<'_, N>) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }
}

impl<N: Maps, H: EnoughHandler<N>> SaysEnough<N, H> for Judged {
    fn enough(
        handler: &H,
        ended: &[Ended<<N::Child as Graph>::Output>],
        cx: &Cx<'_, N>,
    ) -> impl Future<Output = bool> + Send {
        handler.enough(ended, cx)
    }
}

/// A map's handler and its context, to be asked whether the node has enough.
struct EnoughQuery<'a, 'run, N: Maps, H> {
    handler: &'a H,
    cx: &'a Cx<'run, N>,
}

impl<N: Maps<Quorum: SaysEnough<N, H>>, H: MapHandler<N>> Ask for EnoughQuery<'_, '_, N, H> {
    fn is_enough<'a>(
        &'a mut self,
        ended: &'a mut Vec<Ended<AnyValue>>,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'a>> {
        Box::pin(async move {
            let mut outputs: Vec<Ended<<N::Child as Graph>::Output>> = Vec::with_capacity(ended.len());
            for result in ended.drain(..) {
                outputs.push(result.map(|result| result.map(typed)));
            }
            let enough = N::Quorum::enough(self.handler, &outputs, self.cx).await;
            for result in outputs {
                ended.push(result.map(|result| result.map(|output| Box::new(output) as AnyValue)));
            }
            enough
        })
    }
}

/// Waits for `node`, and starts the children of items that are added meanwhile.
async fn while_starting_added<T>(
    starter: &mut Starter<'_>,
    node: impl Future<Output = Result<T, NodeError>> + Send,
) -> Result<T, NodeError> {
    tokio::select! {
        biased;
        failed = starter.start_added() => match failed? {},
        done = node => done,
    }
}

impl<N: Maps<Quorum: SaysEnough<N, H>>, H: MapHandler<N>> Kind<N> for MapNode<H> {
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let graph = self.0.graph(cx)?;
        let items = self.0.items(&input, cx).await?;
        let untyped = UntypedServices::of(cx)?;
        let execution = cx.execution();
        let mut untyped_items = Vec::with_capacity(items.len());
        for item in items {
            untyped_items.push(item.untyped());
        }
        let (children, mut starter) = start(untyped, execution, graph_type::<N::Child>(), graph, untyped_items).await?;
        if let Some(quorum) = untyped.net.row(N::INDEX).quorum {
            let is_decided = starter.decided.is_some();
            let waiting = Waiting { untyped, execution, quorum, is_decided };
            let mut query = EnoughQuery { handler: &self.0, cx };
            let settled = wait_for_quorum(waiting, &children, &mut query);
            while_starting_added(&mut starter, settled).await?;
        }
        while_starting_added(&mut starter, self.0.gather(input, Children::typed(children), cx)).await
    }
}
