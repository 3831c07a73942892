//! The node kind that sees what other nodes do, and reports at the exit.
//!
//! An observer sees the outcomes of the nodes in `observes(…)` in the order in which they were accepted, one at a time,
//! and folds them into its report. It never steers: its failure, or its panic, changes nothing but its report (HY-68).
//!
//! What it has seen is not recorded again: a resumed run shows it the recorded outcomes from the first one on, so a report
//! should depend on nothing else.
//!
//! ```
//! use interlocking::graph::ReportsOf;
//! use interlocking::prelude::*;
//!
//! #[derive(Graph)]
//! #[graph(output = String)]
//! struct Newsroom {
//!     #[node(entry, input = String, goto(exit))]
//!     write: LogicNode<Write>,
//!     #[node(observes(write), report = u32, reports_to(exit))]
//!     witness: ObserverNode<Witness>,
//! }
//!
//! struct Write;
//! impl LogicHandler<newsroom::write> for Write {
//!     async fn run(&self, text: String, cx: &mut Cx<'_, newsroom::write>) -> Route<newsroom::write> {
//!         goto!(cx, newsroom::exit, text)
//!     }
//! }
//!
//! struct Witness;
//! impl ObserverHandler<newsroom::witness> for Witness {
//!     async fn observe(&self, seen: &Observation, words: &mut u32) -> Result<(), NodeError> {
//!         let text: Option<String> = seen.sent("exit")?;
//!         *words += u32::try_from(text.unwrap_or_default().split(' ').count())?;
//!         Ok(())
//!     }
//! }
//!
//! /// Makes the run's output of what came to the exit and of what was reported.
//! impl Finish for Newsroom {
//!     async fn finish(&self, text: String, reports: ReportsOf<Self>) -> Result<String, NodeError> {
//!         let words: u32 = reports.witness.into_iter().filter_map(|report| report.result.ok()).sum();
//!         Ok(format!("{text} ({words} words)"))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let newsroom = Newsroom { write: LogicNode(Write), witness: ObserverNode(Witness) };
//! let report = Run::new(newsroom).start("all clear".to_owned()).await?;
//! assert_eq!(report.outcome.finished().as_deref(), Some("all clear (2 words)"));
//! # Ok(())
//! # }
//! ```

use crate::journal::NodeOutcome;
use interlocking_core::context::Cx;
use interlocking_core::failure::NodeError;
use interlocking_core::graph::{Memory, Remembers, Reports};
use interlocking_core::kind::Kind;
use interlocking_core::route::{Goto, Route};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::future::Future;

/// A node that sees what others do.
#[derive(Clone, Copy, Debug, Default)]
pub struct ObserverNode<H>(pub H);

/// What an observer sees of an observed node: an outcome that was accepted, with its payloads. Of an advisory node it is what
/// that reported, as what came to `exit`; of one that failed, or that is late, it sees nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation(pub NodeOutcome);

/// The handler of an [`ObserverNode`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle observer `{N}`",
    label = "missing `impl ObserverHandler<{N}> for {Self}`"
)]
pub trait ObserverHandler<N: Reports>: Send + Sync {
    /// Takes one observation into the report.
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

    /// What it sent to the place called `place`, if it sent anything there.
    ///
    /// # Errors
    ///
    /// Where that is no `T`.
    pub fn sent<T: DeserializeOwned>(&self, place: &str) -> Result<Option<T>, NodeError> {
        let token = self.0.tokens.iter().find(|token| token.place == place);
        let json = token.and_then(|token| token.payload.json());
        Ok(json.map(|json| serde_json::from_str(json)).transpose()?)
    }
}
