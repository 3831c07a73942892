//! What a handler may ask of its run.

use crate::frontier::Execution;
use crate::graph::{Branch, Edge, Forks, Graph, Memory, Node, Place, Remembers, Resumes, Spawns, Works};
use crate::net::NodeIndex;
use crate::route::{Choice, Goto, Route, Step};
use crate::run_id::RunId;
use std::any::Any;
use std::marker::PhantomData;

pub use crate::effects::{Addition, Commit, Effects, MemoryCell, Message, NewItem};
pub use crate::entered::Entered;
pub use crate::label::{Label, LabelType, Labelled, Severity};
pub use crate::services::{ContextError, Services, Workspace};

/// A handler's view of the run, typed by the node it stands on.
pub struct Cx<'run, N: Node> {
    pub(crate) entered: &'run Entered<'run, N::Graph>,
    pub(crate) effects: &'run mut Effects,
    pub(crate) node: PhantomData<fn() -> N>,
}

/// The way on.
impl<N: Node> Cx<'_, N> {
    /// Goes to `Target` with `payload`. [`goto!`](crate::goto) is the same in fewer brackets.
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

    /// Continues on all branches of the node's fork: one payload a branch, in table order.
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

/// Beside the way on.
impl<N: Node> Cx<'_, N> {
    /// Leaves the run as it is: what an event node does whose message asks for no redirect.
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

    /// Says what sort of message this execution's tokens are, for whoever reads the journal or watches: the label of `value`,
    /// whose type has `#[derive(Labels)]`.
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
    /// # Errors
    ///
    /// [`ContextError`] where that node was never entered, or the run has no journal to read it from.
    pub fn input_of<Other>(&self) -> Result<Other::Input, ContextError>
    where
        Other: Node<Graph = N::Graph>,
    {
        self.entered.services.last_input(Other::INDEX).map(Other::take)
    }

    /// The place in which the node works.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where no place of that name was given to the run.
    pub fn workspace(&self) -> Result<Workspace, ContextError>
    where
        N: Works,
    {
        self.entered.services.workspace(N::INDEX)
    }

    /// Tells whoever watches the run, for instance what a long step is doing.
    pub fn note(&self, text: impl Into<String>) {
        self.entered.services.note(self.entered.execution, text.into());
    }

    /// Records that the node made a commit in a workspace.
    pub fn committed(&mut self, workspace: impl Into<String>, id: impl Into<String>) {
        self.effects.list().commits.push(Commit { workspace: workspace.into(), id: id.into() });
    }

    /// The node's workspace, for node kinds, which know their row but not its type.
    #[doc(hidden)]
    pub fn workspace_if_any(&self) -> Result<Option<Workspace>, ContextError> {
        match N::Graph::net().row(N::INDEX).workspace {
            Some(_) => self.entered.services.workspace(N::INDEX).map(Some),
            None => Ok(None),
        }
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
    /// Until then only this execution sees the change; if it fails, times out or is cancelled, nobody does. Updates of
    /// concurrent nodes are applied one after the other, each to the value the last one left, so `change` may be called
    /// more than once and should depend on nothing but what it is given.
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
