//! The children of one execution of a map node: which have ended, and which are running.

use crate::cancel::CancelToken;
use crate::context::additions::Additions;
use crate::erased::graph_type::{AnyValue, typed};
use crate::execution::interruption::caught;
use crate::journal::By;
use crate::mutex::Mutex;
use crate::tree::Tree;
use interlocking_core::context::NewItem;
use interlocking_core::failure::ChildFailure;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// A child that has ended.
///
/// One child fails, which its parent only notes:
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
/// #[graph(output = Vec<String>)]
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
/// #     async fn items(&self, numbers: &Vec<u32>, _: &mut Cx<'_, site::parts>) -> Result<Vec<Item<Building>>, NodeError> {
/// #         Ok(numbers.iter().map(|&number| Item::new(number)).collect())
/// #     }
///     async fn gather(
///         &self,
///         _: Vec<u32>,
///         children: Children<Building>,
///         cx: &mut Cx<'_, site::parts>,
///     ) -> Route<site::parts> {
///         let told = children.all().await.into_iter().map(|child| match child.result {
///             Ok(built) => format!("{}: {built}", child.key),
///             Err(failure) => format!("{}: {failure}", child.key),
///         });
///         goto!(cx, site::exit, told.collect())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Site { parts: MapNode(Parts) }).start(vec![3, 0]).await?;
/// let told = report.outcome.finished().ok_or("a child's failure is a value")?;
/// assert_eq!(told, ["3: 30", "0: node `build` failed: there is nothing to build"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Child<O> {
    /// The position of the child's item.
    pub item: usize,
    /// The child run.
    pub run: RunId,
    /// The key of the child's item.
    pub key: String,
    /// Which of the items with this key it is, 1-based: items with equal keys are told apart by their order.
    pub number: u32,
    /// The child's output, or how the child failed.
    pub result: Result<O, ChildFailure>,
}

/// The children of one execution of a map node (PRG-32).
///
/// Children are taken as they end. Those that are left are stopped when the handler continues without them:
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
/// #[graph(output = Option<u32>)]
/// struct Site {
///     #[node(entry, input = Vec<u32>, map = Building, concurrency = 1, goto(exit))]
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
///     async fn gather(
///         &self,
///         _: Vec<u32>,
///         mut children: Children<Building>,
///         cx: &mut Cx<'_, site::parts>,
///     ) -> Route<site::parts> {
///         while let Some(child) = children.any().await {
///             if let Ok(built) = child.result {
///                 return goto!(cx, site::exit, Some(built));
///             }
///         }
///         goto!(cx, site::exit, None)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Site { parts: MapNode(Parts) }).start(vec![0, 2, 7]).await?;
/// assert_eq!(report.outcome.finished(), Some(Some(20)));
/// # Ok(())
/// # }
/// ```
pub struct Children<C: Graph> {
    children: AnyChildren,
    graph: PhantomData<fn() -> C>,
}

/// The children of one execution, of any graph. Those that are still running when it is dropped are stopped. They record what they
/// have cost, unless the run itself is dropped: then they are dropped, too.
pub(in crate::nodes) struct AnyChildren(pub(super) Arc<Pool>);

impl<O: 'static> Child<O> {
    /// The child with its output's type.
    ///
    /// # Panics
    ///
    /// If the output is of another type.
    pub(super) fn typed(Child { item, run, key, number, result }: Child<AnyValue>) -> Self {
        Self { item, run, key, number, result: result.map(typed) }
    }
}

impl<C: Graph> fmt::Debug for Children<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Children").finish_non_exhaustive()
    }
}

/// The run, the key and the number of an item's child.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) run: RunId,
    pub(super) key: String,
    pub(super) number: u32,
}

/// What the code that starts children shares with the code that takes them. It does not depend on the children's graph, so that it
/// is compiled once, and not for each graph.
pub(super) struct Pool {
    tree: Arc<Tree>,
    /// The inbox for items that event nodes add to this execution, if any may.
    inbox: Option<(By, Arc<Additions>)>,
    state: Mutex<State>,
}

struct State {
    /// The children, by position of their items.
    named: Vec<Named>,
    tasks: JoinSet<Option<Child<AnyValue>>>,
    /// By position of its item: the token that stops one child alone.
    stops: BTreeMap<usize, CancelToken>,
    /// Whether any child has stopped without having ended: then the node stops, too.
    any_stopped: bool,
    /// By position of its item: the runs that have not been taken.
    pending: BTreeMap<usize, RunId>,
    /// The children that have ended and are not taken yet, beside the tasks.
    completed: VecDeque<Child<AnyValue>>,
}

impl<C: Graph> Children<C> {
    pub(super) fn typed(children: AnyChildren) -> Self {
        Self { children, graph: PhantomData }
    }

    /// The runs whose results have not been taken, in item order (PRG-32).
    pub fn pending(&self) -> Vec<RunId> {
        self.children.0.state.lock().pending.values().cloned().collect()
    }

    /// The next child that ends; `None`, at once, when all children have been taken (PRG-33).
    pub async fn any(&mut self) -> Option<Child<C::Output>> {
        self.children.any().await.map(Child::typed)
    }

    /// All children that have not been taken yet, in item order (rule 15).
    pub async fn all(self) -> Vec<Child<C::Output>> {
        let all = self.children.all().await;
        let mut children = Vec::with_capacity(all.len());
        for child in all {
            children.push(Child::typed(child));
        }
        children
    }
}

