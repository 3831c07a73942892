//! Starts a run. A run without a journal [may begin](ChainRun::may_be) as a [`ChainRun`], and most of these stay one until their
//! end.

use crate::execution::chain_run::ChainRun;
use crate::run::execute::execute;
use crate::run::outcome::Report;
use crate::run::prepare::Begin;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use interlocking_core::graph::Graph;
use std::pin::Pin;
use std::sync::Arc;

/// The future of a run, which returns its report.
pub(crate) type Running<G> = Pin<Box<dyn Future<Output = Result<Report<<G as Graph>::Output>, StartError>> + Send>>;

/// Runs a graph from its beginning to its end. The future is boxed, so that spawning it moves only a pointer.
pub(crate) fn start<G: Graph>(graph: Arc<G>, settings: Settings, entry: G::Entry) -> Running<G> {
    // The first is known at compile time, so that a chain run is compiled only for graphs that may have one.
    if const { G::MAY_BE_CHAIN } && ChainRun::<G>::may_be(&settings) {
        // The box is allocated first, so that only the arguments are moved and not the whole future (row "ten thousand runs" of
        // `docs/book/src/performance.md`).
        let room = Box::new_uninit();
        let running = Box::write(room, ChainRun::new(graph, settings, entry).run());
        return Box::into_pin(running);
    }
    Box::pin(execute(graph, Box::new(settings), Begin::Fresh { entry: Box::new(entry) }))
}
