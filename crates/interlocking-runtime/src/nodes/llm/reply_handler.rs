//! LLM nodes whose prompt is their input: their handler, and the node that needs none.

use super::{FromHandler, FromInput, LLM, LLMHandler, LLMNode, Prompt, Reply, converse};
use crate::context::run_context::RunContext;
use interlocking_agents::{AgentError, SessionOp};
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use std::future::Future;

/// The handler of an [`LLMNode`] whose row has no `prompt`: the node's input is the prompt, and each turn begins a fresh
/// session, unless [`session`](Self::session) says otherwise.
///
/// ```
/// use interlocking::agents::ScriptedAgent;
/// use interlocking::prelude::*;
/// use interlocking::runtime::llm::Prompt;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Topic(String);
///
/// /// With the feature `askama`, a template is one without this.
/// impl Prompt for Topic {
///     fn render(&self) -> Result<String, NodeError> {
///         Ok(format!("What is {} in one word?", self.0))
///     }
/// }
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Quiz {
///     #[node(entry, input = Topic, output = String, goto(answer, exit), attempts = 3)]
///     answer: LLMNode<Answer>,
/// }
///
/// struct Answer;
/// impl ReplyHandler<quiz::answer> for Answer {
///     async fn after(&self, topic: Topic, reply: Reply<String>, cx: &mut Cx<'_, quiz::answer>) -> Route<quiz::answer> {
///         if reply.output.contains(' ') { goto!(cx, self, topic) } else { goto!(cx, quiz::exit, reply.output) }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = r#"turn = [{ output_json = '"A kind of weather."' }, { output_json = '"Weather."' }]"#;
/// let run = Run::new(Quiz { answer: LLMNode(Answer) }).with_agent("answer", ScriptedAgent::parse("quiz.toml", script)?);
/// assert_eq!(run.start(Topic("rain".to_owned())).await?.outcome.finished().as_deref(), Some("Weather."));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle LLM node `{N}`",
    label = "missing `impl ReplyHandler<{N}> for {Self}`",
    note = "the row of `{N}` has no `prompt`, so its input is the prompt; with `prompt = …` in the row, an `LLMHandler` makes it"
)]
pub trait ReplyHandler<N: LLM>: Send + Sync {
    /// The system prompt that the agent gets beside its own.
    fn system(&self) -> Option<String> {
        None
    }

    /// Says which session the turn runs in. Without an implementation, it is a fresh one, named after the node.
    fn session(
        &self,
        input: &N::Input,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Result<SessionOp, NodeError>> + Send {
        let _ = input;
        std::future::ready(Ok(cx.fresh_session()))
    }

    /// Takes the agent's answer, and says where to go next.
    fn after(
        &self,
        input: N::Input,
        reply: Reply<N::Output>,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send;

    /// Says where to go when the agent has no valid answer, as [`LLMHandler::unanswered`] does.
    fn unanswered(
        &self,
        input: N::Input,
        error: AgentError,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send {
        let _ = (input, cx);
        std::future::ready(Err(error.into()))
    }
}

/// Takes the place of a handler in an [`LLMNode`] that needs none: the node's input is the prompt, and its one target takes the
/// agent's output.
///
/// The field's type is `LLMNode`, without a handler.
///
/// `PassOn` stands where a handler would, also in a `Default` graph:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::llm::Prompt;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Subject(String);
///
/// /// With the feature `askama`, a template is one without this.
/// impl Prompt for Subject {
///     fn render(&self) -> Result<String, NodeError> {
///         Ok(format!("Write a line about {}.", self.0))
///     }
/// }
///
/// #[derive(Graph, Default)]
/// #[graph(output = String)]
/// struct Poet {
///     #[node(entry, input = Subject, output = String, goto(exit))]
///     write: LLMNode,
/// }
///
/// // The same as `Poet::default()`.
/// let poet = Poet { write: LLMNode(PassOn) };
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct PassOn;

/// An LLM node whose input is its prompt. Written by `#[derive(Graph)]`.
pub trait AsksWithInput: LLM<PromptFrom = FromInput> {
    /// The input as the prompt.
    fn prompt(input: &Self::Input) -> &Self::Prompt<'_>;
}

/// An LLM node without a handler. Written by `#[derive(Graph)]`.
#[diagnostic::on_unimplemented(
    message = "LLM node `{Self}` does not pass its answer on",
    label = "a handler says where `{Self}` goes next",
    note = "the field of a node that has one target and no handler is a plain `LLMNode`"
)]
pub trait PassesReplyOn: AsksWithInput {
    /// The route that takes the agent's output to the node's one target.
    ///
    /// # Errors
    ///
    /// None: the [`Route`] is what a handler returns.
    fn go_on(output: Self::Output, cx: &Cx<'_, Self>) -> Route<Self>;
}

impl<N: PassesReplyOn> ReplyHandler<N> for PassOn {
    async fn after(&self, _: N::Input, reply: Reply<N::Output>, cx: &mut Cx<'_, N>) -> Route<N> {
        N::go_on(reply.output, cx)
    }
}

/// Converts what the agent of a node without a handler returned into what the node's target takes.
pub fn as_reply<O: IsReply<P>, P>(output: O) -> P {
    output.reply()
}

/// What an agent returns, where its node's target takes the same type. Implemented for every type.
#[diagnostic::on_unimplemented(
    message = "the agent returns `{Self}`, and this target takes `{P}`",
    label = "does not take what the agent returns",
    note = "let the target take `{Self}`, or give the node a handler, which makes one of the other: `LLMNode<Handler>` and `impl ReplyHandler`"
)]
pub trait IsReply<P> {
    /// The same value.
    fn reply(self) -> P;
}

#[diagnostic::do_not_recommend]
impl<T> IsReply<T> for T {
    fn reply(self) -> T {
        self
    }
}

/// How an LLM node `N` that holds an `H` runs, depending on what makes its prompt.
#[doc(hidden)]
pub trait Prompts<N: LLM, H>: Sized {
    /// Runs the node once.
    fn run(handler: &H, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send;
}

impl<N: LLM, H: LLMHandler<N>> Prompts<N, H> for FromHandler {
    async fn run(handler: &H, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let (prompt, session) = {
            let (context, session) = handler.before(&input, cx).await?;
            (context.render()?, session)
        };
        match converse::<N>(cx, handler.system(), prompt, session).await? {
            Ok(reply) => handler.after(input, reply, cx).await,
            Err(error) => handler.unanswered(input, error, cx).await,
        }
    }
}

impl<N: AsksWithInput, H: ReplyHandler<N>> Prompts<N, H> for FromInput {
    async fn run(handler: &H, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let prompt = N::prompt(&input).render()?;
        let session = handler.session(&input, cx).await?;
        match converse::<N>(cx, handler.system(), prompt, session).await? {
            Ok(reply) => handler.after(input, reply, cx).await,
            Err(error) => handler.unanswered(input, error, cx).await,
        }
    }
}

impl<N: LLM<PromptFrom: Prompts<N, H>>, H: Send + Sync> Kind<N> for LLMNode<H> {
    fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Route<N>> + Send {
        // Boxed: the allocation is negligible beside an agent's turn, and the graph's own future stays small.
        Box::pin(N::PromptFrom::run(&self.0, input, cx))
    }
}