impl AnyChildren {
    /// See [`Children::any`].
    pub(in crate::nodes) async fn any(&self) -> Option<Child<AnyValue>> {
        loop {
            let child = poll_fn(|context| self.0.poll_any(context)).await;
            if child.is_some() || self.0.close().await {
                return child;
            }
        }
    }

    /// See [`Children::all`].
    async fn all(&self) -> Vec<Child<AnyValue>> {
        let mut children = Vec::with_capacity(self.0.state.lock().pending.len());
        while let Some(child) = self.any().await {
            children.push(child);
        }
        children.sort_by_key(|child| child.item);
        children
    }
}

impl Pool {
    pub(super) fn new(tree: Arc<Tree>, inbox: Option<(By, Arc<Additions>)>) -> Self {
        let (named, stops, any_stopped, pending, completed) = Default::default();
        let tasks = JoinSet::new();
        Self { tree, inbox, state: Mutex::new(State { named, tasks, stops, any_stopped, pending, completed }) }
    }

    /// Adds a child, and returns its position.
    pub(super) fn add(&self, named: Named) -> usize {
        let mut state = self.state.lock();
        state.named.push(named);
        state.named.len() - 1
    }

    /// The children, by position of their items.
    pub(super) fn named(&self) -> Vec<Named> {
        self.state.lock().named.clone()
    }

    /// How many children there are.
    pub(super) fn count(&self) -> usize {
        self.state.lock().named.len()
    }

    /// The added items that are not among the children yet.
    pub(super) fn added(&self) -> Vec<NewItem> {
        self.inbox.as_ref().map(|(by, additions)| additions.untaken(by)).unwrap_or_default()
    }

    /// The added items that are not among the children yet; waits until there are some.
    pub(super) async fn next_added(&self) -> Vec<NewItem> {
        match &self.inbox {
            Some((by, additions)) => additions.next(by).await,
            None => std::future::pending().await,
        }
    }

    /// Notes that `items` more of the added items are among the children.
    pub(super) fn took(&self, items: usize) {
        if let Some((by, additions)) = &self.inbox {
            additions.took(by, items);
        }
    }

    /// Stops taking items. If there are more, or an addition is being recorded, waits for any change and returns false.
    pub(super) async fn close(&self) -> bool {
        match &self.inbox {
            Some((by, additions)) => additions.close(by).await,
            None => true,
        }
    }

    /// Stops taking items, even if there are more.
    pub(super) fn close_now(&self) {
        if let Some((by, additions)) = &self.inbox {
            additions.close_now(by);
        }
    }

    /// Runs a child as a task of its own.
    pub(super) fn spawn(
        &self,
        item: usize,
        run: RunId,
        stop: CancelToken,
        task: impl Future<Output = Option<Child<AnyValue>>> + Send + 'static,
    ) {
        let mut state = self.state.lock();
        let Named { key, number, .. } = state.named[item].clone();
        state.pending.insert(item, run.clone());
        state.stops.insert(item, stop);
        state.tasks.spawn(async move {
            caught(task).await.unwrap_or_else(|panic| {
                let result = Err(ChildFailure::NotStarted { reason: format!("its executor panicked: {panic}") });
                Some(Child { item, run, key, number, result })
            })
        });
    }

    /// Whether a child has a task that has not been taken.
    pub(super) fn is_under_way(&self, run: &RunId) -> bool {
        let state = self.state.lock();
        state.pending.iter().any(|(item, pending)| pending == run && state.stops.contains_key(item))
    }

    /// Adds a child that has ended: without a task, or to be taken once more.
    pub(super) fn complete(&self, child: Child<AnyValue>) {
        let mut state = self.state.lock();
        state.pending.insert(child.item, child.run.clone());
        state.completed.push_back(child);
    }

    /// Cancels the children that have not been taken, and returns their results; nothing for those that never began.
    pub(super) async fn cancel(&self) -> Vec<Child<AnyValue>> {
        self.state.lock().stops.values().for_each(CancelToken::cancel);
        let mut ended = Vec::new();
        while let Some(child) = poll_fn(|context| self.poll_ended(context)).await {
            ended.push(child);
        }
        self.state.lock().any_stopped = false;
        ended
    }

    fn poll_any(&self, context: &mut Context<'_>) -> Poll<Option<Child<AnyValue>>> {
        match self.poll_ended(context) {
            // The node stops together with the child.
            Poll::Ready(None) if self.state.lock().any_stopped => Poll::Pending,
            polled => polled,
        }
    }

    fn poll_ended(&self, context: &mut Context<'_>) -> Poll<Option<Child<AnyValue>>> {
        let mut state = self.state.lock();
        let child = match state.completed.pop_front() {
            Some(child) => child,
            None => loop {
                match state.tasks.poll_join_next(context) {
                    Poll::Ready(Some(Ok(Some(child)))) => break child,
                    Poll::Ready(Some(Ok(None))) => state.any_stopped = true,
                    // A child's task catches every panic, so only the end of the runtime makes a join fail.
                    Poll::Ready(Some(Err(_))) => {}
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                }
            },
        };
        state.pending.remove(&child.item);
        state.stops.remove(&child.item);
        Poll::Ready(Some(child))
    }
}

impl Drop for AnyChildren {
    fn drop(&mut self) {
        self.0.close_now();
        let mut state = self.0.state.lock();
        if state.tasks.is_empty() || self.0.tree.abandoned.is_cancelled() {
            return;
        }
        state.stops.values().for_each(CancelToken::suspend);
        state.tasks.detach_all();
    }
}
