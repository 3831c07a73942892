//! The node kind whose work an agent does.
//!
//! A handler has four parts: the system prompt; the user prompt's context and the session (`before`); the way the prompt is
//! rendered (its askama template); and the choice of what follows (`after`). In outline; `docs/book/src/handlers.md` has the
//! whole handler, compiled:
//!
//! ```text
//! impl LLMHandler<newsroom::write> for Write {
//!     async fn before<'a>(&'a self, draft: &'a Draft, cx: &mut Cx<'_, newsroom::write>) -> Ask<WritePrompt<'a>> {
//!         Ok((WritePrompt { draft }, SessionOp::StartFresh(Slug::new("write")?)))
//!     }
//!     async fn after(&self, draft: Draft, reply: Reply<Article>, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
//!         goto!(cx, newsroom::review, reply.output)
//!     }
//! }
//! ```
//!
//! A node whose row has no `prompt` has its input as its prompt. Its handler is a [`ReplyHandler`], which is `after` alone. If
//! the node also has one target, which takes what the agent returns, it needs no handler: its field is a plain `LLMNode`.

mod agent_call;
mod reply_handler;

pub use self::reply_handler::{AsksWithInput, IsReply, PassOn, PassesReplyOn, Prompts, ReplyHandler, as_reply};

use self::agent_call::AgentCall;
use crate::context::services::UntypedServices;
use interlocking_agents::{
    AgentError, Completion, Schema, SessionId, SessionOp, Usage, deserialize_output, deserializes_as,
};
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Graph, Node};
use interlocking_core::route::Route;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::future::Future;
use std::sync::Arc;
use thiserror::Error;

/// A node whose work an agent does. Where the node's input is its prompt, and its one target takes what the agent returns, the
/// node needs no handler: the field's type is `LLMNode`, and its value `LLMNode(PassOn)`.
///
/// The input is the prompt, and the answer is the output, so this node has no handler:
///
/// ```
/// use interlocking::agents::ScriptedAgent;
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
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Poet {
///     #[node(entry, input = Subject, output = String, goto(exit))]
///     write: LLMNode,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A script stands in for a model.
/// let script = r#"turn = [{ contains = ["about rain"], output_json = '"It rains."' }]"#;
/// let run = Run::new(Poet { write: LLMNode(PassOn) }).with_agent("write", ScriptedAgent::parse("poet.toml", script)?);
/// assert_eq!(run.start(Subject("rain".to_owned())).await?.outcome.finished().as_deref(), Some("It rains."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LLMNode<H = PassOn>(pub H);

/// The row of an [`LLMNode`]: the context of its prompt, and its agent's output. Written by `#[derive(Graph)]`.
pub trait LLM: Node {
    /// The context of the prompt's template.
    type Prompt<'a>: Prompt;
    /// The type of the agent's structured output.
    type Output: AgentOutput;
    /// What makes the prompt: [`FromHandler`] or [`FromInput`].
    type PromptFrom;
}

/// The row has a `prompt`: the node's [`LLMHandler`] makes it.
pub enum FromHandler {}

/// The row has no `prompt`: the node's input is the prompt, and a [`ReplyHandler`] takes the answer.
pub enum FromInput {}

/// A value that is rendered into an agent's prompt. Every askama template is a prompt.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prompt",
    label = "derive `askama::Template` for it",
    note = "with the feature `askama`, every type with `#[derive(Template)]` is a prompt; an LLM node without `prompt = …` is asked with its input"
)]
pub trait Prompt {
    /// The prompt's text.
    ///
    /// # Errors
    ///
    /// The error of the template engine.
    fn render(&self) -> Result<String, NodeError>;
}

/// What an agent returns: data with a JSON schema.
///
/// Implemented for every type that qualifies. The requirements are not supertraits, so that a type which lacks them gets one
/// error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an agent's answer: it has no JSON schema, or is not serde data",
    label = "an agent is asked for this by its schema",
    note = "write `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]` on `{Self}` and on the types of its fields"
)]
pub trait AgentOutput: Sized + Send + 'static {
    /// The type's schema.
    #[doc(hidden)]
    fn schema() -> serde_json::Value;

    /// Reads a value of the type.
    #[doc(hidden)]
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> AgentOutput for T {
    fn schema() -> serde_json::Value {
        schemars::schema_for!(T).to_value()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// An agent's answer as serde data.
struct Answered<T>(T);

impl<'de, T: AgentOutput> Deserialize<'de> for Answered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::read(deserializer).map(Self)
    }
}

