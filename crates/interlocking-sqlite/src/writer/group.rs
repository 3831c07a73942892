//! Group commit: which requests are written in one transaction.

use crate::writer::job::{Job, Request};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// The maximum number of requests in one transaction.
const MOST: usize = 1024;
/// How long a group waits in total for further requests.
const LINGER: Duration = Duration::from_millis(2);
/// How long a group waits for the next request.
const GAP: Duration = Duration::from_micros(500);

/// How long the thread spins for the next request before it sleeps.
const SPIN: Duration = Duration::from_micros(20);

/// Gathers requests into groups.
///
/// Runs whose records were committed together send their next records at nearly the same time, one after the other. A group that
/// took only the first of them would be small. So a group waits briefly for about as many requests as recent groups had. A single
/// run does not wait.
pub(crate) struct Gathering {
    requests: Receiver<Request>,
    /// About how many requests recent groups had.
    lately: usize,
    /// A request that must be the only one of the next group.
    alone: Option<Request>,
}

impl Gathering {
    pub(crate) fn new(requests: Receiver<Request>) -> Self {
        Self { requests, lately: 1, alone: None }
    }

    /// Waits for the next group. It is empty where no request came within `limit`. `None` when all senders are gone.
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

    /// Waits for the next request. A single run's next record comes soon after the last one, so spinning for a moment costs less
    /// than sleeping and being woken.
    fn first(&self, limit: Option<Duration>) -> Result<Request, RecvTimeoutError> {
        let looking = Instant::now();
        while looking.elapsed() < SPIN {
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
    /// Whether the request takes long, so that no other request should wait for it in the same transaction.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self.job, Job::Remove(_) | Job::Prune(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retention::Retention;
    use std::sync::mpsc::channel;

    fn claim(number: usize) -> Request {
        Request { job: Job::Claim(format!("run-{number}").parse().unwrap(), 1), reply: None }
    }

    #[test]
    fn all_that_wait_are_one_group() {
        let (sender, requests) = channel();
        (0..MOST + 100).for_each(|number| sender.send(claim(number)).unwrap());
        let mut gathering = Gathering::new(requests);
        assert_eq!(gathering.next(None).unwrap().len(), MOST);
        assert_eq!(gathering.next(None).unwrap().len(), 100);
        drop(sender);
        assert!(gathering.next(None).is_none());
    }

    #[test]
    fn what_takes_long_is_a_group_of_its_own() {
        let (sender, requests) = channel();
        sender.send(claim(1)).unwrap();
        sender.send(Request { job: Job::Prune(Retention::default()), reply: None }).unwrap();
        sender.send(claim(2)).unwrap();
        sender.send(claim(3)).unwrap();
        let mut gathering = Gathering::new(requests);
        let groups = [(); 3].map(|()| gathering.next(None).unwrap().len());
        assert_eq!(groups, [1, 1, 2]);
    }
}
