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

pub use self::error::ServiceError;

use self::active::{Active, Entered, Place};
use crate::cancel::CancelToken;
use crate::event::Events;
use crate::journal::answer::{AnswerError, answer};
use crate::journal::stop::{Stop, stop};
use crate::journal::{By, Encoded, Entry, Journal, JournalError, Origin, Record, RecordedPayload, ending};
use crate::limits::shared::SharedLimits;
use crate::run::claims::wait_for_all_late_work;
use crate::run::outcome::{Outcome, Report};
use crate::run::{Run, StartError};
use interlocking_core::graph::{self, Graph, Stored};
use interlocking_core::run_id::RunId;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

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

/// The result of [`Service::resume_unfinished`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfinished {
    /// The runs that continue.
    pub resumed: Vec<RunId>,
    /// The runs that were not resumed, each with the reason. For example, another process may execute it.
    pub refused: Vec<(RunId, ServiceError)>,
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

    /// Resumes all runs of graph `G` that have not ended and that no process executes. A process calls this when it starts. `run`
    /// makes each run, given its name. Child runs are resumed by their parents.
    ///
    /// In this example, a run waits for a person while one process ends and the next one starts:
    ///
    /// ```
    /// use interlocking::runtime::service::Service;
    /// use interlocking::runtime::MemoryJournal;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let journal = Arc::new(MemoryJournal::new());
    /// let name: RunId = "release-1-4-0".parse()?;
    /// let before = Service::new(journal.clone());
    /// before.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    /// before.drain(Duration::ZERO).await;
    ///
    /// let service = Service::new(journal);
    /// let unfinished = service.resume_unfinished(|_| Run::new(Release::default())).await?;
    /// assert_eq!(unfinished.resumed, [name]);
    /// assert!(unfinished.refused.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Journal::runs`]. If a single run cannot be resumed, its error is in [`Unfinished::refused`].
    pub async fn resume_unfinished<G: Graph>(
        &self,
        run: impl Fn(&RunId) -> Run<G>,
    ) -> Result<Unfinished, JournalError> {
        let graph = &G::net().table().graph;
        let mut unfinished = Unfinished::default();
        for summary in self.journal.runs().await? {
            let is_child = matches!(summary.origin, Some(Origin::Child { .. }));
            if is_child || summary.ended.is_some() || summary.graph != *graph {
                continue;
            }
            let id = summary.run;
            let resumed = match self.active.enter(&id) {
                Entered::Now(place) => self.execute(place, run(&id), Run::resume).await,
                Entered::Before(_) => continue,
                Entered::Draining => Err(ServiceError::Draining { run: id.clone() }),
            };
            match resumed {
                Ok(()) => unfinished.resumed.push(id),
                Err(error) => unfinished.refused.push((id, error)),
            }
        }
        Ok(unfinished)
    }

    /// The events of a run and its child runs from now on; `None` if this service does not execute the run. The stream ends when
    /// the service no longer executes the run. Reports of advisory nodes that come after that are only in the journal.
    ///
    /// ```
    /// use interlocking::runtime::EventKind;
    /// use interlocking::runtime::service::Service;
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
    /// let mut events = service.events(&name).ok_or("it is executed here")?;
    /// service.cancel(&name).await?;
    /// let mut last = None;
    /// while let Some(event) = events.next().await {
    ///     last = Some(event.kind);
    /// }
    /// assert!(matches!(last, Some(EventKind::RunEnded { outcome, .. }) if outcome == "cancelled"));
    /// assert!(service.events(&name).is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self, run: &RunId) -> Option<Events> {
        self.active.events(run)
    }

    /// The runs that this service executes, sorted by name.
    pub fn runs(&self) -> Vec<RunId> {
        self.active.runs()
    }

    /// Waits until this service does not execute `run`, because it has ended or stopped. Returns how, without the output, which
    /// the [report](Self::report) has; `None` if the service did not execute the run when this was called.
    ///
    /// A run that has not ended can be started again, with a larger budget for example. This, and a warning that is logged, is
    /// all that says why it stopped: the journal has only ends.
    ///
    /// ```
    /// use interlocking::runtime::service::{Service, Started};
    /// use interlocking::runtime::{Budgets, MemoryJournal};
    /// use std::sync::Arc;
    /// use std::time::Duration;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Service::new(Arc::new(MemoryJournal::new()));
    /// let name: RunId = "release-1-4-0".parse()?;
    /// let budgets = Budgets::unlimited().with_wall_time(Duration::from_millis(10));
    /// service.start(&name, Run::new(Release::default()).with_budgets(budgets), "1.4.0".to_owned()).await?;
    /// assert!(matches!(service.ended(&name).await, Some(Outcome::BudgetExhausted(_))), "nobody has answered");
    ///
    /// let again = service.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    /// assert_eq!(again, Started::Resumed);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ended(&self, run: &RunId) -> Option<Outcome<()>> {
        self.active.ended(run).await
    }

    /// The report of a run that has ended, whichever process executed it; `None` if it has not ended. The report is that of
    /// [`Run::resume`], so `run` must be set up as for that.
    ///
    /// A service that executes no runs can read the reports of another service's runs:
    ///
    /// ```
    /// use interlocking::runtime::service::Service;
    /// use interlocking::runtime::MemoryJournal;
    /// use std::sync::Arc;
    #[doc = include_str!("example_graph.md")]
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let journal = Arc::new(MemoryJournal::new());
    /// let name: RunId = "release-1-4-0".parse()?;
    /// let service = Service::new(journal.clone());
    /// service.start(&name, Run::new(Release::default()), "1.4.0".to_owned()).await?;
    ///
    /// let reader = Service::new(journal);
    /// assert!(reader.report(&name, Run::new(Release::default())).await?.is_none());
    /// service.cancel(&name).await?;
    /// service.ended(&name).await;
    /// let report = reader.report(&name, Run::new(Release::default())).await?.ok_or("it has ended")?;
    /// assert!(matches!(report.outcome, Outcome::Cancelled));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StartError::NoRun`] where there is no such run, and the errors of [`Run::resume`].
    pub async fn report<G: Graph>(&self, id: &RunId, run: Run<G>) -> Result<Option<Report<G::Output>>, ServiceError> {
        let records = self.journal.load(id).await?;
        if records.is_empty() {
            return Err(StartError::NoRun { run: id.clone() }.into());
        }
        if ending(&records).is_none() {
            return Ok(None);
        }
        Ok(Some(run.with_id(id.clone()).with_journal(self.journal.clone()).resume().await?))
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

    /// Shuts the service down: accepts no more runs, waits up to `patience` for active runs to end, and then suspends the others,
    /// including those that wait for people. The next process continues them with [`resume_unfinished`](Self::resume_unfinished).
    /// Within `patience`, this also waits for advisory nodes that are still at work after their run's end, of any run of this
    /// process with the same journal. Returns when no run is executed any more.
    pub async fn drain(&self, patience: Duration) {
        self.active.close();
        let all_ended = async {
            self.active.all_ended().await;
            wait_for_all_late_work(&*self.journal).await;
        };
        if tokio::time::timeout(patience, all_ended).await.is_err() {
            self.stop.suspend();
            self.active.all_ended().await;
        }
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

    /// Checks that the run with this first record is of graph `G` and has that entry value.
    async fn is_same<G: Graph>(&self, first: &Record, entry: &G::Entry) -> Result<(), ServiceError> {
        let Entry::Started { table, input, .. } = &first.entry else { return Ok(()) };
        let taken = |what| Err(ServiceError::Taken { run: first.run.clone(), what });
        if table.graph != G::net().table().graph {
            return taken("of another graph");
        }
        let recorded = self.entry_value(&first.run, input).await?;
        let is_same = is_recorded(entry, &recorded).map_err(|error| JournalError::Encoding {
            what: format!("the entry value of run `{}`", first.run),
            reason: error.to_string(),
        })?;
        match is_same {
            true => Ok(()),
            false => taken("with another entry value"),
        }
    }

    /// The JSON text of the recorded entry value.
    async fn entry_value(&self, run: &RunId, payload: &RecordedPayload) -> Result<Encoded, JournalError> {
        match payload {
            RecordedPayload::Json(text) => Ok(text.clone()),
            RecordedPayload::Stored(digest) => {
                let text = self.journal.fetch(run, &[*digest]).await?.pop();
                text.ok_or_else(|| JournalError::PayloadMissing {
                    place: "the journal".to_owned(),
                    digest: *digest,
                    what: format!("the entry value of run `{run}`"),
                })
            }
        }
    }
}

/// Whether `recorded` is the JSON text of this entry value.
fn is_recorded<E: graph::Value>(entry: &E, recorded: &str) -> Result<bool, serde_json::Error> {
    let given = serde_json::to_string(&Stored(entry))?;
    if given == recorded {
        return Ok(true);
    }
    // The members of an object may stand in another order. From texts on both sides, as a value that is made of an `f32` directly has
    // other digits.
    let [given, recorded]: [Value; 2] = [serde_json::from_str(&given)?, serde_json::from_str(recorded)?];
    Ok(given == recorded)
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("runs", &self.runs()).field("limits", &self.limits).finish_non_exhaustive()
    }
}
