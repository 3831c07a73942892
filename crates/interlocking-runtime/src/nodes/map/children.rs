//! The children of one execution of a map node: who has ended, and who is under way.

use crate::cancel::CancelToken;
use crate::context::additions::Additions;
use crate::execution::interruption::caught;
use crate::journal::By;
use crate::mutex::Mutex;
use crate::tree::Tree;
use interlocking_core::context::NewItem;
use interlocking_core::failure::ChildFailure;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::task::JoinSet;

/// A child that has ended.
///
/// One child failed, which its parent only notes:
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
    /// The position of its item.
    pub item: usize,
    /// The run.
    pub run: RunId,
    /// Its item's key.
    pub key: String,
    /// Which of the items with this key it is, 1-based: equal ones are told apart by their order.
    pub number: u32,
    /// Its output, or how it failed.
    pub result: Result<O, ChildFailure>,
}

/// The children of one execution of a map node (PRG-32).
///
/// They are taken as they end, and those that are left are stopped where the handler goes on without them:
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
pub struct Children<C: Graph>(pub(super) Arc<Pool<C>>);

/// Who an item's child is.
#[derive(Clone)]
pub(super) struct Named {
    pub(super) run: RunId,
    pub(super) key: String,
    pub(super) number: u32,
}

/// What is shared by whoever starts children and whoever takes them.
pub(super) struct Pool<C: Graph> {
    tree: Arc<Tree>,
    /// Where others add items to this execution, if any may.
    inbox: Option<(By, Arc<Additions>)>,
    state: Mutex<State<C::Output>>,
}

struct State<O> {
    /// The children, by position of their items.
    named: Vec<Named>,
    tasks: JoinSet<Option<Child<O>>>,
    /// By position of its item: what stops each alone.
    stops: BTreeMap<usize, CancelToken>,
    /// Whether any has stopped where it stood: then the node does, too.
    have_stopped: bool,
    /// By position of its item: the runs that have not been taken.
    pending: BTreeMap<usize, RunId>,
    /// Those that have ended and are not taken yet, beside the tasks.
    completed: VecDeque<Child<O>>,
}

impl<C: Graph> Children<C> {
    /// The runs whose results have not been taken, in item order (PRG-32).
    pub fn pending(&self) -> Vec<RunId> {
        self.0.state.lock().pending.values().cloned().collect()
    }

    /// The next child that ends; `None`, at once, when all have been taken (PRG-33).
    pub async fn any(&mut self) -> Option<Child<C::Output>> {
        loop {
            let child = poll_fn(|context| self.0.poll_any(context)).await;
            if child.is_some() || self.0.close().await {
                return child;
            }
        }
    }

    /// All children that have not been taken yet, in item order (rule 15).
    pub async fn all(mut self) -> Vec<Child<C::Output>> {
        let mut children = Vec::with_capacity(self.0.state.lock().pending.len());
        while let Some(child) = self.any().await {
            children.push(child);
        }
        children.sort_by_key(|child| child.item);
        children
    }
}

impl<C: Graph> Pool<C> {
    pub(super) fn new(tree: Arc<Tree>, inbox: Option<(By, Arc<Additions>)>) -> Self {
        let (named, stops, have_stopped, pending, completed) = Default::default();
        let tasks = JoinSet::new();
        Self { tree, inbox, state: Mutex::new(State { named, tasks, stops, have_stopped, pending, completed }) }
    }

    /// There is one more child: gives its position.
    pub(super) fn name(&self, named: Named) -> usize {
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

    /// The items that others have added and that are not among the children.
    pub(super) fn added(&self) -> Vec<NewItem> {
        self.inbox.as_ref().map(|(by, additions)| additions.untaken(by)).unwrap_or_default()
    }

    /// The same; waits until there are some.
    pub(super) async fn next_added(&self) -> Vec<NewItem> {
        match &self.inbox {
            Some((by, additions)) => additions.next(by).await,
            None => std::future::pending().await,
        }
    }

    /// So many more of the items that others have added are among the children.
    pub(super) fn took(&self, items: usize) {
        if let Some((by, additions)) = &self.inbox {
            additions.took(by, items);
        }
    }

    /// Takes no more items; false where there are some, or are about to be: then it waits for any change.
    pub(super) async fn close(&self) -> bool {
        match &self.inbox {
            Some((by, additions)) => additions.close(by).await,
            None => true,
        }
    }

    /// Takes no more items, whatever there is.
    pub(super) fn close_now(&self) {
        if let Some((by, additions)) = &self.inbox {
            additions.close_now(by);
        }
    }

    /// Has a child run as a task of its own.
    pub(super) fn spawn(
        &self,
        item: usize,
        run: RunId,
        stop: CancelToken,
        task: impl Future<Output = Option<Child<C::Output>>> + Send + 'static,
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

    /// A child has ended, without a task or before it is taken again.
    pub(super) fn complete(&self, child: Child<C::Output>) {
        let mut state = self.state.lock();
        state.pending.insert(child.item, child.run.clone());
        state.completed.push_back(child);
    }

    /// Cancels those that have not been taken, and gives what they come to; nothing of those that never began.
    pub(super) async fn cancel(&self) -> Vec<Child<C::Output>> {
        self.state.lock().stops.values().for_each(CancelToken::cancel);
        let mut ended = Vec::new();
        while let Some(child) = poll_fn(|context| self.poll_ended(context)).await {
            ended.push(child);
        }
        self.state.lock().have_stopped = false;
        ended
    }

    fn poll_any(&self, context: &mut Context<'_>) -> Poll<Option<Child<C::Output>>> {
        match self.poll_ended(context) {
            // The node stops with it.
            Poll::Ready(None) if self.state.lock().have_stopped => Poll::Pending,
            polled => polled,
        }
    }

    fn poll_ended(&self, context: &mut Context<'_>) -> Poll<Option<Child<C::Output>>> {
        let mut state = self.state.lock();
        let child = match state.completed.pop_front() {
            Some(child) => child,
            None => loop {
                match state.tasks.poll_join_next(context) {
                    Poll::Ready(Some(Ok(Some(child)))) => break child,
                    Poll::Ready(Some(Ok(None))) => state.have_stopped = true,
                    // A child's task catches every panic; what ends it otherwise is the end of the runtime.
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

impl<C: Graph> Drop for Children<C> {
    /// Stops those that are still under way. They record what they have cost, unless the run itself is dropped: then they are, too.
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
