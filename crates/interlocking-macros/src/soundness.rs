//! Reports violations of soundness as errors at the fields that cause them.

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
            let further = further(limit);
            errors.over(
                &graph.input.ident,
                format_args!(
                    "not decided within {limit} markings whether this graph is sound\n\
                     help: {further}let branches cancel less of each other"
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

/// The advice to allow more than `limit` markings, if the attribute can take a larger number.
fn further(limit: usize) -> String {
    match u32::try_from(limit).map(|limit| (limit, limit.saturating_mul(10))) {
        Ok((limit, next)) if next > limit => format!("look further: `#[graph(markings = {next})]`; or "),
        _ => String::new(),
    }
}

/// The violations that do not follow from others: a fix of these probably fixes the rest. Of violations with the same
/// remedy, only the first.
fn roots(violations: &[Violation]) -> impl Iterator<Item = &Violation> {
    let is_root = |(nth, violation): &(usize, &Violation)| {
        !violations.iter().any(|other| violation.follows(other))
            && !violations[..*nth].iter().any(|other| violation.has_remedy_of(other))
    };
    violations.iter().enumerate().filter(is_root).map(|(_, violation)| violation)
}

#[cfg(test)]
mod tests {
    use super::further;

    #[test]
    fn the_attribute_takes_the_number_that_is_advised() {
        assert_eq!(further(20_000), "look further: `#[graph(markings = 200000)]`; or ");
        assert_eq!(further(429_496_730), "look further: `#[graph(markings = 4294967295)]`; or ");
        assert_eq!(further(u32::MAX as usize), "");
    }
}
