//! Why a journal's records are not those of a run.

use crate::journal::By;
use thiserror::Error;

/// Why records are not those of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The first record does not start a run, or a later one does.
    #[error("record {sequence} is out of place: a run's first record, and no other, says that it started")]
    Misplaced {
        /// The record's position.
        sequence: u64,
    },
    /// A record names an execution that cannot have happened at that point.
    #[error("record {sequence} tells of execution {by} of a node which did not run then: {reason}")]
    Impossible {
        /// The record's position.
        sequence: u64,
        /// The execution.
        by: By,
        /// Why it cannot have happened.
        reason: String,
    },
}
