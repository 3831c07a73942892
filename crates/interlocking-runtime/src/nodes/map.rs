//! The node kind that runs a child graph for each of a list of items.
//!
//! How many items there are is known only at run time. Children run at once up to the node's `concurrency`; each is a run
//! with a journal of its own, and shares its parent's agents, budgets and observers. A child's failure is a value. The
//! child may be the graph itself: recursion, capped by the node's `depth`.
//!
//! A child is known by its parent, the node, that node's execution and its item's key. So a map node that is resumed after a
//! crash goes on with the children that it had, and does nothing again that was done. One that is entered again begins its
//! items anew, unless its table says `adopt`: then it adopts the children whose items have equal keys, except those that
//! failed, and but for items that say they [run anew](Item::anew).

use crate::cancel::CancelToken;
use crate::context::services::UntypedServices;
use crate::journal::Origin;
use crate::limits::allowance::Allowance;
use crate::tree::Tree;
use crate::tree::child::{Kin, Predecessors, child_id, run_child};
use crate::tree::idle::ChildGroup;
use crate::workspaces::parent_journal::WriteEntry;
use crate::workspaces::{ParentJournal, ParentScope, RunScope, Workspaces};
use interlocking_core::context::Cx;
use interlocking_core::failure::{ChildFailure, NodeError};
use interlocking_core::frontier::Execution;
use interlocking_core::graph::{Graph, Maps};
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use interlocking_core::run_id::RunId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A node that runs a child graph for each of a list of items.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapNode<H>(pub H);

