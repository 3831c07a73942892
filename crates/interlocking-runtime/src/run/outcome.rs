//! The outcome and the report of a run.

use crate::clock::Elapsed;
use crate::erased::graph_type::{AnyValue, typed};
use crate::journal::JournalError;
use crate::journal::question::OpenQuestion;
use crate::limits::allowance::Stopped;
use crate::limits::budget::BudgetExceeded;
use crate::limits::provider::ProviderLimit;
use interlocking_agents::{Ledger, Usage};
use interlocking_core::failure::Failure;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};

/// How a run ended or stopped.
///
/// A run has finished only when it has reached its exit and has nothing left to do.
///
/// Only `Finished`, `Failed` and `Cancelled` are the end of a run. After any other outcome it can be resumed.
///
/// ```
/// use interlocking::prelude::*;
///
/// /// What an operator may do about a run.
/// fn advice<O>(outcome: &Outcome<O>) -> &'static str {
///     match outcome {
///         Outcome::Finished(_) | Outcome::Cancelled => "nothing",
///         Outcome::Failed(_) => "put right what made it fail, and retry it",
///         Outcome::Waiting { .. } => "answer its questions, and resume it",
///         Outcome::BudgetExhausted(_) => "resume it with a larger budget",
///         _ => "resume it",
///     }
/// }
///
/// assert_eq!(advice(&Outcome::Finished(7)), "nothing");
/// assert_eq!(advice(&Outcome::<()>::Suspended), "resume it");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", content = "value", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome<O> {
    /// The run reached its exit.
    Finished(O),
    /// A node failed, and its table has no route for that.
    Failed(Failure),
    /// The run was stopped from outside.
    Cancelled,
    /// The run was [suspended](crate::CancelToken::suspend) from outside: it can be resumed.
    Suspended,
    /// Every live token of the run waits for a person, and no message between runs of its tree is on its way. Once a person has
    /// answered, the run can be resumed.
    Waiting {
        /// The open questions, those of child runs included.
        questions: Vec<OpenQuestion>,
    },
    /// A budget is used up. The run can be resumed with a larger one.
    BudgetExhausted(BudgetExceeded),
    /// The journal of a run of the tree failed: it is full, cannot be reached, or cannot be read. All runs of the tree stopped
    /// where they were, and no node failed because of the error. No record is lost: once the journal works again, the run can be
    /// resumed, and what was not recorded is done again.
    JournalFailed(JournalError),
    /// A provider kept failing for longer than the run's [backoff](crate::Backoff) allows. The run can be resumed later.
    ProviderLimited(ProviderLimit),
}

/// The outcome of a run, and what it used.
///
/// What a program may print at the end of a run:
///
/// ```
/// use interlocking::prelude::*;
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
/// let report = Run::new(Doubling::default()).start(30).await?;
/// let usage = report.ledger.total();
/// println!("{} is {} after {:?}: {} tokens", report.run, report.outcome.name(), report.took, usage.output_tokens);
///
/// assert_eq!(report.visits, [("double", 1)], "three attempts of one visit");
/// assert_eq!(report.outcome.finished(), Some(120));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<O> {
    /// The run.
    pub run: RunId,
    /// How it ended.
    pub outcome: Outcome<O>,
    /// Every agent call of the run and of its child runs, in the order in which they ended. This includes calls of failed and
    /// cancelled nodes, and of turns that were killed with an earlier process, whose cost is unknown. Calls of earlier processes
    /// come first, run by run.
    pub ledger: Ledger,
    /// How often each node was entered, in table order; nodes that never ran are left out.
    pub visits: Vec<(&'static str, u32)>,
    /// How long it took.
    pub took: Elapsed,
}

impl<O> Outcome<O> {
    /// `finished`, `failed`, `cancelled`, `suspended`, `waiting`, `budget_exhausted`, `journal_failed` or `provider_limited`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Finished(_) => "finished",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::Waiting { .. } => "waiting",
            Self::BudgetExhausted(_) => "budget_exhausted",
            Self::JournalFailed(_) => "journal_failed",
            Self::ProviderLimited(_) => "provider_limited",
        }
    }

    /// The same outcome with a reference to the output.
    pub fn as_ref(&self) -> Outcome<&O> {
        match self {
            Self::Finished(output) => Outcome::Finished(output),
            Self::Failed(failure) => Outcome::Failed(failure.clone()),
            Self::Cancelled => Outcome::Cancelled,
            Self::Suspended => Outcome::Suspended,
            Self::Waiting { questions } => Outcome::Waiting { questions: questions.clone() },
            Self::BudgetExhausted(used_up) => Outcome::BudgetExhausted(*used_up),
            Self::JournalFailed(error) => Outcome::JournalFailed(error.clone()),
            Self::ProviderLimited(limit) => Outcome::ProviderLimited(limit.clone()),
        }
    }

    /// The same outcome with the output that `make` returns.
    pub fn map<P>(self, make: impl FnOnce(O) -> P) -> Outcome<P> {
        match self {
            Self::Finished(output) => Outcome::Finished(make(output)),
            Self::Failed(failure) => Outcome::Failed(failure),
            Self::Cancelled => Outcome::Cancelled,
            Self::Suspended => Outcome::Suspended,
            Self::Waiting { questions } => Outcome::Waiting { questions },
            Self::BudgetExhausted(used_up) => Outcome::BudgetExhausted(used_up),
            Self::JournalFailed(error) => Outcome::JournalFailed(error),
            Self::ProviderLimited(limit) => Outcome::ProviderLimited(limit),
        }
    }

    /// The output, if the run finished.
    pub fn finished(self) -> Option<O> {
        match self {
            Self::Finished(output) => Some(output),
            _ => None,
        }
    }

    /// The output of a finished run, or the output that the failure of a failed one converts into; otherwise `None`.
    pub fn into_output(self) -> Option<O>
    where
        O: From<Failure>,
    {
        match self {
            Self::Finished(output) => Some(output),
            Self::Failed(failure) => Some(failure.into()),
            _ => None,
        }
    }
}

impl<O> From<Stopped> for Outcome<O> {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Budget(used_up) => Self::BudgetExhausted(used_up),
            Stopped::Provider(limit) => Self::ProviderLimited(limit),
        }
    }
}

impl Report<AnyValue> {
    /// The same report with the output as an `O`.
    pub(crate) fn typed<O: 'static>(self) -> Report<O> {
        let Self { run, outcome, ledger, visits, took } = self;
        Report { run, outcome: outcome.map(typed), ledger, visits, took }
    }
}

impl<O> Report<O> {
    /// What all agent calls used up, those of child runs included.
    pub fn usage(&self) -> Usage {
        self.ledger.total()
    }

    /// How often the node called `name` was entered.
    pub fn visits_of(&self, name: &str) -> u32 {
        self.visits.iter().find(|(node, _)| *node == name).map_or(0, |(_, visits)| *visits)
    }
}
