//! What a handler may ask of its run.

use crate::failure::NodeError;
use crate::frontier::{Execution, Payload};
use crate::graph::{Branch, Done, Edge, Forks, Graph, Memory, Node, Place, Relay, Remembers, Resumes, Spawns, Works};
use crate::kind::Kind;
use crate::net::{AlternativeIndex, PlaceIndex};
use crate::route::{Choice, Next, Route, Step};
use crate::run_id::RunId;
use std::any::Any;
use std::marker::PhantomData;

pub use crate::effects::{Commit, Effects, Label, MemoryCell, Message, Severity};
pub use crate::services::{ContextError, Services, Workspace};

/// What an execution gets from its executor.
pub struct Entered<'run, G: Graph> {
    /// The run's services.
    pub services: &'run dyn Services<G>,
    /// Which execution this is.
    pub execution: Execution,
}

impl<G: Graph> Clone for Entered<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Graph> Copy for Entered<'_, G> {}

/// A handler's view of the run, typed by the node it stands on.
pub struct Cx<'run, N: Node> {
    pub(crate) entered: &'run Entered<'run, N::Graph>,
    pub(crate) effects: &'run mut Effects,
    pub(crate) node: PhantomData<fn() -> N>,
}

/// One execution after the other on their way: what [`dispatch`](crate::dispatch) keeps beside the token.
#[doc(hidden)]
pub struct Visit<'run, G: Graph> {
    pub(crate) entered: Entered<'run, G>,
    pub(crate) effects: Effects,
    relay: &'run mut dyn Relay,
}

/// Runs one execution of the node `N`, whose kind is `kind`.
pub async fn run<N, K>(kind: &K, input: N::Input, entered: Entered<'_, N::Graph>) -> Done<N::Graph>
where
    N: Node,
    K: Kind<N>,
{
    let mut visit = Visit::new(entered, alone());
    let mut cx = Cx { entered: &visit.entered, effects: &mut visit.effects, node: PhantomData };
    let route = leave(kind.run(input, &mut cx).await);
    visit.done(route)
}

/// The way on, without the node's type.
///
/// # Errors
///
/// The handler's.
#[inline]
pub(crate) fn leave<N: Node>(route: Route<N>) -> Result<Step<<N::Graph as Graph>::Token>, NodeError> {
    match route {
        Ok(next) => Ok(next.into_step()),
        Err(error) => Err(error),
    }
}

impl<'run, G: Graph> Visit<'run, G> {
    /// The first of a chain, or the only one.
    #[inline]
    pub fn new(entered: Entered<'run, G>, relay: &'run mut dyn Relay) -> Self {
        Self { entered, effects: Effects::default(), relay }
    }

    /// Whether the chain goes on along an alternative; this is then the visit of the node that it leads to.
    #[inline]
    pub fn goes_on(&mut self, alternative: AlternativeIndex, token: &G::Token) -> bool {
        self.effects.is_empty() && self.relay.relay(alternative, token.place(), &mut self.entered.execution)
    }

    /// [`goes_on`](Self::goes_on), but only to a place from `first` to `last`.
    #[inline]
    pub fn goes_on_within(
        &mut self,
        first: PlaceIndex,
        last: PlaceIndex,
        alternative: AlternativeIndex,
        token: &G::Token,
    ) -> bool {
        (first..=last).contains(&token.place()) && self.goes_on(alternative, token)
    }

    /// What a shorter chain, on the way of this one, starts with.
    pub fn reborrow(&mut self) -> (Entered<'run, G>, &mut dyn Relay) {
        (self.entered, &mut *self.relay)
    }

    /// Takes in what came of a shorter chain.
    pub fn after(&mut self, done: Done<G>) -> Result<Step<G::Token>, NodeError> {
        self.effects = done.effects;
        done.route
    }

    /// What came of it.
    pub fn done(self, route: Result<Step<G::Token>, NodeError>) -> Done<G> {
        Done { route, effects: self.effects }
    }
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
        Ok(Next::new(Step::One(N::ALTERNATIVE, <N as Edge<Target>>::To::put(payload))))
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
        Ok(Next::new(Step::All(N::ALTERNATIVE, N::tokens(branches))))
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
        Ok(Next::stay())
    }

    /// Starts the advisory node `Target` beside the graph when this execution's outcome is accepted.
    pub fn spawn<Target>(&mut self, payload: <<N as Spawns<Target>>::To as Place>::Payload)
    where
        N: Spawns<Target>,
    {
        let token = <N as Spawns<Target>>::To::put(payload);
        self.effects.list().spawned.push(Box::new(token));
    }

    /// Says what sort of message this execution's tokens are, for whoever reads the journal: `BLOCKED_DEPENDENCY`.
    pub fn label(&mut self, ty: impl Into<String>, severity: Severity) {
        self.effects.list().label = Some(Label { ty: ty.into(), severity });
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

impl<G: Graph> Done<G> {
    /// An execution that failed before its handler could run.
    pub fn failed(error: impl Into<NodeError>) -> Self {
        Self { route: Err(error.into()), effects: Effects::default() }
    }

    /// The token lies in a place that no handler consumes.
    pub fn misplaced() -> Self {
        Self::failed(MISPLACED)
    }
}

const MISPLACED: &str = "the token lies in a place that no handler consumes; the executor and the graph disagree";

/// The token lies in a place that no handler consumes.
///
/// # Errors
///
/// Always.
pub fn misplaced<P>() -> Result<Step<P>, NodeError> {
    Err(MISPLACED.into())
}

/// Lets nothing go on: for one execution alone.
#[inline]
pub fn alone<'run>() -> &'run mut dyn Relay {
    let nothing: &mut [Execution; 0] = &mut [];
    nothing
}