/// What `before` returns: the prompt's context, and the session that the turn runs in.
///
/// A second attempt continues the session of the first, which the node remembers:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::llm::Prompt;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Repair {
///     #[node(entry, input = String, prompt = Fix<'_>, output = String, goto(fix, exit), attempts = 3,
///         memory = Option<SessionId>)]
///     fix: LLMNode<Fixer>,
/// }
/// # struct Fix<'a>(&'a str);
/// # impl Prompt for Fix<'_> {
/// #     fn render(&self) -> Result<String, NodeError> {
/// #         Ok(format!("Fix {}.", self.0))
/// #     }
/// # }
///
/// struct Fixer;
/// impl LLMHandler<repair::fix> for Fixer {
///     async fn before<'a>(&'a self, what: &'a String, cx: &mut Cx<'_, repair::fix>) -> Ask<Fix<'a>> {
///         let session = match cx.memory() {
///             Some(session) => SessionOp::ContinueFrom(session),
///             None => SessionOp::StartFresh(Slug::new("fix")?),
///         };
///         Ok((Fix(what), session))
///     }
///     async fn after(&self, what: String, reply: Reply<String>, cx: &mut Cx<'_, repair::fix>) -> Route<repair::fix> {
///         let session = reply.session;
///         cx.update_memory(move |kept| *kept = Some(session.clone()));
///         if reply.output == what { goto!(cx, self, what) } else { goto!(cx, repair::exit, reply.output) }
///     }
/// }
/// # use interlocking::agents::ScriptedAgent;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = r#"turn = [
/// #     { session = "fresh", output_json = '"teh"' },
/// #     { session = "continue", output_json = '"the"' },
/// # ]"#;
/// # let run = Run::new(Repair { fix: LLMNode(Fixer) }).with_agent("fix", ScriptedAgent::parse("fix.toml", script)?);
/// # assert_eq!(run.start("teh".to_owned()).await?.outcome.finished().as_deref(), Some("the"));
/// # Ok(())
/// # }
/// ```
pub type Ask<P> = Result<(P, SessionOp), NodeError>;

/// An agent's answer.
///
/// The output is what the agent claims: this handler checks it, and notes what it cost.
///
/// ```
/// use interlocking::agents::ScriptedAgent;
/// use interlocking::prelude::*;
/// use interlocking::runtime::llm::Prompt;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Task(String);
///
/// /// With the feature `askama`, a template is one without this.
/// impl Prompt for Task {
///     fn render(&self) -> Result<String, NodeError> {
///         Ok(format!("Write {}.", self.0))
///     }
/// }
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Desk {
///     #[node(entry, input = Task, output = String, goto(exit))]
///     write: LLMNode<Writer>,
/// }
///
/// struct Writer;
/// impl ReplyHandler<desk::write> for Writer {
///     async fn after(&self, _: Task, reply: Reply<String>, cx: &mut Cx<'_, desk::write>) -> Route<desk::write> {
///         cx.note(format!("session {}: {} tokens written", reply.session, reply.usage.output_tokens));
///         if reply.output.is_empty() {
///             return Err("the agent says that it has written, and has not".into());
///         }
///         goto!(cx, desk::exit, reply.output)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = r#"turn = [{ output_json = '""' }]"#;
/// let run = Run::new(Desk { write: LLMNode(Writer) }).with_agent("write", ScriptedAgent::parse("desk.toml", script)?);
/// let outcome = run.start(Task("a poem".to_owned())).await?.outcome;
/// assert!(matches!(outcome, Outcome::Failed(failure) if failure.message.starts_with("the agent says")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reply<T> {
    /// The structured output, valid under its schema. It contains claims, not facts: check what can be checked.
    pub output: T,
    /// The session, to continue or to fork.
    pub session: SessionId,
    /// What the turn used up, including correction rounds.
    pub usage: Usage,
    /// How many correction rounds the turn took.
    pub corrections: u32,
    /// How often the agent was reminded to decide.
    pub nudges: u32,
    /// The sessions that the agent had lost, so that the turn [began anew](interlocking_agents::LostSession).
    pub lost: Vec<SessionId>,
}

