//! A run that is one chain of nodes, from its entry on.
//!
//! A program may have many thousands of runs that wait, only go from node to node and [are not
//! recorded](crate::Run::without_journal). Such a run needs no driver: it is a token, the counts of its nodes, and the services
//! that its handlers use, all of it in the future that the caller holds. The first outcome with which a chain cannot continue (a
//! fork, a commit, a node that may not be entered again) is handed to a [`Driver`], which runs the rest.
//!
//! Exists for the rows "bytes of a parked run" and "ten thousand runs" of `docs/book/src/performance.md`.

use crate::context::services::UntypedServices;
use crate::erased::done::ErasedDone;
use crate::erased::token::ErasedToken;
use crate::execution::guard::is_watched;
use crate::execution::{
    chain::{Plain, chain},
    completions::Completed,
    interruption::poll_caught,
};
use crate::run::execute::go_on;
use crate::run::outcome::{Outcome, Report};
use crate::run::prepare::unrecorded;
use crate::run::report::report;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::{clock::Elapsed, driver::Driver, execution::shared::Shared};
use interlocking_core::context::Entered;
use interlocking_core::frontier::{Execution, Single};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::route::Step;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

/// An unrecorded run that has been only a chain so far; `None` only while its stage changes.
pub(crate) struct ChainRun<G: Graph>(Option<Stage<G>>);

/// The stage of a chain run. One enum and not two values, so that what the run starts from and the run itself share their
/// memory.
enum Stage<G: Graph> {
    Fresh(Arc<G>, Settings, G::Entry),
    Running(Running<G>),
}

/// A chain run that has begun.
struct Running<G: Graph> {
    shared: Shared<G>,
    single: Single<'static>,
}

/// What a run has reached: the result of its last execution, or an execution that is about to start.
type Reached = Result<(Completed, Elapsed), (Execution, ErasedToken)>;

/// A chain run that has just begun, and the token of its entry.
type Beginning<'l, G> = (&'l mut Running<G>, <G as Graph>::Token);

impl<G: Graph> ChainRun<G> {
    /// Whether a run may be a chain run: nothing is checked before it begins, and nothing is recorded, timed or observed while
    /// its nodes run.
    pub(crate) fn may_be(settings: &Settings) -> bool {
        !settings.is_recorded() && !settings.is_timed() && G::net().features().may_be_chain()
    }

    /// A run that has not begun.
    pub(crate) fn new(graph: Arc<G>, settings: Settings, entry: G::Entry) -> Self {
        Self(Some(Stage::Fresh(graph, settings, entry)))
    }

    /// Runs to the end.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
    )]
    pub(crate) fn run(mut self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        async move {
            let Some((begun, input)) = self.begin()? else { unreachable!("it is run once") };
            let Running { shared, single } = begun;
            let first = single.first();
            if !may_chain(shared, first) {
                let (driver, from) = self.into_driver(first, Err(input));
                return Ok(Box::pin(go_on(driver, from)).await.typed());
            }
            let (completed, took) = if is_plain(shared) {
                let mut plain = Plain(single.solo(first));
                let result = {
                    let entered = Entered { services: &shared.services, execution: first };
                    let mut chain = pin!(shared.services.graph.chain(input, entered, &mut plain));
                    poll_fn(move |context| poll_caught(chain.as_mut(), context)).await
                };
                // Without an event sink the clock is not read.
                (Completed { execution: plain.0.execution(), result, now: Elapsed::default() }, Elapsed::default())
            } else {
                Box::pin(chain(shared, single.solo(first), input)).await
            };
            match end(shared, single, completed, took) {
                Ok(report) => Ok(report),
                Err(completed) => {
                    let (driver, from) = self.into_driver(completed.execution, Ok((completed, took)));
                    Ok(Box::pin(go_on(driver, from)).await.typed())
                }
            }
        }
    }

    /// Begins the run and returns the entry's token; `None` if the run had begun before.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what the run lacks.
    fn begin(&mut self) -> Result<Option<Beginning<'_, G>>, StartError> {
        let Some(Stage::Fresh(graph, settings, entry)) = self.0.take() else { return Ok(None) };
        let begun = Running { shared: Shared::new(unrecorded(graph, settings)?), single: Single::entered(G::net()) };
        match self.0.insert(Stage::Running(begun)) {
            Stage::Fresh(..) => Ok(None),
            Stage::Running(begun) => {
                begun.shared.services.untyped.begin();
                Ok(Some((begun, G::enter(entry))))
            }
        }
    }

    /// What continues a run that is more than a chain: a driver, and the result of the run's last execution or its entry's token.
    fn into_driver(
        self,
        execution: Execution,
        from: Result<(Completed<Done<G>>, Elapsed), G::Token>,
    ) -> (Driver, Reached) {
        let Some(Stage::Running(Running { shared, single })) = self.0 else { unreachable!("it has begun") };
        let driver = Driver::new(Arc::new(shared), single.into_frontier(execution), None);
        let from = match from {
            Ok((Completed { execution, result, now }, took)) => {
                let result = result.map(|done| ErasedDone::new(done, None));
                Ok((Completed { execution, result, now }, took))
            }
            Err(input) => Err((execution, ErasedToken::new(input))),
        };
        (driver, from)
    }
}

/// The report of a run that was a chain up to its exit, without effects, child runs, reports or workspaces of its own;
/// otherwise the error is the result of the run's last execution.
///
/// Exists for the row "ten thousand runs" of `docs/book/src/performance.md`: without it each of these runs would make a
/// frontier and a driver at its end, some 5,700 instructions beyond its 3,000.
fn end<G: Graph>(
    shared: &Shared<G>,
    single: &Single<'static>,
    completed: Completed<Done<G>>,
    took: Elapsed,
) -> Result<Report<G::Output>, Completed<Done<G>>> {
    let Shared { services, .. } = shared;
    if !ends_alone(&services.untyped) {
        return Err(completed);
    }
    let Completed { execution, now, ref result } = completed;
    match result {
        Ok(Done { route: Ok(step), effects }) if effects.is_empty() && single.ends(execution, step) => {
            services.untyped.emit_finished(execution, step, now, took);
        }
        _ => return Err(completed),
    }
    let output = match completed.result {
        Ok(Done { route: Ok(Step::One(_, token)), .. }) => G::leave(token),
        _ => None,
    };
    let Some(output) = output else {
        return Err(Completed { execution, result: Ok(Done::misplaced()), now });
    };
    let outcome = Outcome::Finished(output);
    services.untyped.emit_ended(outcome.name());
    Ok(report(&services.untyped, single.entries(), outcome))
}

/// Whether nothing else is to be done at the end of a run: it has no reports, child runs or workspaces of its own.
fn ends_alone(untyped: &UntypedServices) -> bool {
    let settings = &untyped.settings;
    !(untyped.net.features().reports || settings.has_running_relatives() || settings.owns_workspaces())
}

/// Whether a chain may start at the entry.
fn may_chain<G: Graph>(shared: &Shared<G>, first: Execution) -> bool {
    !G::net().features().guarded && !is_watched(&shared.services.untyped, first)
}

/// Whether a chain has no event sink, nothing can stop it, and none of its nodes has a timeout.
fn is_plain<G: Graph>(shared: &Shared<G>) -> bool {
    shared.services.untyped.settings.sink.is_none() && shared.cancel().is_none() && !G::net().features().timeouts
}