/// The handler of a [`MapNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle map node `{N}`",
    label = "missing `impl MapHandler<{N}> for {Self}`"
)]
pub trait MapHandler<N: Maps>: Send + Sync {
    /// The graph that the children run; where it is the node's own, [`own_graph`](crate::RunContext::own_graph) gives it.
    ///
    /// # Errors
    ///
    /// The node fails with it.
    fn graph(&self, cx: &Cx<'_, N>) -> Result<Arc<N::Child>, NodeError>;

    /// The items: what the children start with. There may be none.
    fn items(
        &self,
        input: &N::Input,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Result<Vec<Item<N::Child>>, NodeError>> + Send;

    /// Takes the children's results, one at a time or all at once, and says where to go next. Children that are still
    /// under way when this returns are stopped: a later entry of a node that says `adopt` goes on with them, and any other
    /// ends them, as the end of the run does.
    fn gather(
        &self,
        input: N::Input,
        children: Children<N::Child>,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send;
}

/// What a child starts with.
pub struct Item<C: Graph> {
    entry: C::Entry,
    key: Option<String>,
    anew: bool,
    workspaces: Option<WorkspacesFor>,
}

/// Makes a child's workspaces, given its run's name.
type WorkspacesFor = Box<dyn FnOnce(&RunId) -> Arc<dyn Workspaces> + Send>;

/// A child that has ended.
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
pub struct Children<C: Graph> {
    tasks: JoinSet<Option<Child<C::Output>>>,
    /// What stops each of them alone.
    stops: Vec<CancelToken>,
    /// Whether any has stopped where it stood: then the node does, too.
    have_stopped: bool,
    tree: Arc<Tree>,
    /// By position of its item: the runs that have not been taken.
    pending: BTreeMap<usize, RunId>,
    completed: Vec<Child<C::Output>>,
}

impl<C: Graph> Item<C> {
    /// An item whose key is its entry value.
    pub fn new(entry: C::Entry) -> Self {
        Self { entry, key: None, anew: false, workspaces: None }
    }

    /// The same with a key: what makes it the same item when a node that says `adopt` is entered again.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same, to be run anew in each entry of the node, though that says `adopt`.
    #[must_use]
    pub fn anew(mut self) -> Self {
        self.anew = true;
        self
    }

    /// The same with workspaces of its own, in place of its parent's.
    #[must_use]
    pub fn with_workspaces(self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.with_workspaces_for(|_| workspaces)
    }

    /// The same with those that `workspaces` makes of the run's name, which is the same whenever the child is resumed.
    #[must_use]
    pub fn with_workspaces_for(
        mut self,
        workspaces: impl FnOnce(&RunId) -> Arc<dyn Workspaces> + Send + 'static,
    ) -> Self {
        self.workspaces = Some(Box::new(workspaces));
        self
    }
}

impl<C: Graph> Children<C> {
    /// The runs whose results have not been taken, in item order (PRG-32).
    pub fn pending(&self) -> Vec<RunId> {
        self.pending.values().cloned().collect()
    }

    /// The next child that ends; `None`, at once, when all have been taken (PRG-33).
    pub async fn any(&mut self) -> Option<Child<C::Output>> {
        let child = match self.completed.pop() {
            Some(child) => child,
            None => loop {
                match self.tasks.join_next().await {
                    Some(Ok(Some(child))) => break child,
                    Some(Ok(None)) => self.have_stopped = true,
                    // A child's task catches what its nodes do; what ends it otherwise ends the runtime.
                    Some(Err(_)) => {}
                    None if self.have_stopped => std::future::pending().await,
                    None => return None,
                }
            },
        };
        self.pending.remove(&child.item);
        Some(child)
    }

    /// All children that have not been taken yet, in item order (rule 15).
    pub async fn all(mut self) -> Vec<Child<C::Output>> {
        let mut children = Vec::with_capacity(self.pending.len());
        while let Some(child) = self.any().await {
            children.push(child);
        }
        children.sort_by_key(|child| child.item);
        children
    }

    /// Starts the children.
    fn start(
        untyped: &UntypedServices,
        allowance: &Allowance,
        siblings: &Arc<ChildGroup>,
        graph: &Arc<C>,
        plan: Plan<C>,
    ) -> Self {
        let (mut tasks, mut pending, mut completed) = (JoinSet::new(), BTreeMap::new(), Vec::new());
        let (mut stops, tree) = (Vec::new(), untyped.settings.tree().clone());
        let slots = Arc::new(Semaphore::new(plan.concurrency));
        let taken_by = untyped.by(plan.execution);
        for (item, planned) in plan.items.into_iter().enumerate() {
            let Planned { run, origin, key, number, item: Item { entry, workspaces, .. } } = planned;
            pending.insert(item, run.clone());
            if plan.depth.is_some_and(|limit| untyped.settings.depth() >= limit) {
                let limit = plan.depth.unwrap_or_default();
                completed.push(Child { item, run, key, number, result: Err(ChildFailure::TooDeep { limit }) });
                continue;
            }
            let mut settings =
                Box::new(untyped.settings.of_child(untyped.started, allowance.clone(), siblings.child_slot()));
            if workspaces.is_some() || untyped.settings.sets_options() {
                let entries = untyped.record_writer.clone().map(|writer| writer as Arc<dyn WriteEntry>);
                let journal = ParentJournal { entries, by: taken_by.clone(), child: run.clone() };
                let parent =
                    ParentScope { run: untyped.run(), workspace: plan.workspace, key: &key, journal: &journal };
                let scope = RunScope { run: &run, table: C::net().table(), is_new: false, parent: Some(parent) };
                settings.scope_workspaces(workspaces.map(|make| make(&run)), &scope);
            }
            settings.run = run.clone();
            let (graph, slots, taken_by) = (graph.clone(), slots.clone(), taken_by.clone());
            let (task, stop) = (tree.has_task(untyped.run().clone()), settings.cancel.clone().unwrap_or_default());
            let abandoned = tree.abandoned.clone();
            stops.push(stop.clone());
            tasks.spawn(async move {
                // Dropped last: whoever waits for it finds the child's run free.
                let _task = task;
                let _slot = tokio::select! {
                    biased;
                    () = stop.cancelled() => return None,
                    // The semaphore is never closed, so this only waits.
                    slot = slots.acquire_owned() => slot,
                };
                let result = tokio::select! {
                    biased;
                    () = abandoned.cancelled() => return None,
                    ended = run_child(graph, settings, origin, taken_by, entry) => ended?,
                };
                Some(Child { item, run, key, number, result })
            });
        }
        // Taken from the end.
        completed.reverse();
        Self { tasks, stops, have_stopped: false, tree, pending, completed }
    }
}

impl<C: Graph> Drop for Children<C> {
    /// Stops those that are still under way. They record what they have cost, unless the run itself is dropped: then they are, too.
    fn drop(&mut self) {
        if self.tasks.is_empty() || self.tree.abandoned.is_cancelled() {
            return;
        }
        self.stops.iter().for_each(CancelToken::suspend);
        self.tasks.detach_all();
    }
}

/// The items of one execution with what they are run as.
struct Plan<C: Graph> {
    execution: Execution,
    items: Vec<Planned<C>>,
    concurrency: usize,
    depth: Option<u32>,
    /// Where the map node works.
    workspace: Option<&'static str>,
}

/// An item with what it is run as.
struct Planned<C: Graph> {
    run: RunId,
    origin: Origin,
    key: String,
    number: u32,
    item: Item<C>,
}

/// Finds for each item the run that it goes on with, or names a new one.
async fn plan<C: Graph>(
    untyped: &UntypedServices,
    execution: Execution,
    items: Vec<Item<C>>,
) -> Result<Vec<Planned<C>>, NodeError> {
    let row = untyped.net.row(execution.node);
    let (parent, tree, entry) = (untyped.run(), untyped.settings.tree(), (execution.visit, execution.attempt));
    // Only an execution that is not the node's first, or was begun before, can have any.
    let journal = untyped.settings.journal.as_deref();
    let journal = journal.filter(|_| entry != (1, 1) || untyped.history().restarts(&untyped.by(execution)) > 0);
    let known = match journal {
        Some(journal) => Predecessors::read(journal, tree, parent, &row.name, entry).await?,
        None => Predecessors::default(),
    };
    let mut equal: HashMap<String, u32> = HashMap::new();
    let mut taken: HashSet<RunId> = HashSet::new();
    let mut planned = Vec::with_capacity(items.len());
    for item in items {
        let key = match &item.key {
            Some(key) => key.clone(),
            None => serde_json::to_string(&item.entry)?,
        };
        let number = *equal.entry(key.clone()).and_modify(|number| *number += 1).or_insert(1);
        let kin = Kin { parent, node: &row.name, visit: entry.0, attempt: entry.1, key: key.clone(), number };
        let (run, origin) = match known.of(&kin, row.adopt && !item.anew) {
            Some(known) => known,
            None => {
                let names = (0..).map(|others| child_id(&tree.root, &kin, others));
                let mut free = names.filter(|run| !known.has(run) && !taken.contains(run));
                (free.next().unwrap_or_else(|| parent.clone()), kin.origin())
            }
        };
        taken.insert(run.clone());
        planned.push(Planned { run, origin, key, number, item });
    }
    if let Some(journal) = journal {
        let is_left = |origin: &Origin| match origin {
            Origin::Child { key, number, .. } => equal.get(key).is_none_or(|most| number > most),
            Origin::Fork { .. } => false,
        };
        // What has no item this time may have one again.
        known.end(journal, tree, entry, |run, origin| taken.contains(run) || row.adopt && is_left(origin)).await?;
    }
    Ok(planned)
}

/// Starts the children of an execution, or goes on with those that it had.
pub(super) async fn start<C: Graph>(
    untyped: &UntypedServices,
    execution: Execution,
    graph: &Arc<C>,
    items: Vec<Item<C>>,
) -> Result<Children<C>, NodeError> {
    let row = untyped.net.row(execution.node);
    let planned = plan(untyped, execution, items).await?;
    let allowance = untyped.settings.allowance();
    let allowance = if planned.is_empty() || row.depth.is_some_and(|limit| untyped.settings.depth() >= limit) {
        allowance.clone()
    } else {
        allowance.child()?
    };
    let concurrency = row.concurrency.map_or(Semaphore::MAX_PERMITS, |limit| limit as usize);
    let siblings = ChildGroup::new(untyped.idle().clone(), execution, concurrency, untyped.settings.child_slot());
    let plan = Plan { execution, items: planned, concurrency, depth: row.depth, workspace: row.workspace.as_deref() };
    Ok(Children::start(untyped, &allowance, &siblings, graph, plan))
}

impl<N: Maps, H: MapHandler<N>> Kind<N> for MapNode<H> {
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let graph = self.0.graph(cx)?;
        let items = self.0.items(&input, cx).await?;
        let children = start(UntypedServices::of(cx)?, cx.execution(), &graph, items).await?;
        self.0.gather(input, children, cx).await
    }
}
