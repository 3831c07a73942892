//! What a service says of its runs: which it executes, their events, and how they ended.

use crate::event::Events;
use crate::journal::ending;
use crate::run::outcome::{Outcome, Report};
use crate::run::{Run, StartError};
use crate::service::{Service, ServiceError};
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;

impl Service {
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
}
