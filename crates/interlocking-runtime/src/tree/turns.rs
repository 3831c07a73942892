//! Who may run of those that are `exclusive` under one name: one execution at a time in a whole tree of runs, in the order in which
//! they came to ask.
//!
//! A turn lasts from before the execution's workspace is made ready until its outcome is absorbed: whoever is next finds in memory,
//! workspace and journal what it left. It is in memory alone; an execution whose process ended has none.

use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// The turns of one tree of runs.
#[derive(Default)]
pub(crate) struct Turns {
    /// By name. Tokio's mutex is fair, and whoever no longer waits for it leaves its queue.
    lanes: Mutex<HashMap<&'static str, Arc<tokio::sync::Mutex<()>>>>,
}

/// An execution's turn, which ends when this is dropped.
pub(crate) struct Turn(#[expect(dead_code, reason = "it is held")] OwnedMutexGuard<()>);

/// The turns of executions that have come to an end, until what came of them is absorbed.
#[derive(Default)]
pub(crate) struct KeptTurns(Mutex<Vec<(Execution, Turn)>>);

impl Turns {
    /// The turn of whoever asks now; `None` if it has to wait.
    pub(crate) fn try_take(&self, name: &'static str) -> Option<Turn> {
        self.lane(name).try_lock_owned().ok().map(Turn)
    }

    /// Waits for the turn.
    pub(crate) async fn take(&self, name: &'static str) -> Turn {
        let lane = self.lane(name);
        Turn(lane.lock_owned().await)
    }

    fn lane(&self, name: &'static str) -> Arc<tokio::sync::Mutex<()>> {
        self.lanes.lock().entry(name).or_default().clone()
    }
}

impl KeptTurns {
    /// Keeps the turn of an execution that has come to an end.
    pub(crate) fn keep(&self, execution: Execution, turn: Turn) {
        self.0.lock().push((execution, turn));
    }

    /// The turn of an execution; it ends when that is dropped.
    pub(crate) fn of(&self, execution: Execution) -> Option<Turn> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(other, _)| *other == execution)?;
        Some(kept.swap_remove(at).1)
    }

    /// Ends all: nothing is absorbed any more.
    pub(crate) fn end(&self) {
        let kept = std::mem::take(&mut *self.0.lock());
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    fn poll(turn: Pin<&mut impl Future<Output = Turn>>) -> Option<Turn> {
        match turn.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn turns_come_in_the_order_in_which_they_are_asked_for() {
        let turns = Turns::default();
        let first = turns.try_take("main").expect("nobody has it");
        assert!(turns.try_take("main").is_none());
        assert!(turns.try_take("docs").is_some(), "another name");
        let (mut second, mut third) = (pin!(turns.take("main")), pin!(turns.take("main")));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        drop(first);
        assert!(turns.try_take("main").is_none(), "who comes later waits, though nobody runs yet");
        assert!(poll(third.as_mut()).is_none());
        let second = poll(second.as_mut()).expect("its turn");
        assert!(poll(third.as_mut()).is_none());
        drop(second);
        assert!(poll(third.as_mut()).is_some());
    }

    #[test]
    fn whoever_no_longer_waits_leaves_the_queue() {
        let turns = Turns::default();
        let first = turns.try_take("main");
        let mut second = Box::pin(turns.take("main"));
        let mut third = pin!(turns.take("main"));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        drop(first);
        drop(second);
        assert!(poll(third.as_mut()).is_some(), "though it was the second's turn already");
    }

    #[test]
    fn a_turn_lasts_until_what_came_of_it_is_absorbed() {
        let (turns, kept) = (Turns::default(), KeptTurns::default());
        let of = |node| Execution { node, visit: 1, attempt: 1 };
        kept.keep(of(1), turns.try_take("main").unwrap());
        assert!(kept.of(of(2)).is_none() && turns.try_take("main").is_none());
        drop(kept.of(of(1)));
        kept.keep(of(2), turns.try_take("main").expect("it has ended"));
        kept.end();
        assert!(turns.try_take("main").is_some());
    }
}
