//! The node kind that runs a child graph for each of a list of items.
//!
//! How many items there are is known only at run time. Children run at once up to the node's `concurrency`; each is a run
//! with a journal of its own, and shares its parent's agents, budgets and observers. A child's failure is a value. The
//! child may be the graph itself: recursion, capped by the node's `depth`.
//!
//! A child is known by its parent, the node and its item's key. So a repeated map node takes up the children that were
//! there before, and does nothing again that was done; one that is entered again adopts those whose items have equal keys,
//! except those that failed.

use crate::allowance::Allowance;
use crate::child::{ChildFailure, Kin, child_id, run_child};
use crate::parking::Siblings;
use crate::services::Backstage;
use crate::workspaces::Workspaces;
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Graph, Maps};
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use interlocking_core::run_id::RunId;
use std::collections::{BTreeMap, HashMap};
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
    /// under way when this returns are suspended.
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
    workspaces: Option<Arc<dyn Workspaces>>,
}

/// A child that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child<O> {
    /// The position of its item.
    pub item: usize,
    /// The run.
    pub run: RunId,
    /// Its item's key.
    pub key: String,
    /// Its output, or how it failed.
    pub result: Result<O, ChildFailure>,
}

/// The children of one execution of a map node (PRG-32).
pub struct Children<C: Graph> {
    tasks: JoinSet<Child<C::Output>>,
    /// By position of its item: the runs that have not been taken.
    pending: BTreeMap<usize, RunId>,
    landed: Vec<Child<C::Output>>,
}

impl<C: Graph> Item<C> {
    /// An item whose key is its entry value.
    pub fn new(entry: C::Entry) -> Self {
        Self { entry, key: None, workspaces: None }
    }

    /// The same with a key: what makes it the same item when the node is entered again.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The same with workspaces of its own, in place of its parent's.
    #[must_use]
    pub fn with_workspaces(mut self, workspaces: Arc<dyn Workspaces>) -> Self {
        self.workspaces = Some(workspaces);
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
        let child = match self.landed.pop() {
            Some(child) => child,
            None => loop {
                match self.tasks.join_next().await? {
                    Ok(child) => break child,
                    // A child's task catches what its nodes do; what ends it otherwise ends the runtime.
                    Err(_) => continue,
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
        backstage: &Backstage,
        allowance: &Allowance,
        siblings: &Arc<Siblings>,
        graph: &Arc<C>,
        plan: Plan<C>,
    ) -> Self {
        let (mut tasks, mut pending, mut landed) = (JoinSet::new(), BTreeMap::new(), Vec::new());
        let slots = Arc::new(Semaphore::new(plan.concurrency));
        for (item, (run, key, Item { entry, workspaces, .. })) in plan.items.into_iter().enumerate() {
            pending.insert(item, run.clone());
            if plan.depth.is_some_and(|limit| backstage.settings.depth() >= limit) {
                let limit = plan.depth.unwrap_or_default();
                landed.push(Child { item, run, key, result: Err(ChildFailure::TooDeep { limit }) });
                continue;
            }
            let mut settings =
                Box::new(backstage.settings.of_child(backstage.started, allowance.clone(), siblings.berth()));
            if let Some(workspaces) = workspaces {
                settings.options_mut().workspaces = workspaces;
            }
            let (graph, slots) = (graph.clone(), slots.clone());
            let kin = Kin { parent: backstage.run().clone(), node: plan.node, visit: plan.visit, key: key.clone() };
            tasks.spawn(async move {
                // The semaphore is never closed, so this only waits.
                let _slot = slots.acquire_owned().await;
                let (run, result) = run_child(graph, settings, kin, entry).await;
                Child { item, run, key, result }
            });
        }
        // Taken from the end.
        landed.reverse();
        Self { tasks, pending, landed }
    }
}

/// The items of one execution with what they are run as.
struct Plan<C: Graph> {
    items: Vec<(RunId, String, Item<C>)>,
    concurrency: usize,
    depth: Option<u32>,
    node: &'static str,
    visit: u32,
}

impl<N: Maps, H: MapHandler<N>> Kind<N> for MapNode<H> {
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let graph = self.0.graph(cx)?;
        let items = self.0.items(&input, cx).await?;
        let backstage = Backstage::of(cx)?;
        let execution = cx.execution();
        let row = N::Graph::net().row(N::INDEX);
        let mut equal: HashMap<String, u32> = HashMap::new();
        let mut planned = Vec::with_capacity(items.len());
        for item in items {
            let key = match &item.key {
                Some(key) => key.clone(),
                None => serde_json::to_string(&item.entry)?,
            };
            // Equal items of one list are told apart by their order.
            let nth = equal.entry(key.clone()).and_modify(|nth| *nth += 1).or_default();
            let key = if *nth == 0 { key } else { format!("{key}#{nth}") };
            let run = child_id(&backstage.settings.tree().root, backstage.run(), &row.name, &key);
            planned.push((run, key, item));
        }
        let allowance = backstage.settings.allowance();
        let allowance = if planned.is_empty() || row.depth.is_some_and(|limit| backstage.settings.depth() >= limit) {
            allowance.clone()
        } else {
            allowance.child()?
        };
        let concurrency = row.concurrency.map_or(Semaphore::MAX_PERMITS, |limit| limit as usize);
        let siblings = Siblings::new(backstage.parking().clone(), execution, concurrency, backstage.settings.berth());
        let plan = Plan { items: planned, concurrency, depth: row.depth, node: &row.name, visit: execution.visit };
        let children = Children::start(backstage, &allowance, &siblings, &graph, plan);
        self.0.gather(input, children, cx).await
    }
}
