//! What is written together.

use crate::writer::job::{Job, Request};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// More is never written in one transaction.
const MOST: usize = 1024;
/// How long a group waits for those that came with the last ones, and how long for the next of them.
const LINGER: Duration = Duration::from_millis(2);
const GAP: Duration = Duration::from_micros(500);

/// How long the next record is looked for before the thread sleeps.
const SOON: Duration = Duration::from_micros(20);

/// Gathers requests into groups.
///
/// Runs whose records were committed together come back together, one after the other: a group that starts with the first of
/// them would be small. So it waits for about as many as there were lately, for a moment. A lone run waits for nobody.
pub(crate) struct Gathering {
    requests: Receiver<Request>,
    /// About how many there were lately.
    lately: usize,
    /// A request that is to be alone.
    alone: Option<Request>,
}

impl Gathering {
    pub(crate) fn new(requests: Receiver<Request>) -> Self {
        Self { requests, lately: 1, alone: None }
    }

    /// The next group; waits until there is one, or as long as `limit` says: then it is empty. `None` when nobody can ask any
    /// more.
    pub(crate) fn next(&mut self, limit: Option<Duration>) -> Option<Vec<Request>> {
        if let Some(alone) = self.alone.take() {
            return Some(vec![alone]);
        }
        let first = match self.first(limit) {
            Ok(first) => first,
            Err(RecvTimeoutError::Timeout) => return Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        if first.is_alone() {
            return Some(vec![first]);
        }
        let mut group = vec![first];
        let mut began = None;
        while group.len() < MOST {
            let next = match self.requests.try_recv() {
                Ok(next) => next,
                Err(_) if group.len() * 8 >= self.lately * 7 => break,
                Err(_) => {
                    let waited = began.get_or_insert_with(Instant::now).elapsed();
                    match self.requests.recv_timeout(GAP.min(LINGER.saturating_sub(waited))) {
                        Ok(next) => next,
                        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                    }
                }
            };
            if next.is_alone() {
                self.alone = Some(next);
                break;
            }
            group.push(next);
        }
        self.lately = group.len().max(self.lately / 2);
        Some(group)
    }

    /// The next request. A lone run's next record comes soon after its last: to look for it for a moment costs less than
    /// to sleep and be woken.
    fn first(&self, limit: Option<Duration>) -> Result<Request, RecvTimeoutError> {
        let looking = Instant::now();
        while looking.elapsed() < SOON {
            match self.requests.try_recv() {
                Ok(request) => return Ok(request),
                Err(TryRecvError::Empty) => (0..16).for_each(|_| std::hint::spin_loop()),
                Err(TryRecvError::Disconnected) => return Err(RecvTimeoutError::Disconnected),
            }
        }
        match limit {
            Some(limit) => self.requests.recv_timeout(limit),
            None => self.requests.recv().map_err(RecvTimeoutError::from),
        }
    }
}

impl Request {
    /// Whether it takes long, so that nobody else should wait for it in the same transaction.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.job, Job::Remove(_) | Job::Prune(_))
    }
}
