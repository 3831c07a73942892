//! Starts the children of one execution of a map node, or continues those that it had.

use super::AnyItem;
use super::children::{AnyChildren, Child, Named, Pool};
use crate::context::services::UntypedServices;
use crate::erased::graph_type::{AnyGraph, GraphType};
use crate::event::EventKind;
use crate::journal::{By, Origin};
use crate::limits::allowance::{Allowance, Stopped};
use crate::tree::child::{ChildIdentity, Predecessors, anew_id, child_id, run_child};
use crate::tree::end_children::end_child;
use crate::tree::idle::ChildGroup;
use crate::workspaces::parent_journal::WriteEntry;
use crate::workspaces::{ParentJournal, ParentScope, RunScope};
use interlocking_core::failure::{ChildFailure, NodeError};
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeRow, Quorum};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Starts the children of one execution.
pub(in crate::nodes) struct Starter<'run> {
    pub(super) untyped: &'run UntypedServices,
    pub(super) by: By,
    /// The children that had ended when the rest was cancelled; `None` if the rest is not cancelled.
    pub(super) decided: Option<Vec<RunId>>,
    pub(super) execution: Execution,
    row: &'static NodeRow,
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    pool: Arc<Pool>,
    siblings: Arc<ChildGroup>,
    slots: Arc<Semaphore>,
    /// Created for the first child.
    allowance: Option<Allowance>,
    /// The children that the node has started before.
    known: Predecessors,
    /// How many items have each key.
    counts: HashMap<String, u32>,
    taken: HashSet<RunId>,
}

/// An item with the run that it is run as.
struct Planned {
    position: usize,
    named: Named,
    origin: Origin,
    item: AnyItem,
}

/// Starts the children of an execution, or continues those that it had. Where it is decided that the rest is cancelled, no
/// child of the rest begins.
///
/// It does not depend on the children's graph, so that it is compiled once, and not for each graph.
pub(in crate::nodes) async fn start<'run>(
    untyped: &'run UntypedServices,
    execution: Execution,
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    items: Vec<AnyItem>,
) -> Result<(AnyChildren, Starter<'run>), NodeError> {
    let mut starter = Starter::new(untyped, execution, graph_type, graph).await?;
    let mut planned: Vec<_> = items.into_iter().map(|item| starter.plan(item)).collect::<Result<_, _>>()?;
    for item in starter.added()? {
        planned.push(starter.plan(item)?);
    }
    starter.end_unused().await?;
    if let Some(Quorum::AtLeast(count)) = starter.row.quorum
        && planned.len() < count as usize
    {
        // There are fewer items than the quorum needs, so none begins.
        starter.decided.get_or_insert_default();
    }
    starter.emit_map_started(&planned);
    let children = AnyChildren(starter.pool.clone());
    let turns = untyped.settings.tree().turns.clone();
    // Children with a section in progress come first, and need not wait for the others.
    planned.sort_by_cached_key(|planned| !turns.expects(&planned.named.run));
    for planned in planned {
        starter.start(planned).await?;
    }
    let is_started = |child: &RunId| starter.pool.is_under_way(child);
    turns.forget_sections(|section| {
        section.child_of(untyped.run(), &starter.by).is_some_and(|child| !is_started(child))
    });
    if starter.decided.is_some() {
        starter.pool.close_now();
    }
    Ok((children, starter))
}

