//! What the process before this one has left, and what this process leaves to the next one.

use crate::journal::{JournalError, Origin};
use crate::run::Run;
use crate::run::claims::wait_for_all_late_work;
use crate::service::active::Entered;
use crate::service::{Service, ServiceError};
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use std::time::Duration;

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
    /// Those of [`Journal::runs`](crate::journal::Journal::runs). If a single run cannot be resumed, its error is in
    /// [`Unfinished::refused`].
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
}
