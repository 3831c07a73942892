//! Why a service does not execute a run.

use crate::journal::JournalError;
use crate::run::StartError;
use interlocking_core::run_id::RunId;
use thiserror::Error;

/// Why a service does not execute a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// The service is shutting down.
    #[error(
        "run `{run}` does not start: the service is shutting down; it can be started, or taken up, by the next one"
    )]
    Draining {
        /// The run.
        run: RunId,
    },
    /// The name belongs to a run of another graph, or with another entry value.
    #[error("there is a run `{run}` already, {what}: a name stands for one run, so choose another")]
    Taken {
        /// The run.
        run: RunId,
        /// What differs.
        what: &'static str,
    },
    /// The runtime itself panicked before the run had begun.
    #[error("run `{run}` did not start: {message}")]
    Panicked {
        /// The run.
        run: RunId,
        /// The panic's message.
        message: String,
    },
    /// The run did not start, or was not resumed.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
}
