//! Many runs in one process: a service.
//!
//! ```text
//! let service = Service::new(journal).with_limits(SharedLimits::new(Some(16)));
//! service.resume_unfinished(|_| Run::new(graph())).await?;             // what the process before this one left
//! service.start(&"order-4711".parse()?, Run::new(graph()), order).await?;      // once, however often it is asked for
//! let events = service.events(&run);                                   // a `Stream`
//! service.drain(Duration::from_secs(20)).await;                        // the next process takes the rest up
//! ```
//!
//! `examples/service` of the repository is one behind HTTP.

mod active;
mod error;

pub use self::error::ServiceError;

use self::active::{Active, Entered, Place};
use crate::cancel::CancelToken;
use crate::event::Events;
use crate::journal::answer::{AnswerError, answer};
use crate::journal::stop::{Stop, stop};
use crate::journal::{By, Entry, Journal, JournalError, Origin, Record, RecordedPayload, ending};
use crate::limits::shared::SharedLimits;
use crate::run::outcome::Report;
use crate::run::{Run, StartError};
use interlocking_core::graph::{Graph, Stored};
use interlocking_core::run_id::RunId;
use serde_json::Value;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Runs that one process executes, each on a task of its own, recorded in one journal, within limits that all of them share.
///
/// A run has budgets of its own, as [`Run::with_budgets`] says. One that asks a person stays in the process, and goes on as soon as
/// it is [answered](Self::answer). A clone is the same service.
///
/// A run is started by name, as often as anybody likes, and done once:
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

/// What came of [`Service::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// There was no such run, and now it is under way.
    New,
    /// There was one that nobody executed, and it goes on.
    Resumed,
    /// It is under way already, in this process.
    Running,
    /// It had ended: `finished`, `failed` or `cancelled`. Nothing was done.
    Ended(&'static str),
}

/// What came of [`Service::resume_unfinished`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The runs that go on.
    pub resumed: Vec<RunId>,
    /// Those that do not, each with the reason: another process may execute it.
    pub refused: Vec<(RunId, ServiceError)>,
}

impl Service {
    /// A service whose runs are recorded in `journal`. Their calls of agents are not limited together unless
    /// [said](Self::with_limits).
    pub fn new(journal: Arc<dyn Journal>) -> Self {
        Self { journal, limits: SharedLimits::new(None), active: Arc::default(), stop: CancelToken::new() }
    }

    /// The same within these limits, which other services may share.
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

    /// The journal: what an operator may ask of runs, whoever executes them, are functions on it, such as
    /// [`account`](crate::journal::account::account).
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

