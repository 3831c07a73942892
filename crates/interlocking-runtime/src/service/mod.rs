//! A service: many runs in one process.
//!
//! ```text
//! let service = Service::new(journal).with_limits(SharedLimits::new(Some(16)));
//! service.resume_unfinished(|_| Run::new(graph())).await?;             // what the process before this one left
//! service.start(&"order-4711".parse()?, Run::new(graph()), order).await?;      // once, however often it is asked for
//! let events = service.events(&run);                                   // a `Stream`
//! service.drain(Duration::from_secs(20)).await;                        // the next process takes the rest up
//! ```
//!
//! `examples/service` of the repository is a service behind HTTP.

mod active;
mod error;
mod handover;
mod same_run;
mod watch;

pub use self::error::ServiceError;
pub use self::handover::Unfinished;

use self::active::{Active, Entered, Place};
use crate::cancel::CancelToken;
use crate::journal::answer::{AnswerError, answer};
use crate::journal::stop::{Stop, stop};
use crate::journal::{By, Journal, JournalError, ending};
use crate::limits::shared::SharedLimits;
use crate::run::outcome::Report;
use crate::run::{Run, StartError};
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

/// Executes runs in one process, each on its own task, recorded in one journal, within limits that all of them share.
///
/// Each run has its own budgets, from [`Run::with_budgets`]. A run that asks a person waits in the process, and continues as soon
/// as the question is [answered](Self::answer). A clone is the same service.
///
/// Starting is idempotent: a run may be started by its name any number of times, and is executed once:
///
/// ```
/// use interlocking::prelude::*;
/// use interlocking::runtime::MemoryJournal;
/// use interlocking::runtime::service::{Service, Started};
/// use std::sync::Arc;
/// use std::time::Duration;
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
/// let service = Service::new(Arc::new(MemoryJournal::new()));
/// let run = || Run::new(Doubling::default());
/// // What the process before this one left.
/// service.resume_unfinished(|_| run()).await?;
///
/// let order: RunId = "order-4711".parse()?;
/// assert_eq!(service.start(&order, run(), 30).await?, Started::New);
/// service.ended(&order).await;
/// assert_eq!(service.start(&order, run(), 30).await?, Started::Ended("finished"));
///
/// let report = service.report(&order, run()).await?.ok_or("it has ended")?;
/// assert_eq!(report.outcome.finished(), Some(120));
/// // What is under way now is the next process's.
/// service.drain(Duration::from_secs(20)).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Service {
    journal: Arc<dyn Journal>,
    limits: SharedLimits,
    active: Arc<Active>,
    stop: CancelToken,
}

/// The result of [`Service::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Started {
    /// The run is new, and has begun.
    New,
    /// The run existed and was not being executed. It continues.
    Resumed,
    /// The run is already being executed in this process.
    Running,
    /// The run had ended: `finished`, `failed` or `cancelled`. Nothing was done.
    Ended(&'static str),
}

