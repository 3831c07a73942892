//! Decides whether a graph is sound.

mod verdict;

pub use verdict::{Rule, Step, Verdict, Violation};

use interlocking_core::net::Net;

/// How many markings [`check`] looks at before it gives up.
pub const DEFAULT_LIMIT: usize = 50_000;

/// Decides whether every run of a graph ends well, looking at no more than [`DEFAULT_LIMIT`] markings.
pub fn check(net: &Net) -> Verdict {
    check_within(net, DEFAULT_LIMIT)
}

/// The same, looking at no more than `limit` markings.
pub fn check_within(_net: &Net, limit: usize) -> Verdict {
    Verdict::Undecided { limit }
}
