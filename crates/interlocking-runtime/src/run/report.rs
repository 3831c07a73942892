//! Makes the report of a run.

use crate::context::services::UntypedServices;
use crate::run::outcome::{Outcome, Report};
use interlocking_core::net::{Net, NodeIndex};

/// The report of a run with this outcome.
pub(crate) fn report<O>(
    untyped: &UntypedServices,
    entries: impl Iterator<Item = (NodeIndex, u32)>,
    outcome: Outcome<O>,
) -> Report<O> {
    let (run, ledger) = (untyped.run().clone(), untyped.settings.ledger());
    Report { run, outcome, ledger, visits: visits(untyped.net, entries), took: untyped.now() }
}

/// The nodes that were entered, and how often.
pub(crate) fn visits(net: &'static Net, entries: impl Iterator<Item = (NodeIndex, u32)>) -> Vec<(&'static str, u32)> {
    let mut entered = Vec::with_capacity(net.nodes().len());
    entered.extend(entries.map(|(node, visits)| (net.name(node), visits)));
    entered
}
