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
use crate::prepare::unrecorded;
use crate::run::StartError;
use crate::settings::Settings;
use interlocking_core::frontier::{Execution, Frontier, Payload, Violation};
use interlocking_core::graph::{Done, Graph};
use interlocking_core::net::Features;
use interlocking_core::route::Step;
use std::future::Future;
use std::sync::Arc;

/// A run that has done no more than a chain, and is recorded nowhere.
pub(crate) struct Lone<G: Graph> {
    shared: Shared<G>,
    frontier: Frontier<'static, G::Token>,
    whereabouts: Whereabouts,
    /// That of the entry, and its input until it begins.
    first: Execution,
    input: Option<G::Token>,
}

/// What is left to do where a chain is not all.
enum Rest<G: Graph> {
    /// Everything: no chain may begin with the entry.
    All(Option<G::Token>),
    /// What its last execution came to.
    Last(Chained<G>),
    /// What its last execution asked for is not in the table.
    Unsound(Execution, Violation),
}

impl<G: Graph> Lone<G> {
    /// Whether a run may be one: nothing is to be written, watched or listened for while its nodes run.
    pub(crate) fn may_be(settings: &Settings) -> bool {
        !settings.is_recorded() && !settings.is_timed() && !G::net().features().maps
    }

    /// A run before its entry.
    ///
    /// # Errors
    ///
    /// What the run lacks.
    pub(crate) fn new(graph: Arc<G>, settings: Settings, entry: G::Entry) -> Result<Self, StartError> {
        let shared = Shared::new(unrecorded(graph, settings)?);
        let (frontier, first) = Frontier::entered(G::net());
        Ok(Self { shared, frontier, whereabouts: Whereabouts::nowhere(), first, input: Some(G::enter(entry)) })
    }

    /// What it is executed with.
    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.services.backstage.settings
    }

    /// Runs to the end.
    #[expect(
        clippy::manual_async_fn,
        reason = "an `async fn` keeps each argument twice, and every run that waits holds these"
    )]
    pub(crate) fn run(mut self) -> impl Future<Output = Result<Report<G::Output>, StartError>> + Send {
        async move {
            self.shared.services.backstage.begin();
            let chained = 'chained: {
                if !self.may_chain() {
                    break 'chained None;
                }
                let (Some(solo), Some(input)) = (self.frontier.solo(self.first), self.input.take()) else {
                    break 'chained None;
                };
                Some(chain(&self.shared, &self.whereabouts, solo, input).await)
            };
            match self.end(chained) {
                Ok(report) => Ok(report),
                Err(rest) => Ok(Box::pin(self.drive(rest)).await),
            }
        }
    }

    /// Whether a chain may begin with the entry.
    fn may_chain(&self) -> bool {
        let Features { observes, read_only, .. } = G::net().features();
        !observes && !read_only && !is_watched(&self.shared.services, self.first)
    }

    /// The end of a run that was a chain up to its exit, and that nobody else is to be asked about.
    fn end(&mut self, chained: Option<Chained<G>>) -> Result<Report<G::Output>, Rest<G>> {
        let Some(chained) = chained else { return Err(Rest::All(self.input.take())) };
        let Shared { services, .. } = &self.shared;
        let net = G::net();
        if net.features().reports || services.backstage.settings.has_company() {
            return Err(Rest::Last(chained));
        }
        let (execution, step) = match chained {
            Chained { execution, result: Ok(Done { route: Ok(step @ Step::One(..)), effects }), now, took }
                if effects.is_empty() && step.tokens().iter().all(|token| token.place() == net.exit()) =>
            {
                services.emit_finished(execution, &step, now, took);
                (execution, step)
            }
            chained => return Err(Rest::Last(chained)),
        };
        match self.frontier.complete(execution, step) {
            Ok(_) => {}
            Err(violation) => return Err(Rest::Unsound(execution, violation)),
        }
        match self.frontier.take_exit().and_then(G::leave) {
            Some(output) => {
                let outcome = Outcome::Finished(output);
                services.backstage.emit_ended(&outcome);
                Ok(report(&services.backstage, &self.frontier, outcome))
            }
            None => Err(Rest::All(None)),
        }
    }

    /// Goes on with a run that is more than a chain.
    async fn drive(self, rest: Rest<G>) -> Report<G::Output> {
        let mut driver = Driver::new(self.shared, self.frontier, None);
        let next = match rest {
            Rest::All(Some(input)) => Ok(Next::Alone(self.first, input)),
            Rest::All(None) => Ok(Next::Wait),
            Rest::Last(chained) => driver.take_in(chained),
            Rest::Unsound(execution, violation) => Err(driver.unsound(Some(execution), violation)),
        };
        go_on(driver, next).await
    }
}
