//! Runs: their settings, start, resume and retry.

pub(crate) mod executed;
pub(crate) mod release;
pub(crate) mod start_error;
pub(crate) mod report;
pub(crate) mod start;
pub(crate) mod claims;
pub(crate) mod execute;
pub mod outcome;
pub(crate) mod prepare;
pub(crate) mod prior_usage;
mod reader;
pub(crate) mod resume;
pub(crate) mod recursion_rule;
pub(crate) mod section_rules;
mod set_up;
pub(crate) mod settings;
pub(crate) mod table_change;

#[doc(hidden)]
pub use crate::run::claims::claim_ended;
use crate::run::outcome::Report;
use crate::run::prepare::Begin;
pub use crate::run::section_rules::UnfitSection;
#[doc(hidden)]
pub use crate::run::settings::Injected;
use crate::run::settings::Settings;
pub use crate::run::start_error::StartError;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use std::fmt;
use std::sync::Arc;

/// A run of a graph, to be started, resumed or retried.
///
/// It needs only the graph, and an agent for every role that the graph's table names.
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::Budgets;
/// use std::time::Duration;
///
/// #[derive(Graph, Default)]
/// #[graph(output = u32)]
/// struct Doubling {
///     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
///     double: LogicNode<Double>,
/// }
///
/// #[derive(Default)]
/// struct Double;
/// impl LogicHandler<doubling::double> for Double {
///     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
///         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let run = Run::new(Doubling::default())
///         .with_id(RunId::new("first")?)
///         .with_budgets(Budgets::unlimited().with_wall_time(Duration::from_secs(60)));
///     match run.start(30).await?.outcome {
///         Outcome::Finished(number) => assert_eq!(number, 120),
///         Outcome::Failed(failure) => return Err(failure.to_string().into()),
///         other => return Err(format!("it is {}", other.name()).into()),
///     }
///     Ok(())
/// }
/// ```
pub struct Run<G: Graph> {
    graph: Arc<G>,
    settings: Settings,
}

impl<G: Graph> Run<G> {
    /// A run of `graph` with a journal in memory, and no agents, workspaces or observers.
    pub fn new(graph: G) -> Self {
        Self::from_arc(Arc::new(graph))
    }

    /// Like [`new`](Self::new), for a graph that several runs share.
    pub fn from_arc(graph: Arc<G>) -> Self {
        Self { graph, settings: Settings::new(RunId::DEFAULT) }
    }

    /// Runs the graph from `entry` to its end.
    ///
    /// Dropping the future stops the run where it is: its nodes are dropped, and agents kill the programs that they started.
    /// With a journal that outlives the process, the run can then be [resumed](Self::resume).
    ///
    /// # Errors
    ///
    /// [`StartError`] where the run lacks something that the table names, or the journal has a run of that name. Nothing was done
    /// then. Later failures are in the report's [`Outcome`](crate::Outcome).
    pub fn start(self, entry: G::Entry) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        start::start(self.graph, self.settings, entry)
    }

    /// Resumes a run where its records end: after a crash, a suspension, or a person's answer.
    ///
    /// Finished node executions are not repeated. Interrupted ones are, with their agents' sessions continued and their
    /// workspaces reset to the last recorded commits. If the run has ended, this returns its outcome and does nothing.
    ///
    /// If the run was dropped in this process a moment ago, this first waits until its pending writes are recorded. It also waits
    /// for child runs that have ended and whose late work goes on for an [addendum](Self::with_report_deadline), as the calls of
    /// that work count.
    ///
    /// Before it starts anything, this looks for programs that a killed executor has left on this system, and
    /// [ends](interlocking_agents::program::end_abandoned) them, unless the journal belongs to this process alone.
    ///
    /// ```
    /// use interlocking::prelude::*;
    /// use interlocking::runtime::{Budgets, MemoryJournal};
    /// use std::sync::Arc;
    ///
    /// # #[derive(Graph, Default)]
    /// # #[graph(output = u32)]
    /// # struct Doubling {
    /// #     #[node(entry, input = u32, goto(double, exit), attempts = 5)]
    /// #     double: LogicNode<Double>,
    /// # }
    /// # #[derive(Default)]
    /// # struct Double;
    /// # impl LogicHandler<doubling::double> for Double {
    /// #     async fn run(&self, number: u32, cx: &mut Cx<'_, doubling::double>) -> Route<doubling::double> {
    /// #         if number < 100 { goto!(cx, self, number * 2) } else { goto!(cx, doubling::exit, number) }
    /// #     }
    /// # }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // In a program that outlives its process, a `SqliteJournal` with feature `sqlite`.
    /// let journal = Arc::new(MemoryJournal::new());
    /// let run = || Run::new(Doubling::default()).with_id(RunId::DEFAULT).with_journal(journal.clone());
    ///
    /// assert_eq!(run().start(30).await?.outcome.finished(), Some(120));
    /// // It has ended: the same again, and nothing is done.
    /// assert_eq!(run().resume().await?.outcome.finished(), Some(120));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError`] where there is no such run, another executor has it, programs that a killed executor left cannot be ended,
    /// the graph's table differs from the one that the run was started with, or the records cannot be read. Nothing was done
    /// then.
    pub fn resume(self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        Box::pin(execute::execute(self.graph, Box::new(self.settings), Begin::Again))
    }

    /// Resumes a failed run where it failed, once the cause of the failure is removed.
    ///
    /// The run continues like a run that was interrupted there and is [resumed](Self::resume): the failed node starts again, as
    /// the same visit and attempt, and so do the executions that were under way at that time. The agents' sessions of these nodes
    /// continue, and [effects](crate::RunContext::once) that were done are not repeated. What was used up before counts. An
    /// earlier request to cancel the run is void.
    ///
    /// If a map node failed, its children that had failed continue where they failed, and children that ended with the run
    /// continue where they were. Children that a user cancelled stay cancelled.
    ///
    /// This waits for late work of the run and its child runs that still goes on in this process.
    ///
    /// A retry may fail like any run, and be retried.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume), and [`StartError::NotFailed`] where the run has not failed.
    pub fn retry(self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        Box::pin(execute::execute(self.graph, Box::new(self.settings), Begin::Retry))
    }
}

impl<G: Graph> fmt::Debug for Run<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let graph = &G::net().table().graph;
        f.debug_struct("Run")
            .field("graph", graph)
            .field("id", &self.settings.run)
            .field("roles", &self.settings.options().roles)
            .finish()
    }
}
