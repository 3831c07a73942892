//! Quick mode (SAW-91 to SAW-94): an ownership declaration in, one merge and one gate out. No document, no reports, no states.

mod check;
mod work;
mod merge;
mod verify;

use crate::graph::SawResult;
use crate::quick::QuickStop;

/// Handler of `quick_check`.
pub struct QuickCheck;

/// Handler of `quick`.
pub struct Quick;

/// Handler of `work`.
pub struct QuickWork;

/// Handler of `quick_merge`.
pub struct QuickMerge;

/// The result of a run in which nothing lands. The full protocol can do what quick mode cannot.
fn stopped(reason: QuickStop, problems: impl IntoIterator<Item = String>) -> SawResult {
    let mut problems: Vec<String> = problems.into_iter().collect();
    if matches!(reason, QuickStop::Refused | QuickStop::Conflict) {
        problems
            .push("quick mode has no more than disjoint files: use the full protocol, with `run --task`".to_owned());
    }
    SawResult::QuickStopped { reason, problems }
}