impl<'run> Starter<'run> {
    async fn new(
        untyped: &'run UntypedServices,
        execution: Execution,
        graph_type: &'static dyn GraphType,
        graph: AnyGraph,
    ) -> Result<Self, NodeError> {
        let (row, by, tree) = (untyped.net.row(execution.node), untyped.by(execution), untyped.settings.tree());
        let entry = (execution.visit, execution.attempt);
        // Only an execution that is not the node's first, or that was begun before, can have earlier children.
        let journal = untyped.settings.journal.as_deref();
        let journal = journal.filter(|_| entry != (1, 1) || untyped.history().restarts(&by) > 0);
        let known = match journal {
            Some(journal) => Predecessors::read(journal, tree, untyped.run(), &row.name, entry).await?,
            None => Predecessors::default(),
        };
        let concurrency = row.concurrency.map_or(Semaphore::MAX_PERMITS, |limit| limit as usize);
        let siblings = ChildGroup::new(untyped.idle().clone(), execution, concurrency, untyped.settings.child_slot());
        let decided = untyped.history().decision(&by);
        let (allowance, counts, taken) = Default::default();
        let takes_items = untyped.net.table().nodes.iter().any(|other| other.adds_to.contains(&row.name));
        let inbox = takes_items.then(|| (by.clone(), untyped.additions().clone()));
        let pool = Arc::new(Pool::new(tree.clone(), inbox));
        let slots = Arc::new(Semaphore::new(concurrency));
        Ok(Self {
            untyped,
            by,
            decided,
            execution,
            row,
            graph_type,
            graph,
            pool,
            siblings,
            slots,
            allowance,
            known,
            counts,
            taken,
        })
    }

    /// Emits how many items there are.
    fn emit_map_started(&self, planned: &[Planned]) {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let has_ended = |planned: &&Planned| self.known.has_ended(&planned.named.run) == Some(true);
        self.untyped.emit(|| EventKind::MapStarted {
            node: self.untyped.node(self.execution),
            items: number(planned.len()),
            ended: number(planned.iter().filter(has_ended).count()),
        });
    }

    /// Starts the children of added items, for as long as the execution runs.
    pub(super) async fn start_added(&mut self) -> Result<Infallible, NodeError> {
        loop {
            let items = self.pool.next_added().await;
            for item in items {
                let planned = self.plan(AnyItem::of_record(self.graph_type, item)?)?;
                self.start(planned).await?;
                self.pool.took(1);
                // A driver that checked before whether the run waits for people found this execution busy with the item: it has
                // to check again.
                self.untyped.idle().changed.notify_one();
            }
        }
    }

    /// The items that were added before.
    fn added(&self) -> Result<Vec<AnyItem>, NodeError> {
        let items = self.pool.added();
        self.pool.took(items.len());
        items.into_iter().map(|item| AnyItem::of_record(self.graph_type, item)).collect()
    }

    /// Finds the run that an item continues, or names a new one.
    fn plan(&mut self, item: AnyItem) -> Result<Planned, NodeError> {
        let key = match &item.key {
            Some(key) => key.clone(),
            None => self.graph_type.encode_entry(&item.entry)?.as_ref().to_owned(),
        };
        let number = *self.counts.entry(key.clone()).and_modify(|number| *number += 1).or_insert(1);
        let (parent, Execution { visit, attempt, .. }) = (self.untyped.run(), self.execution);
        let identity = ChildIdentity { parent, node: &self.row.name, visit, attempt, key: key.clone(), number };
        let before = item.anew_after.as_ref().filter(|run| self.known.latest(&identity) == Some(*run));
        let (run, origin) = match self.known.of(&identity, self.row.adopt && !item.anew && before.is_none()) {
            Some(known) => known,
            None => {
                let root = &self.untyped.settings.tree().root;
                let is_free = |run: &RunId| !self.known.has(run) && !self.taken.contains(run);
                let run = match before {
                    Some(before) => (1..).map(|times| anew_id(before, times)).find(is_free),
                    None => (0..).map(|others| child_id(root, &identity, others)).find(is_free),
                };
                (run.unwrap_or_else(|| parent.clone()), identity.origin())
            }
        };
        self.taken.insert(run.clone());
        let named = Named { run, key, number };
        let position = self.pool.add(named.clone());
        Ok(Planned { position, named, origin, item })
    }

    /// Ends the children of earlier executions that nothing continues.
    async fn end_unused(&self) -> Result<(), NodeError> {
        let Some(journal) = self.untyped.settings.journal.as_deref() else { return Ok(()) };
        let is_left = |origin: &Origin| match origin {
            Origin::Child { key, number, .. } => self.counts.get(key).is_none_or(|most| number > most),
            Origin::Fork { .. } => false,
        };
        let (tree, entry) = (self.untyped.settings.tree(), (self.execution.visit, self.execution.attempt));
        // A child without an item this time may get one again.
        let goes_on = |run: &RunId, origin: &Origin| self.taken.contains(run) || self.row.adopt && is_left(origin);
        Ok(self.known.end(journal, tree, entry, goes_on).await?)
    }

