//! A run that a program has made ready, and what the program keeps for it.

use crate::ending::Ending;
use crate::error::CommandError;
use crate::local::Local;
use interlocking_core::graph::Graph;
use interlocking_runtime::{Report, Run};
use std::fmt;
use std::future::Future;

/// What a program keeps for one run from where it sets it up to where this process has executed it, such as directories that it has
/// made. One of the two is called, once.
pub trait RunSession<G: Graph>: Sized + 'static {
    /// Does what is to be done when this process has executed the run, to its end or as far as it goes, and says what came of it.
    ///
    /// # Errors
    ///
    /// [`CommandError`], with which the program ends: where it has no exit of its own, with [`Exit::Failed`](crate::Exit::Failed).
    fn conclude(self, report: Report<G::Output>) -> impl Future<Output = Result<Ending, CommandError>>;

    /// Does what is to be done where the run does not start, or cannot be resumed.
    ///
    /// # Errors
    ///
    /// [`CommandError`], which is told beside why the run does not start.
    fn abandon(self) -> impl Future<Output = Result<(), CommandError>> {
        std::future::ready(Ok(()))
    }
}

/// A run that a program has made ready. A program that keeps nothing for it gives the [`Run`] itself.
pub struct Prepared<G: Graph> {
    pub(crate) run: Run<G>,
    pub(crate) finish: Finish<G>,
}

/// Concludes a run that was executed, or abandons one that was not; an ending is of the first.
pub(crate) type Finish<G> = Box<dyn FnOnce(Option<Report<<G as Graph>::Output>>) -> Local<Option<Ending>>>;

impl<G: Graph> Prepared<G> {
    /// A run, and what the program keeps for it.
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