    /// Has the run called `id` executed: starts it, or takes it up where it stands, and returns when it is under way. Whoever asks for
    /// the same once more, at once or after a crash, changes nothing.
    ///
    /// What `run` says of its name, its journal and its cancellation is replaced by the service's.
    ///
    /// A name stands for one run and its entry value:
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
    /// [`ServiceError::Taken`] where there is such a run of another graph or with another entry value,
    /// [`ServiceError::Draining`], and what [`Run::start`] and [`Run::resume`] refuse.
    pub async fn start<G: Graph>(&self, id: &RunId, run: Run<G>, entry: G::Entry) -> Result<Started, ServiceError> {
        let place = loop {
            match self.active.enter(id) {
                Entered::Now(place) => break Some(place),
                // Before that, nobody knows with which entry value it begins.
                Entered::Before(told) if told.has_begun().await => break None,
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

    /// Takes up all runs of graph `G` that have not ended and that nobody executes, each as `run` makes it: what a process does when it
    /// starts. Child runs go on with their parents.
    ///
    /// A run waits for a person while one process goes and the next one comes:
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
    /// The journal's. That a single run is not taken up is told in [`Unfinished::refused`].
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

    /// What happens from now on in a run that is executed here, and in its child runs; `None` if it is not. The stream ends when the
    /// run is no longer executed here.
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

    /// The runs that are executed here, in the order of their names.
    pub fn runs(&self) -> Vec<RunId> {
        self.active.runs()
    }

    /// Waits until `run` is not executed here: it has ended, or has stopped where it stands.
    pub async fn ended(&self, run: &RunId) {
        self.active.gone(Some(run)).await;
    }

    /// What a run has come to, whoever has executed it, as [`Run::resume`] tells again of `run`, which is made as for that; `None` if it
    /// has not ended.
    ///
    /// A service that executes nothing reads what another has executed:
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
    /// [`StartError::NoRun`] where there is none, and what [`Run::resume`] refuses.
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
    /// [`AnswerError`] where that execution asks nothing, was answered, or asked for another type.
    pub async fn answer(&self, run: &RunId, to: &By, given: &Value) -> Result<u64, AnswerError> {
        answer(&*self.journal, run, to, given).await
    }

    /// Ends a run for good, whoever executes it, as [`journal::stop`](crate::journal::stop::stop) does.
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

    /// Takes no more runs, lets those that are under way end for so long, and then suspends the rest, those that wait for people among
    /// them: they are taken up by [`resume_unfinished`](Self::resume_unfinished) of the next process. Returns when none is executed here.
    pub async fn drain(&self, patience: Duration) {
        self.active.close();
        if tokio::time::timeout(patience, self.active.gone(None)).await.is_err() {
            self.stop.suspend();
            self.active.gone(None).await;
        }
    }

    /// Executes a run on a task of its own; returns when it is under way, or has been refused.
    async fn execute<G: Graph, F>(
        &self,
        place: Place,
        run: Run<G>,
        begin: impl FnOnce(Run<G>) -> F,
    ) -> Result<(), ServiceError>
    where
        F: Future<Output = Result<Report<G::Output>, StartError>> + Send + 'static,
    {
        let (id, told) = (place.run.clone(), place.told.clone());
        let run = run
            .with_id(id.clone())
            .with_journal(self.journal.clone())
            .with_shared_limits(&self.limits)
            .with_cancel(self.stop.child())
            .with_wait_for_people()
            .with_events(told.clone());
        let going = begin(run);
        let task = tokio::spawn(async move {
            let refused = going.await.err();
            drop(place);
            refused
        });
        tokio::select! {
            biased;
            true = told.has_begun() => Ok(()),
            ended = task => match ended {
                Ok(None) => Ok(()),
                Ok(Some(refused)) => Err(refused.into()),
                Err(panic) => Err(ServiceError::Panicked { run: id, message: panic.to_string() }),
            },
        }
    }

    /// Whether a run that begins with this record is the one of graph `G` with that entry value.
    async fn is_same<G: Graph>(&self, first: &Record, entry: &G::Entry) -> Result<(), ServiceError> {
        let Entry::Started { table, input, .. } = &first.entry else { return Ok(()) };
        let taken = |what| Err(ServiceError::Taken { run: first.run.clone(), what });
        if table.graph != G::net().table().graph {
            return taken("of another graph");
        }
        let given = serde_json::to_value(Stored(entry));
        let given = given.map_err(|error| JournalError::Encoding {
            what: format!("the entry value of run `{}`", first.run),
            reason: error.to_string(),
        })?;
        match self.entry_value(&first.run, input).await? == given {
            true => Ok(()),
            false => taken("with another entry value"),
        }
    }

    /// The recorded entry value.
    async fn entry_value(&self, run: &RunId, payload: &RecordedPayload) -> Result<Value, JournalError> {
        let what = || format!("the entry value of run `{run}`");
        let text = match payload {
            RecordedPayload::Json(text) => text.clone(),
            RecordedPayload::Stored(digest) => match self.journal.fetch(run, &[*digest]).await?.pop() {
                Some(text) => text,
                None => {
                    let place = "the journal".to_owned();
                    return Err(JournalError::PayloadMissing { place, digest: *digest, what: what() });
                }
            },
        };
        serde_json::from_str(&text).map_err(|error| JournalError::Encoding { what: what(), reason: error.to_string() })
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("runs", &self.runs()).field("limits", &self.limits).finish_non_exhaustive()
    }
}
