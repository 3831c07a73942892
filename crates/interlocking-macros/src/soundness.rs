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
                    "whether this graph is sound is not known: it has more markings than the {limit} looked at\n\
                     help: let branches cancel less of each other, or look further: `#[graph(markings = {next})]`"
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

/// Those that are not on the way to others: with these mended, the others probably are.
fn roots(violations: &[Violation]) -> impl Iterator<Item = &Violation> {
    let follows_none = |violation: &&Violation| !violations.iter().any(|other| violation.follows(other));
    violations.iter().filter(follows_none)
}
