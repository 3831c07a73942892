//! What a run of the graph can come to, as errors at the fields that are to blame.

use crate::ast::GraphModel;
use crate::errors::Errors;
use interlocking_core::net::Net;
use interlocking_soundness::{DEFAULT_LIMIT, Verdict, Violation, check_within};

/// Checks that no run of the graph can hang, strand a token or go on for ever.
pub(crate) fn check(graph: &GraphModel<'_>, net: &Net) -> Result<(), syn::Error> {
    let errors = Errors::new();
    let limit = graph.markings.map_or(DEFAULT_LIMIT, |limit| limit as usize);
    match check_within(net, limit) {
        Verdict::Sound { .. } => {}
        Verdict::Undecided { limit } => {
            let next = limit.saturating_mul(10);
            errors.over(
                &graph.input.ident,
                format_args!(
                    "not decided within {limit} markings whether this graph is sound\n\
                     help: look further: `#[graph(markings = {next})]`; or let branches cancel less of each other"
                ),
            );
        }
        Verdict::Unsound { violations } => {
            for violation in roots(&violations) {
                let node = graph.nodes.iter().find(|node| node.name == violation.blame);
                let at = node.map_or(&graph.input.ident, |node| node.ident);
                errors.over(at, violation);
            }
        }
    }
    errors.check()
}

/// Those that are not on the way to others: with these mended, the others probably are. Of those with one remedy, the first.
fn roots(violations: &[Violation]) -> impl Iterator<Item = &Violation> {
    let is_root = |(nth, violation): &(usize, &Violation)| {
        !violations.iter().any(|other| violation.follows(other))
            && !violations[..*nth].iter().any(|other| violation.has_remedy_of(other))
    };
    violations.iter().enumerate().filter(is_root).map(|(_, violation)| violation)
}