/// The handler of an [`LLMNode`].
///
/// An agent writes until a letter is short enough; `before` makes the prompt from the input and from what the handler holds:
///
/// ```
/// use interlocking::agents::ScriptedAgent;
/// use interlocking::prelude::*;
/// use interlocking::runtime::llm::Prompt;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Letters {
///     #[node(entry, input = String, prompt = Write<'_>, output = String, goto(write, exit), attempts = 3)]
///     write: LLMNode<Writer>,
/// }
///
/// struct Write<'a> {
///     style: &'a str,
///     what: &'a str,
/// }
/// # impl Prompt for Write<'_> {
/// #     fn render(&self) -> Result<String, NodeError> {
/// #         Ok(format!("Write, {}: {}", self.style, self.what))
/// #     }
/// # }
///
/// struct Writer {
///     style: &'static str,
/// }
/// impl LLMHandler<letters::write> for Writer {
///     fn system(&self) -> Option<String> {
///         Some("You write letters.".to_owned())
///     }
///     async fn before<'a>(&'a self, what: &'a String, cx: &mut Cx<'_, letters::write>) -> Ask<Write<'a>> {
///         Ok((Write { style: self.style, what }, cx.fresh_session()))
///     }
///     async fn after(&self, what: String, reply: Reply<String>, cx: &mut Cx<'_, letters::write>) -> Route<letters::write> {
///         match reply.output.len() {
///             ..=20 => goto!(cx, letters::exit, reply.output),
///             _ => goto!(cx, self, format!("{what}, shorter")),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let script = r#"turn = [
///     { contains = ["Write, kindly: thanks"], output_json = '"Thank you so very much indeed."' },
///     { contains = ["Write, kindly: thanks, shorter"], output_json = '"Thank you."' },
/// ]"#;
/// let letters = Letters { write: LLMNode(Writer { style: "kindly" }) };
/// let run = Run::new(letters).with_agent("write", ScriptedAgent::parse("letters.toml", script)?);
/// assert_eq!(run.start("thanks".to_owned()).await?.outcome.finished().as_deref(), Some("Thank you."));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle LLM node `{N}`",
    label = "missing `impl LLMHandler<{N}> for {Self}`",
    note = "its `before` makes the `prompt` of the row of `{N}`; a row without `prompt` asks with its input, and a `ReplyHandler` does"
)]
pub trait LLMHandler<N: LLM>: Send + Sync {
    /// The system prompt that the agent gets beside its own.
    fn system(&self) -> Option<String> {
        None
    }

    /// Makes the prompt's context, and says which session the turn runs in.
    fn before<'a>(&'a self, input: &'a N::Input, cx: &mut Cx<'_, N>)
    -> impl Future<Output = Ask<N::Prompt<'a>>> + Send;

    /// Takes the agent's answer, and says where to go next. The input comes back as `before` saw it.
    fn after(
        &self,
        input: N::Input,
        reply: Reply<N::Output>,
        cx: &mut Cx<'_, N>,
    ) -> impl Future<Output = Route<N>> + Send;

    /// Says where to go when the agent has no valid answer: it failed, it stopped responding, or its answer stayed invalid to
    /// the end. The error says how, in which session, and what that cost. Without an implementation, the node fails.
    ///
    /// Not called when the run as a whole may not continue: then nothing is wrong with the node.
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

/// The agent's answer fits its schema but not the Rust type.
#[derive(Debug, Error)]
#[error("the output fits its schema but does not parse as `{expected}`: {reason}")]
#[non_exhaustive]
pub struct OutputMismatch {
    /// The Rust type.
    pub expected: &'static str,
    /// The parser's message.
    pub reason: String,
}

async fn converse<N: LLM>(
    cx: &Cx<'_, N>,
    system: Option<String>,
    prompt: String,
    session: SessionOp,
) -> Result<Result<Reply<N::Output>, AgentError>, NodeError> {
    let call = AgentCall {
        untyped: UntypedServices::of(cx)?,
        row: N::Graph::net().row(N::INDEX),
        node: cx.node(),
        execution: cx.execution(),
        make_schema: schema_of::<N::Output>,
        // What the schema allows but serde refuses is corrected by the agent too, instead of failing afterwards.
        check: deserializes_as::<Answered<N::Output>>,
    };
    let Completion { output, session, usage, corrections, nudges, lost, .. } =
        match call.converse(system, prompt, session).await? {
            Ok(completion) => completion,
            Err(error) => return Ok(Err(error)),
        };
    let Answered(output) = deserialize_output(&output).map_err(|violation| OutputMismatch {
        expected: std::any::type_name::<N::Output>(),
        reason: violation.message,
    })?;
    Ok(Ok(Reply { output, session, usage, corrections, nudges, lost }))
}

/// Lets an agent do one turn for a node that is not an [`LLMNode`] but has a prompt and an output: an advisory node or an event
/// node with `prompt` and `output`.
pub(crate) async fn ask<N: LLM>(
    cx: &Cx<'_, N>,
    system: Option<String>,
    prompt: String,
    session: SessionOp,
) -> Result<Reply<N::Output>, NodeError> {
    Ok(converse::<N>(cx, system, prompt, session).await??)
}

fn schema_of<T: AgentOutput>() -> Result<Arc<Schema>, NodeError> {
    Ok(Arc::new(Schema::new(T::schema())?))
}

#[cfg(feature = "askama")]
#[diagnostic::do_not_recommend]
impl<T: askama::Template> Prompt for T {
    fn render(&self) -> Result<String, NodeError> {
        askama::Template::render(self).map_err(Into::into)
    }
}
