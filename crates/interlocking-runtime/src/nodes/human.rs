//! The node kind that asks a person.
//!
//! The run parks on a typed question. The question is recorded, so that the process may end. The answer may come hours later
//! and from another machine, and is checked against the question's schema. The question is asked once, however often the run is
//! resumed.
//!
//! A `timeout` limits the time for the answer. The time counts from when the question was asked, and also passes while no
//! process executes the run. A run that waits in no process times out when it is resumed too late, unless an answer has come.

use crate::context::services::UntypedServices;
use crate::erased::read::read;
use crate::journal::Encoded;
pub use crate::journal::question::OpenQuestion;
use interlocking_core::context::{ContextError, Cx};
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Asks, Stored};
use interlocking_core::kind::Kind;
use interlocking_core::route::Route;
use schemars::JsonSchema;
use std::future::Future;

/// A node that asks a person.
///
/// The run ends where only a person can continue it, and goes on once that person has answered:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::MemoryJournal;
/// use interlocking::runtime::journal::answer::answer;
/// use std::sync::Arc;
///
/// #[derive(Graph)]
/// #[graph(output = bool)]
/// struct Release {
///     #[node(entry, input = String, question = String, answer = bool, goto(exit))]
///     approve: HumanNode<Approve>,
/// }
/// # struct Approve;
/// # impl HumanHandler<release::approve> for Approve {
/// #     async fn ask(&self, version: &String, _: &mut Cx<'_, release::approve>) -> Result<String, NodeError> {
/// #         Ok(format!("Is {version} to go out?"))
/// #     }
/// #     async fn answered(&self, _: String, yes: bool, cx: &mut Cx<'_, release::approve>) -> Route<release::approve> {
/// #         goto!(cx, release::exit, yes)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let journal = Arc::new(MemoryJournal::new());
/// let run = || Run::new(Release { approve: HumanNode(Approve) }).with_journal(journal.clone());
///
/// let waiting = run().start("1.4.0".to_owned()).await?;
/// let Outcome::Waiting { questions } = waiting.outcome else { return Err("nobody was asked".into()) };
/// assert_eq!(questions[0].question, "Is 1.4.0 to go out?");
///
/// answer(&*journal, &questions[0].run, &questions[0].by, &true.into()).await?;
/// assert_eq!(run().resume().await?.outcome.finished(), Some(true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HumanNode<H>(pub H);

/// The handler of a [`HumanNode`].
///
/// A purchase that a person approves, or not:
///
/// ```
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = Option<u32>)]
/// struct Purchase {
///     #[node(entry, input = u32, question = String, answer = bool, goto(exit))]
///     approve: HumanNode<Approve>,
/// }
///
/// struct Approve;
/// impl HumanHandler<purchase::approve> for Approve {
///     async fn ask(&self, dollars: &u32, _: &mut Cx<'_, purchase::approve>) -> Result<String, NodeError> {
///         Ok(format!("A desk for ${dollars}?"))
///     }
///     async fn answered(&self, dollars: u32, yes: bool, cx: &mut Cx<'_, purchase::approve>) -> Route<purchase::approve> {
///         goto!(cx, purchase::exit, yes.then_some(dollars))
///     }
/// }
/// # use interlocking::graph::Graph;
/// # assert!(Purchase::net().table().node("approve").is_some());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle human node `{N}`",
    label = "missing `impl HumanHandler<{N}> for {Self}`"
)]
pub trait HumanHandler<N: Asks>: Send + Sync {
    /// Makes the question.
    fn ask(&self, input: &N::Input, cx: &mut Cx<'_, N>) -> impl Future<Output = Result<N::Question, NodeError>> + Send;

    /// Takes the answer, and says where to go next. The input comes back as `ask` saw it.
    fn answered(&self, input: N::Input, answer: N::Answer, cx: &mut Cx<'_, N>)
    -> impl Future<Output = Route<N>> + Send;
}

/// What a person answers: data with a JSON schema. Implemented for every type that has one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a person's answer",
    label = "its answer, `{Self}`, needs `JsonSchema`",
    note = "derive it: `#[derive(schemars::JsonSchema)]`"
)]
pub trait PersonAnswer: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> PersonAnswer for T {}

impl<N, H> Kind<N> for HumanNode<H>
where
    N: Asks,
    N::Answer: PersonAnswer,
    H: HumanHandler<N>,
{
    async fn run(&self, input: N::Input, cx: &mut Cx<'_, N>) -> Route<N> {
        let untyped = UntypedServices::of(cx)?;
        let record_writer = untyped.record_writer.clone();
        let record_writer = record_writer.ok_or_else(|| ContextError::NowhereToAsk { node: cx.node().to_owned() })?;
        let execution = cx.execution();
        let by = untyped.by(execution);
        if untyped.history().question(&by).is_none() {
            let question: Encoded = serde_json::to_string(&Stored(&self.0.ask(&input, cx).await?))?.into();
            let schema: Encoded = schemars::schema_for!(N::Answer).to_value().to_string().into();
            untyped.ask(&record_writer, execution, &by, [question, schema]).await?;
        }
        let answer = untyped.answer(execution, &by).await;
        let Stored(answer) = read(&answer)?;
        self.0.answered(input, answer, cx).await
    }
}
