//! A run that is one chain of nodes, from its entry on.
//!
//! A service may have many thousands of runs waiting, and most of them only go from node to node, recorded nowhere. Such a
//! run needs no driver: it is a token, the counts of its nodes, and what its handlers reach. That it holds in one piece, in the
//! future that whoever started it holds. Once it turns out to be more, a [`Driver`] goes on with it.

use crate::chain::{Chained, Whereabouts, chain};
use crate::conduct::{go_on, report};
use crate::driver::{Driver, Next, Shared};
use crate::outcome::{Outcome, Report};
use crate::perform::is_watched;
use crate::prepare::{asks_agents, unrecorded};
use crate::run::StartError;
use crate::settings::Settings;
use interlocking_core::frontier::{Execution, Single};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::net::Features;
use interlocking_core::route::Step;
use std::future::Future;
use std::sync::Arc;

/// A run that has done no more than a chain, and is recorded nowhere.
pub(crate) struct Lone<G: Graph> {
    shared: Shared<G>,
    single: Single<'static>,
    whereabouts: Whereabouts,
    /// What the entry takes, until it begins.
    input: Option<G::Token>,
}

impl<G: Graph> Lone<G> {
    /// Whether a run may be one: nothing is to be asked before it begins, or written, watched or listened for while its
    /// nodes run.
    pub(crate) fn may_be(settings: &Settings) -> bool {
        !settings.is_recorded() && !settings.is_timed() && !asks_agents(G::net())
    }

    /// A run before its entry.
    ///
    /// # Errors
    ///
    /// What the run lacks.
    pub(crate) fn new(graph: Arc<G>, settings: Settings, entry: G::Entry) -> Result<Self, StartError> {
        let shared = Shared::new(unrecorded(graph, settings)?);
        let (single, input) = (Single::entered(G::net()), Some(G::enter(entry)));
        Ok(Self { shared, single, whereabouts: Whereabouts::nowhere(), input })
    }

    /// Runs to the end.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
    )]
    pub(crate) fn run(mut self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        async move {
            let Self { shared, single, whereabouts, input } = &mut self;
            shared.services.backstage.begin();
            let first = single.first();
            if !may_chain(shared, first) {
                return Ok(Box::pin(self.drive(first, None)).await);
            }
            let chained = chain(shared, whereabouts, single.solo(first), input).await;
            match self.end(chained) {
                Ok(report) => Ok(report),
                Err(chained) => Ok(Box::pin(self.drive(chained.execution, Some(chained))).await),
            }
        }
    }

    /// The end of a run that was a chain up to its exit, and that nobody else is to be asked about; else what its last
    /// execution came to.
    fn end(&mut self, chained: Chained<G>) -> Result<Report<G::Output>, Chained<G>> {
        let Shared { services, .. } = &self.shared;
        if G::net().features().reports || services.backstage.settings.has_company() {
            return Err(chained);
        }
        let Chained { execution, now, took, ref result } = chained;
        match result {
            Ok(Done { route: Ok(step), effects }) if effects.is_empty() && self.single.ends(execution, step) => {
                services.emit_finished(execution, step, now, took);
            }
            _ => return Err(chained),
        }
        let output = match chained.result {
            Ok(Done { route: Ok(Step::One(_, token)), .. }) => G::leave(token),
            _ => None,
        };
        let Some(output) = output else {
            return Err(Chained { execution, result: Ok(Done::misplaced()), now, took });
        };
        let outcome = Outcome::Finished(output);
        services.backstage.emit_ended(&outcome);
        Ok(report(&services.backstage, self.single.entries(), outcome))
    }

    /// Goes on with a run that is more than a chain: from its entry, or from what its last execution came to.
    async fn drive(mut self, execution: Execution, chained: Option<Chained<G>>) -> Report<G::Output> {
        let mut driver = Driver::new(self.shared, self.single.into_frontier(execution), None);
        let next = match (chained, self.input.take()) {
            (Some(chained), _) => driver.take_in(chained),
            (None, Some(input)) => Ok(Next::Alone(execution, input)),
            (None, None) => Ok(Next::Wait),
        };
        go_on(driver, next).await
    }
}

/// Whether a chain may begin with the entry.
fn may_chain<G: Graph>(shared: &Shared<G>, first: Execution) -> bool {
    let Features { observes, read_only, .. } = G::net().features();
    !observes && !read_only && !is_watched(&shared.services, first)
}
