//! What a handler can ask of a recorded run and of related runs: an extension of its [`Cx`].

pub use crate::context::child_run::{ChildRun, Committed};
use crate::context::services::{RunServices, UntypedServices};
use crate::erased::read::read;
use crate::journal::{Encoded, JournalError};
use crate::nodes::llm::{LLM, Prompt, Reply, ask};
use crate::nodes::map::Item;
use crate::workspaces::Workspaces;
use interlocking_agents::{SessionOp, Slug};
use interlocking_core::context::{ContextError, Cx};
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{AddsTo, Graph, Maps, Node, RunsChildren, Stored, Value};
use interlocking_core::route::Route;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use serde::Serialize;
use std::future::Future;
use std::sync::Arc;

/// What a handler can ask of a recorded run, and of the runs around it.
///
/// A letter that is sent once, although the process may end between the sending and the node's outcome:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = u64)]
/// struct Mailing {
///     #[node(entry, input = String, goto(exit))]
///     send: LogicNode<Send>,
/// }
///
/// struct Send;
/// impl LogicHandler<mailing::send> for Send {
///     async fn run(&self, letter: String, cx: &mut Cx<'_, mailing::send>) -> Route<mailing::send> {
///         // The post office takes a second letter with the same key for the first.
///         let key = cx.once_key("post");
///         let number = cx.once("post", async { post(&key, &letter).await }).await?;
///         goto!(cx, mailing::exit, number)
///     }
/// }
/// # async fn post(key: &str, _: &str) -> Result<u64, NodeError> {
/// #     assert_eq!(key, "run/send.1/post");
/// #     Ok(4711)
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Mailing { send: LogicNode(Send) }).start("Dear all".to_owned()).await?;
/// assert_eq!(report.outcome.finished(), Some(4711));
/// # Ok(())
/// # }
/// ```
pub trait RunContext<N: Node> {
    /// Performs `effect` once in this visit, and returns its result: a repeated execution, or a later attempt of the same
    /// visit, gets the recorded result.
    ///
    /// The effect itself is outside the journal: a crash between the effect and its record repeats the effect. So it should
    /// tolerate a repetition, with [`once_key`](Self::once_key) as its idempotency key.
    ///
    /// # Errors
    ///
    /// The effect's error; nothing is recorded then. Also an error if the record cannot be written, or cannot be read as a `T`.
    fn once<T: Value>(
        &mut self,
        name: &str,
        effect: impl Future<Output = Result<T, NodeError>> + Send,
    ) -> impl Future<Output = Result<T, NodeError>> + Send;

    /// The idempotency key of the effect called `name` in this visit: the same each time this visit performs it, and different
    /// for everything else. For services that take such a key.
    fn once_key(&self, name: &str) -> String;

    /// The operation that begins a new session, named after the node. `before` returns it where a turn needs no knowledge of
    /// earlier turns.
    fn fresh_session(&self) -> SessionOp;

    /// How often this execution was begun before without an outcome: because of a crash, of a suspension of the run, or of a
    /// failure after which the run was retried.
    fn restarts(&self) -> u32;

    /// The depth of this run: 0 for a run that was started, 1 for its children, 2 for their children.
    fn depth(&self) -> u32;

    /// The `depth` of the map or graph node `Child`: the node may run children while [`depth`](Self::depth) is less. `None`
    /// where the node has no `depth`, and nothing limits it.
    fn depth_limit<Child>(&self) -> Option<u32>
    where
        Child: RunsChildren<Graph = N::Graph>;

    /// The graph of this run, for map and graph nodes whose children are runs of the same graph.
    ///
    /// # Errors
    ///
    /// An error if the executor does not know the graph.
    fn own_graph(&self) -> Result<Arc<N::Graph>, ContextError>;

    /// The run's workspaces: those that [`Run::with_workspaces`](crate::Run::with_workspaces) was given, or those that it [made
    /// from them](crate::Workspaces::of_run) for this run. As a `&dyn Any` they can be downcast to their type.
    ///
    /// # Errors
    ///
    /// An error if the executor does not know the workspaces.
    fn workspaces(&self) -> Result<Arc<dyn Workspaces>, ContextError>;

    /// The run's parent, if it is a child run.
    fn parent(&self) -> Option<RunId>;

    /// The other runs that this run's parent has started and that have not ended, ordered by name. They are read from the
    /// journal, so that runs which are resumed later than this one are included.
    ///
    /// # Errors
    ///
    /// The journal's error.
    fn siblings(&self) -> impl Future<Output = Result<Vec<RunId>, JournalError>> + Send;