    /// Starts the child of an item, unless it is decided that this child is cancelled.
    async fn start(&mut self, planned: Planned) -> Result<(), NodeError> {
        let Planned { position, named: Named { run, key, number }, origin, item } = planned;
        let has_ended = self.known.has_ended(&run);
        if let Some(ended) = &self.decided
            && !ended.contains(&run)
            && has_ended != Some(true)
        {
            if let Some(journal) = self.untyped.settings.journal.as_deref().filter(|_| has_ended.is_some()) {
                end_child(journal, self.untyped.settings.tree(), &run).await?;
            }
            return Ok(());
        }
        if let Some(limit) = self.row.depth.filter(|limit| self.untyped.settings.depth() >= *limit) {
            let result = Err(ChildFailure::TooDeep { limit });
            self.pool.complete(Child { item: position, run, key, number, result });
            return Ok(());
        }
        self.spawn(Planned { position, named: Named { run, key, number }, origin, item })?;
        Ok(())
    }

    fn spawn(&mut self, planned: Planned) -> Result<(), Stopped> {
        let Planned { position, named: Named { run, key, number }, origin, item: AnyItem { entry, workspaces, .. } } =
            planned;
        let (untyped, tree) = (self.untyped, self.untyped.settings.tree().clone());
        let allowance = match &self.allowance {
            Some(allowance) => allowance.clone(),
            None => self.allowance.insert(untyped.settings.allowance().child()?).clone(),
        };
        let slot = self.siblings.child_slot();
        let mut settings = Box::new(untyped.settings.of_child(untyped.net, untyped.started, allowance, slot));
        if workspaces.is_some() || untyped.settings.sets_options() {
            let entries = untyped.record_writer.clone().map(|writer| writer as Arc<dyn WriteEntry>);
            let journal = ParentJournal { entries, by: self.by.clone(), child: run.clone() };
            let workspace = self.row.workspace.as_deref();
            let demands_a_sandbox = settings.parents_demand_a_sandbox();
            let parent = ParentScope { run: untyped.run(), workspace, key: &key, demands_a_sandbox, journal: &journal };
            let scope =
                RunScope { run: &run, table: self.graph_type.net().table(), is_new: false, parent: Some(parent) };
            settings.scope_workspaces(workspaces.map(|make| make(&run)), &scope);
        }
        settings.run = run.clone();
        let (graph_type, graph, slots, taken_by) =
            (self.graph_type, self.graph.clone(), self.slots.clone(), self.by.clone());
        let (task, stop) =
            (tree.register_task(untyped.run().clone(), run.clone()), settings.cancel.clone().unwrap_or_default());
        let (abandoned, stopped, child) = (tree.abandoned.clone(), stop.clone(), run.clone());
        let turn = untyped.share_turn(self.execution);
        // Other executions may wait for a section in this child, and hold the slots.
        let expected = tree.turns.expects(&run).then(|| slots.clone().try_acquire_owned());
        self.pool.spawn(position, run, stop, async move {
            let _turn = turn;
            // Dropped last, except for the turn: whatever waits for the task then finds the child's run free.
            let _task = task;
            let _slot = match expected {
                Some(slot) => slot.ok(),
                None => tokio::select! {
                    biased;
                    () = stopped.cancelled() => return None,
                    // The semaphore is never closed, so this only waits.
                    slot = slots.acquire_owned() => slot.ok(),
                },
            };
            let result = tokio::select! {
                biased;
                () = abandoned.cancelled() => return None,
                ended = run_child(graph_type, graph, settings, origin, taken_by, entry) => ended?,
            };
            Some(Child { item: position, run: child, key, number, result })
        });
        Ok(())
    }
}
