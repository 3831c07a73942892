//! What the writer's thread is asked for, and what it answers.

use crate::prepared::Prepared;
use crate::retention::{Pruned, Retention};
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{JournalError, Letter};
use tokio::sync::oneshot;

/// What the thread is asked for.
pub(crate) enum Job {
    Append(Box<Prepared>),
    /// With a number that no other claim of this journal has.
    Claim(RunId, u64),
    /// Of the claim with this number, if that was given.
    Release(RunId, u64),
    Post(RunId, Letter),
    Remove(RunId),
    Prune(Retention),
    WouldPrune(Retention),
}

/// What it answers.
pub(crate) enum Reply {
    Done,
    Number(u64),
    Pruned(Pruned),
}

/// A job, and who waits for it.
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