    /// The child runs that the map or graph node `Child` has started or adopted in this run, as the journal has them: those of
    /// earlier executions first, and those of one execution in the order of their keys. Empty where nothing is recorded.
    ///
    /// # Errors
    ///
    /// The journal's error.
    fn children<Child>(&self) -> impl Future<Output = Result<Vec<ChildRun>, JournalError>> + Send
    where
        Child: RunsChildren<Graph = N::Graph>;

    /// Lets the node's agent do one turn: for advisory and event nodes that have a `prompt` and an `output`.
    ///
    /// When an interrupted execution is repeated, its first call continues the session that its first call had begun, its
    /// second call that of the second, and so on. So make the calls in the same order each time.
    ///
    /// # Errors
    ///
    /// An error if the prompt cannot be rendered or the run may make no more calls; otherwise the agent's error.
    fn converse(
        &mut self,
        prompt: N::Prompt<'_>,
        session: SessionOp,
    ) -> impl Future<Output = Result<Reply<N::Output>, NodeError>> + Send
    where
        N: LLM;

    /// The same as [`converse`](Self::converse), with a `system` prompt that the agent gets beside its own: what
    /// [`LLMHandler::system`](crate::llm::LLMHandler::system) is for the agents of other nodes.
    ///
    /// # Errors
    ///
    /// Those of [`converse`](Self::converse).
    fn converse_as(
        &mut self,
        system: Option<String>,
        prompt: N::Prompt<'_>,
        session: SessionOp,
    ) -> impl Future<Output = Result<Reply<N::Output>, NodeError>> + Send
    where
        N: LLM;

    /// Adds items to the map node `Map`, behind those that it has, and leaves the run unchanged otherwise. An event node with
    /// `adds_to` can do this. The items are recorded with this execution's outcome.
    ///
    /// The map takes items from the moment it has its input until it has given its handler the last of its children, or its
    /// quorum is decided. Where no map takes them, the items are refused, which the event `items_added` says: nothing is
    /// changed.
    ///
    /// # Errors
    ///
    /// An error if an item cannot be recorded: its entry value cannot be serialized, or it has [workspaces of its
    /// own](Item::with_workspaces).
    fn add<Map>(&mut self, items: impl IntoIterator<Item = Item<Map::Child>>) -> Route<N>
    where
        Map: Maps<Graph = N::Graph>,
        N: AddsTo<Map>;

    /// Sends a message to the event node `Event` of run `to`, once this execution's outcome is accepted. Messages from one run
    /// arrive in the order in which they were sent (V3-151). A message to a run that has ended is dropped.
    ///
    /// # Errors
    ///
    /// An error if this run has no journal, which is where messages are kept, if the message cannot be serialized, or if
    /// `Event` is not an event node.
    fn send<Event>(&mut self, to: &RunId, message: &Event::Input) -> Result<(), NodeError>
    where
        Event: Node,
        Event::Input: Serialize;

    /// Whether a message waits to be handled when this execution has ended, before any other begins. This includes a message
    /// that was written to the run before this call and has not been received yet.
    ///
    /// # Errors
    ///
    /// The journal's error.
    fn has_mail(&self) -> impl Future<Output = Result<bool, JournalError>> + Send;

    /// Waits for this run's turn among the runs of its tree that ask under `name`, in the order in which they ask. The run
    /// keeps the turn, whichever of its nodes runs, until it [gives the turn back](Self::give_turn_back) or ends. So several
    /// executions, such as making, judging and landing a candidate, are one step to other runs. Asking for a turn that the run
    /// has changes nothing.
    ///
    /// A run that another process resumes has no turn, and asks again: it comes before all others if it had the turn after its
    /// last recorded outcome. A run keeps its turn when a budget is used up: the runs that wait for the turn continue in the
    /// process that resumes the run. A run with a turn must wait neither for a person nor for a run that asks for the same
    /// turn.
    ///
    /// # Errors
    ///
    /// An error if the executor knows no other runs.
    fn take_turn(&self, name: &str) -> impl Future<Output = Result<(), ContextError>> + Send;

    /// Ends this run's turn, if it has one, once this execution's outcome is accepted and its messages are sent.
    fn give_turn_back(&self, name: &str);
}

