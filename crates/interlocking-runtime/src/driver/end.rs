//! What ends a run early.

use crate::tree::Halt;
use interlocking_core::failure::{Failure, FailureKind};
use interlocking_core::table::EXIT;

/// What ends a run early.
pub(crate) enum End {
    Failed(Box<Failure>),
    Cancelled,
    /// The whole tree of runs halts, and can be resumed.
    Halted(Halt),
    /// A child run stops with its map node, while its tree continues.
    ChildStopped,
}

impl End {
    pub(crate) fn failed(failure: Failure) -> Self {
        Self::Failed(Box::new(failure))
    }

    /// A failure of the run as a whole.
    pub(crate) fn at_exit(kind: FailureKind, message: String, causes: Vec<String>) -> Self {
        Self::failed(at_exit(kind, message, causes))
    }
}

/// A failure of the run as a whole, not of an execution.
pub(crate) fn at_exit(kind: FailureKind, message: String, causes: Vec<String>) -> Failure {
    let mut failure = Failure::new(EXIT, 0, 0, kind, message);
    failure.causes = causes;
    failure
}
