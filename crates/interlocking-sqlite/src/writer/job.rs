//! Requests to the writer thread, and its replies.

use crate::prepared::Prepared;
use crate::retention::{Pruned, Retention};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter};
use tokio::sync::oneshot;

/// What the writer thread is asked to do.
pub(crate) enum Job {
    Append(Box<Prepared>),
    /// Claims the run. The number identifies the claim within this journal.
    Claim(RunId, u64),
    /// Releases the claim with this number, if it was granted.
    Release(RunId, u64),
    Post(RunId, Letter),
    Remove(RunId),
    Prune(Retention),
    WouldPrune(Retention),
}

/// The writer thread's reply.
pub(crate) enum Reply {
    Done,
    Number(u64),
    Pruned(Pruned),
}

/// A job, and where its reply goes. A release has no reply.
pub(crate) struct Request {
    pub(crate) job: Job,
    pub(crate) reply: Option<oneshot::Sender<Result<Reply, JournalError>>>,
}

impl Request {
    pub(super) fn is_record(&self) -> bool {
        matches!(self.job, Job::Append(_))
    }

    pub(super) fn is_release(&self) -> bool {
        matches!(self.job, Job::Release(..))
    }

    pub(super) fn answer(self, answer: Result<Reply, JournalError>) {
        if let Some(reply) = self.reply
            && reply.send(answer).is_err()
        {
            tracing::trace!("nobody waits for the answer any more");
        }
    }
}
