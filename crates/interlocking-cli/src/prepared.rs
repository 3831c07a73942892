//! A run that a program has set up, and the state that the program keeps for it.

use crate::ending::Ending;
use crate::error::CommandError;
use crate::local::Local;
use interlocking_core::graph::Graph;
use interlocking_runtime::{Report, Run};
use std::fmt;
use std::future::Future;

/// The state that a program keeps for one run, from its set-up until this process has executed it, such as directories that the
/// program has made. Exactly one of the two methods is called, once.
pub trait RunSession<G: Graph>: Sized + 'static {
    /// Called when this process has executed the run, to its end or until it stopped. Returns what the program prints, and its
    /// exit code.
    ///
    /// # Errors
    ///
    /// [`CommandError`], which the program prints. The program exits with the error's exit code, or with
    /// [`Exit::Failed`](crate::Exit::Failed) if that is [`Exit::Usage`](crate::Exit::Usage).
    fn conclude(self, report: Report<G::Output>) -> impl Future<Output = Result<Ending, CommandError>>;

    /// Called if the run does not start or cannot be resumed.
    ///
    /// # Errors
    ///
    /// [`CommandError`], which is printed in addition to the reason why the run does not start.
    fn abandon(self) -> impl Future<Output = Result<(), CommandError>> {
        std::future::ready(Ok(()))
    }
}

/// A run that a program has set up. A program that keeps no state for its run returns the [`Run`] itself.
pub struct Prepared<G: Graph> {
    pub(crate) run: Run<G>,
    pub(crate) finish: Finish<G>,
}

/// Concludes an executed run and returns its ending, or, without a report, abandons a run that did not start and returns `None`.
pub(crate) type Finish<G> = Box<dyn FnOnce(Option<Report<<G as Graph>::Output>>) -> Local<Option<Ending>>>;

impl<G: Graph> Prepared<G> {
    /// A run, and the state that the program keeps for it.
    pub fn new(run: Run<G>, session: impl RunSession<G>) -> Self {
        let finish: Finish<G> = Box::new(|report| {
            Box::pin(async {
                match report {
                    Some(report) => session.conclude(report).await.map(Some),
                    None => session.abandon().await.map(|()| None),
                }
            })
        });
        Self { run, finish }
    }
}

impl<G: Graph> From<Run<G>> for Prepared<G> {
    fn from(run: Run<G>) -> Self {
        struct Nothing;
        impl<G: Graph> RunSession<G> for Nothing {
            async fn conclude(self, report: Report<G::Output>) -> Result<Ending, CommandError> {
                Ok(Ending::of(&report)?)
            }
        }
        Self::new(run, Nothing)
    }
}

impl<G: Graph> fmt::Debug for Prepared<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}