impl Service {
    /// A service whose runs are recorded in `journal`. Without [`with_limits`](Self::with_limits), there is no common limit on
    /// their agent calls.
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal, limits: SharedLimits::new(None), active: Arc::default(), stop: CancelToken::new() }
    }

    /// Sets the limits that the runs of this service share. Other services may share them, too. A run that was given an
    /// [allowance](Run::with_allowance) keeps the limits of that allowance, so create it [within](crate::Allowance::within) these
    /// limits.
    ///
    /// ```
    /// use interlocking::runtime::service::Service;
    /// use interlocking::runtime::{MemoryJournal, SharedLimits};
    /// use std::sync::Arc;
    ///
    /// let sixteen_at_once = SharedLimits::new(Some(16));
    /// let orders = Service::new(Arc::new(MemoryJournal::new())).with_limits(sixteen_at_once.clone());
    /// let letters = Service::new(Arc::new(MemoryJournal::new())).with_limits(sixteen_at_once);
    /// # assert!(orders.runs().is_empty() && letters.runs().is_empty());
    /// ```
    #[must_use]
    pub fn with_limits(mut self, limits: SharedLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The journal. Functions that take it, such as [`account`](crate::journal::account::account), tell an operator about runs,
    /// whichever process executes them.
    ///
    /// ```
    /// use interlocking::runtime::MemoryJournal;
    /// use interlocking::runtime::service::Service;
    /// use std::sync::Arc;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::new(Arc::new(MemoryJournal::new()));
    /// // Of all runs, those of the processes before this one too.
    /// for run in service.journal().runs().await? {
    ///     println!("{} of {}", run.run, run.graph);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.journal
    }

    /// Executes the run called `id`: starts it, or resumes it where its records end, and returns when it has begun. Repeating the
    /// call, at once or after a crash, changes nothing.
    ///
    /// The service replaces the name, the journal and the cancellation of `run` by its own, and its limits, unless it shares an
    /// allowance.
    ///
    /// A name identifies one run and its entry value. Entry values are compared as JSON: the members of an object may stand in
    /// any order, the elements of an array may not. So an entry value with a set needs one that is ordered, such as a
    /// [`BTreeSet`](std::collections::BTreeSet): a [`HashSet`](std::collections::HashSet) is serialized in another order each
    /// time.
    ///
    /// ```
    /// use interlocking::runtime::service::{Service, ServiceError, Started};
    /// use interlocking::runtime::MemoryJournal;
    /// use std::sync::Arc;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::new(Arc::new(MemoryJournal::new()));
    /// let run = || Run::new(Release::default());
    /// let name: RunId = "release-1-4-0".parse()?;
    ///
    /// assert_eq!(service.start(&name, run(), "1.4.0".to_owned()).await?, Started::New);
    /// assert_eq!(service.start(&name, run(), "1.4.0".to_owned()).await?, Started::Running);
    ///
    /// let other = service.start(&name, run(), "1.5.0".to_owned()).await;
    /// assert!(matches!(other, Err(ServiceError::Taken { .. })));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ServiceError::Taken`] where the run with this name is of another graph or has another entry value,
    /// [`ServiceError::Draining`], and the errors of [`Run::start`] and [`Run::resume`].
    pub async fn start<G: Graph>(&self, id: &RunId, run: Run<G>, entry: G::Entry) -> Result<Started, ServiceError> {
        let place = loop {
            match self.active.enter(id) {
                Entered::Now(place) => break Some(place),
                // Waits for its first record, which has the entry value.
                Entered::Before(active_run) if active_run.has_begun().await => break None,
                Entered::Before(_) => {}
                Entered::Draining => return Err(ServiceError::Draining { run: id.clone() }),
            }
        };
        let records = self.journal.load(id).await?;
        if let Some(first) = records.first() {
            self.is_same::<G>(first, &entry).await?;
        }
        match (place, ending(&records)) {
            (None, _) => Ok(Started::Running),
            (Some(_), Some(ended)) => Ok(Started::Ended(ended)),
            (Some(place), None) if records.is_empty() => {
                self.execute(place, run, |run| run.start(entry)).await?;
                Ok(Started::New)
            }
            (Some(place), None) => {
                self.execute(place, run, Run::resume).await?;
                Ok(Started::Resumed)
            }
        }
    }

    /// Sends a person's answer to the question that execution `to` of `run` asks, as
    /// [`journal::answer`](crate::journal::answer::answer) does.
    ///
    /// ```
    /// use interlocking::runtime::journal::answer::open_questions;
    /// use interlocking::runtime::service::Service;
    /// use interlocking::runtime::MemoryJournal;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::new(Arc::new(MemoryJournal::new()));
    /// let name: RunId = "release-1-4-0".parse()?;
    /// service.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    ///
    /// let question = loop {
    ///     match open_questions(&**service.journal(), &name).await?.pop() {
    ///         Some(question) => break question,
    ///         None => tokio::time::sleep(Duration::from_millis(10)).await,
    ///     }
    /// };
    /// assert_eq!(question.question, "Is 1.4.0 to go out?");
    /// service.answer(&name, &question.by, &true.into()).await?;
    ///
    /// service.ended(&name).await;
    /// let report = service.report(&name, Run::new(Release::default())).await?.ok_or("it has ended")?;
    /// assert_eq!(report.outcome.finished(), Some(true));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AnswerError`] where that execution has no open question, was answered, or asked for another type.
    pub async fn answer(&self, run: &RunId, to: &By, given: &Value) -> Result<u64, AnswerError> {
        answer(&*self.journal, run, to, given).await
    }

    /// Cancels a run, whichever process executes it, as [`journal::stop`](crate::journal::stop::stop) does.
    ///
    /// ```
    /// use interlocking::runtime::journal::stop::Stop;
    /// use interlocking::runtime::service::{Service, Started};
    /// use interlocking::runtime::MemoryJournal;
    /// use std::sync::Arc;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::new(Arc::new(MemoryJournal::new()));
    /// let name: RunId = "release-1-4-0".parse()?;
    /// service.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    ///
    /// assert!(matches!(service.cancel(&name).await?, Stop::Asked { .. }), "this service executes it");
    /// service.ended(&name).await;
    /// let again = service.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    /// assert_eq!(again, Started::Ended("cancelled"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`JournalError::NoRun`] where there is no such run.
    pub async fn cancel(&self, run: &RunId) -> Result<Stop, JournalError> {
        stop(&*self.journal, run).await
    }

    /// Executes a run on its own task. Returns when the run has begun, or has been refused.
    async fn execute<G: Graph, F>(
        &self,
        place: Place,
        run: Run<G>,
        begin: impl FnOnce(Run<G>) -> F,
    ) -> Result<(), ServiceError>
    where
        F: Future<Output = Result<Report<G::Output>, StartError>> + Send + 'static,
    {
        let (id, active_run) = (place.run.clone(), place.active_run.clone());
        let run = match run.shares_allowance() {
            true => run,
            false => run.with_shared_limits(&self.limits),
        };
        let run = run
            .with_id(id.clone())
            .with_journal(self.journal.clone())
            .with_cancel(self.stop.child())
            .with_wait_for_people()
            .with_events(active_run.clone());
        let running = begin(run);
        let task = tokio::spawn(async move {
            let refused = match running.await {
                Ok(report) => {
                    place.active_run.set_outcome(report.outcome.map(drop));
                    None
                }
                Err(error) => Some(error),
            };
            drop(place);
            refused
        });
        tokio::select! {
            biased;
            true = active_run.has_begun() => Ok(()),
            ended = task => match ended {
                Ok(None) => Ok(()),
                Ok(Some(refused)) => Err(refused.into()),
                Err(panic) => Err(ServiceError::Panicked { run: id, message: panic.to_string() }),
            },
        }
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("runs", &self.runs()).field("limits", &self.limits).finish_non_exhaustive()
    }
}