impl<N: Node> RunContext<N> for Cx<'_, N> {
    async fn once<T: Value>(
        &mut self,
        name: &str,
        effect: impl Future<Output = Result<T, NodeError>> + Send,
    ) -> Result<T, NodeError> {
        let untyped = UntypedServices::of(self)?;
        let by = untyped.by(self.execution());
        if let Some(value) = untyped.history().once_value(&by, name) {
            let Stored(value) = read(&value)?;
            return Ok(value);
        }
        let value = effect.await?;
        let json: Encoded = serde_json::to_string(&Stored(&value))?.into();
        untyped.record_once(by, name, json).await?;
        Ok(value)
    }

    fn once_key(&self, name: &str) -> String {
        format!("{}/{}.{}/{name}", self.run_id(), self.node(), self.visit())
    }

    fn fresh_session(&self) -> SessionOp {
        SessionOp::StartFresh(Slug::of_name(self.node()))
    }

    fn restarts(&self) -> u32 {
        UntypedServices::of(self).map_or(0, |untyped| untyped.history().restarts(&untyped.by(self.execution())))
    }

    fn depth(&self) -> u32 {
        UntypedServices::of(self).map_or(0, |untyped| untyped.settings.depth())
    }

    fn depth_limit<Child>(&self) -> Option<u32>
    where
        Child: RunsChildren<Graph = N::Graph>,
    {
        N::Graph::net().row(Child::INDEX).depth
    }

    fn own_graph(&self) -> Result<Arc<N::Graph>, ContextError> {
        Ok(RunServices::of(self)?.graph.clone())
    }

    fn workspaces(&self) -> Result<Arc<dyn Workspaces>, ContextError> {
        Ok(UntypedServices::of(self)?.settings.options().workspaces.clone())
    }

    fn parent(&self) -> Option<RunId> {
        let untyped = UntypedServices::of(self).ok()?;
        untyped.settings.tree().parent(untyped.run())
    }

    fn siblings(&self) -> impl Future<Output = Result<Vec<RunId>, JournalError>> + Send {
        let untyped = UntypedServices::of(self).ok();
        async move {
            match untyped {
                Some(untyped) => untyped.siblings().await,
                None => Ok(Vec::new()),
            }
        }
    }

    fn children<Child>(&self) -> impl Future<Output = Result<Vec<ChildRun>, JournalError>> + Send
    where
        Child: RunsChildren<Graph = N::Graph>,
    {
        let untyped = UntypedServices::of(self).ok();
        async move {
            match untyped {
                Some(untyped) => untyped.children(Child::INDEX).await,
                None => Ok(Vec::new()),
            }
        }
    }

    fn converse(
        &mut self,
        prompt: N::Prompt<'_>,
        session: SessionOp,
    ) -> impl Future<Output = Result<Reply<N::Output>, NodeError>> + Send
    where
        N: LLM,
    {
        self.converse_as(None, prompt, session)
    }

    fn converse_as(
        &mut self,
        system: Option<String>,
        prompt: N::Prompt<'_>,
        session: SessionOp,
    ) -> impl Future<Output = Result<Reply<N::Output>, NodeError>> + Send
    where
        N: LLM,
    {
        // Rendered at once, so that what the prompt borrows is not needed later.
        let prompt = prompt.render();
        async move { ask::<N>(self, system, prompt?, session).await }
    }

    fn add<Map>(&mut self, items: impl IntoIterator<Item = Item<Map::Child>>) -> Route<N>
    where
        Map: Maps<Graph = N::Graph>,
        N: AddsTo<Map>,
    {
        let items = items.into_iter().map(Item::into_record).collect::<Result<_, _>>()?;
        self.add_items(Map::INDEX, items)
    }

    fn send<Event>(&mut self, to: &RunId, message: &Event::Input) -> Result<(), NodeError>
    where
        Event: Node,
        Event::Input: Serialize,
    {
        let row = Event::Graph::net().row(Event::INDEX);
        if row.kind != NodeKind::Event {
            return Err(format!("`{}` is a {}, and only event nodes take messages", row.name, row.kind).into());
        }
        if UntypedServices::of(self)?.record_writer.is_none() {
            return Err(ContextError::NowhereToSend { node: row.name.clone() }.into());
        }
        let json = serde_json::to_string(message)?;
        self.post(to.clone(), &row.name, json);
        Ok(())
    }

    fn has_mail(&self) -> impl Future<Output = Result<bool, JournalError>> + Send {
        let untyped = UntypedServices::of(self).ok();
        async move {
            match untyped {
                Some(untyped) => {
                    let has_mail = untyped.has_mail().await;
                    has_mail.inspect_err(|error| untyped.settings.tree().journal_failed(error))
                }
                None => Ok(false),
            }
        }
    }

    fn take_turn(&self, name: &str) -> impl Future<Output = Result<(), ContextError>> + Send {
        let (untyped, name, by) = (UntypedServices::of(self), name.to_owned(), self.execution());
        async move {
            untyped?.take_turn(&name, by).await;
            Ok(())
        }
    }

    fn give_turn_back(&self, name: &str) {
        if let Ok(untyped) = UntypedServices::of(self) {
            untyped.give_turn_back(name, self.execution());
        }
    }
}
