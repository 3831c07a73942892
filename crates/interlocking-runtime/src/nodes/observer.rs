//! The node kind that sees what other nodes do, and reports at the exit.
//!
//! An observer sees the outcomes of the nodes in `observes(…)` in the order in which they were accepted, one at a time, and
//! folds them into its report. It never steers the run: its failure or its panic changes nothing but its report (HY-68).
//!
//! What it has seen is not recorded again: in a resumed run it is shown the recorded outcomes from the first one on. So a
//! report should depend on nothing else.

use crate::erased::read::read;
use crate::journal::NodeOutcome;
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Memory, Remembers, Reports};
use interlocking_core::kind::Kind;
use interlocking_core::route::{Goto, Route};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::future::Future;

/// A node that sees what other nodes do.
///
/// When it fails, only its report at the exit is missing:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Press {
///     #[node(entry, input = String, goto(exit))]
///     print: LogicNode<Print>,
///     #[node(observes(print), report = u32, reports_to(exit))]
///     critic: ObserverNode<Critic>,
/// }
///
/// struct Critic;
/// impl ObserverHandler<press::critic> for Critic {
///     async fn observe(&self, _: &Observation, _: &mut u32) -> Result<(), NodeError> {
///         Err("speechless".into())
///     }
/// }
///
/// impl Finish for Press {
///     async fn finish(&self, text: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
///         let marks = reports.critic.iter().filter(|report| report.result.is_ok()).count();
///         Ok(format!("{text}, with {marks} marks"))
///     }
/// }
/// # struct Print;
/// # impl LogicHandler<press::print> for Print {
/// #     async fn run(&self, text: String, cx: &mut Cx<'_, press::print>) -> Route<press::print> {
/// #         goto!(cx, press::exit, text)
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let report = Run::new(Press { print: LogicNode(Print), critic: ObserverNode(Critic) }).start("Tides".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("Tides, with 0 marks"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ObserverNode<H>(pub H);

/// What an observer sees of an observed node: an accepted outcome with its payloads. An advisory node's report is seen as a
/// payload that the node sent to `exit`; nothing is seen of an advisory node that failed, or that is late.
///
/// An observer of several nodes asks which node it was, and what that node sent where:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = Vec<String>)]
/// struct Steps {
///     #[node(entry, input = u32, goto(second))]
///     first: LogicNode<First>,
///     #[node(input = u32, goto(exit))]
///     second: LogicNode<Second>,
///     #[node(observes(first, second), report = Vec<String>, reports_to(exit))]
///     scribe: ObserverNode<Scribe>,
/// }
///
/// struct Scribe;
/// impl ObserverHandler<steps::scribe> for Scribe {
///     async fn observe(&self, seen: &Observation, written: &mut Vec<String>) -> Result<(), NodeError> {
///         let number: Option<u32> = seen.sent("second")?;
///         written.push(format!("{} sent {number:?}", seen.node()));
///         Ok(())
///     }
/// }
/// # struct First;
/// # impl LogicHandler<steps::first> for First {
/// #     async fn run(&self, number: u32, cx: &mut Cx<'_, steps::first>) -> Route<steps::first> {
/// #         goto!(cx, steps::second, number + 1)
/// #     }
/// # }
/// # struct Second;
/// # impl LogicHandler<steps::second> for Second {
/// #     async fn run(&self, _: u32, cx: &mut Cx<'_, steps::second>) -> Route<steps::second> {
/// #         goto!(cx, steps::exit, Vec::new())
/// #     }
/// # }
/// # impl Finish for Steps {
/// #     async fn finish(&self, _: Vec<String>, reports: ReportsOf<Self>) -> Result<Vec<String>, NodeError> {
/// #         Ok(reports.scribe.into_iter().filter_map(|report| report.result.ok()).flatten().collect())
/// #     }
/// # }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let steps = Steps { first: LogicNode(First), second: LogicNode(Second), scribe: ObserverNode(Scribe) };
/// let written = Run::new(steps).start(6).await?.outcome.finished().ok_or("it has two steps")?;
/// assert_eq!(written, ["first sent Some(7)", "second sent None"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation(pub NodeOutcome);

/// The handler of an [`ObserverNode`].
///
/// A count of what another node wrote, without that node knowing of it:
///
/// ```
/// use interlocking::graph::ReportsOf;
/// use interlocking::prelude::*;
///
/// #[derive(Graph)]
/// #[graph(output = String)]
/// struct Newsroom {
///     #[node(entry, input = String, goto(exit))]
///     write: LogicNode<Write>,
///     #[node(observes(write), report = u32, reports_to(exit))]
///     witness: ObserverNode<Witness>,
/// }
///
/// struct Write;
/// impl LogicHandler<newsroom::write> for Write {
///     async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
///         goto!(cx, newsroom::exit, text)
///     }
/// }
///
/// struct Witness;
/// impl ObserverHandler<newsroom::witness> for Witness {
///     async fn observe(&self, seen: &Observation, words: &mut u32) -> Result<(), NodeError> {
///         let text: Option<String> = seen.sent("exit")?;
///         *words += u32::try_from(text.unwrap_or_default().split(' ').count())?;
///         Ok(())
///     }
/// }
///
/// /// Makes the run's output of what came to the exit and of what was reported.
/// impl Finish for Newsroom {
///     async fn finish(&self, text: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
///         let words: u32 = reports.witness.into_iter().filter_map(|report| report.result.ok()).sum();
///         Ok(format!("{text} ({words} words)"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let newsroom = Newsroom { write: LogicNode(Write), witness: ObserverNode(Witness) };
/// let report = Run::new(newsroom).start("all clear".to_owned()).await?;
/// assert_eq!(report.outcome.finished().as_deref(), Some("all clear (2 words)"));
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle observer `{N}`",
    label = "missing `impl ObserverHandler<{N}> for {Self}`"
)]
pub trait ObserverHandler<N: Reports>: Send + Sync {
    /// Folds one observation into the report.
    fn observe(&self, seen: &Observation, report: &mut N::Report)
    -> impl Future<Output = Result<(), NodeError>> + Send;
}

impl<N, H> Kind<N> for ObserverNode<H>
where
    N: Reports<Input = Observation> + Remembers<Memory = <N as Reports>::Report>,
    N::Report: Memory,
    H: ObserverHandler<N>,
{
    async fn run(&self, seen: Observation, cx: &mut Cx<'_, N>) -> Route<N> {
        let mut report: N::Report = cx.memory();
        self.0.observe(&seen, &mut report).await?;
        cx.update_memory(move |kept: &mut N::Report| *kept = report.clone());
        Ok(Goto::stay())
    }
}

impl Observation {
    /// The node that was observed.
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// What the node sent to the place called `place`, if it sent anything there.
    ///
    /// # Errors
    ///
    /// An error if the payload is not a `T`.
    pub fn sent<T: DeserializeOwned>(&self, place: &str) -> Result<Option<T>, NodeError> {
        let token = self.0.tokens.iter().find(|token| token.place == place);
        let json = token.and_then(|token| token.payload.json());
        Ok(json.map(|json| read(json)).transpose()?)
    }
}
