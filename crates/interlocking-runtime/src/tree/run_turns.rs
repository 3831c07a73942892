//! Whose turn it is among the runs of a tree that ask under one name: they get it in the order in which they ask.
//!
//! A run keeps its turn from execution to execution. It ends when the outcome of the execution that gives it back is absorbed: whoever is
//! next finds in memory, workspace and journal what the run left. It is in memory alone; a run whose process ended has none.

use crate::mutex::Mutex;
use interlocking_core::frontier::Execution;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;

/// The turns of the runs of one tree.
#[derive(Default)]
pub(crate) struct RunTurns {
    /// By name. Tokio's mutex is fair, and whoever no longer waits for it leaves its queue.
    lanes: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// A run's turn, which ends when this is dropped.
pub(crate) struct RunTurn(#[expect(dead_code, reason = "it is held")] OwnedMutexGuard<()>);

/// The turns of one run.
#[derive(Default)]
pub(crate) struct KeptRunTurns {
    /// Those that it has, by name.
    held: Mutex<BTreeMap<String, RunTurn>>,
    /// Those that an execution has given back, until what came of it is absorbed.
    given_back: Mutex<Vec<(Execution, RunTurn)>>,
}

impl RunTurns {
    /// Waits for the turn.
    pub(crate) async fn take(&self, name: &str) -> RunTurn {
        let lane = self.lane(name);
        RunTurn(lane.lock_owned().await)
    }

    fn lane(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.get(name) {
            return lane.clone();
        }
        lanes.entry(name.to_owned()).or_default().clone()
    }
}

impl KeptRunTurns {
    /// Whether the run has a turn.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.held.lock().contains_key(name)
    }

    /// The run has a turn from now on.
    pub(crate) fn keep(&self, name: &str, turn: RunTurn) {
        self.held.lock().insert(name.to_owned(), turn);
    }

    /// The run's turn ends when the outcome of an execution is absorbed.
    pub(crate) fn give_back(&self, name: &str, by: Execution) {
        let turn = self.held.lock().remove(name);
        self.given_back.lock().extend(turn.map(|turn| (by, turn)));
    }

    /// The turns that an execution has given back; they end when these are dropped.
    pub(crate) fn of(&self, execution: Execution) -> Vec<RunTurn> {
        let mut given_back = self.given_back.lock();
        given_back.extract_if(.., |(other, _)| *other == execution).map(|(_, turn)| turn).collect()
    }

    /// Ends all: nothing is absorbed any more.
    pub(crate) fn end(&self) {
        let kept = (std::mem::take(&mut *self.held.lock()), std::mem::take(&mut *self.given_back.lock()));
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_run_keeps_its_turn_until_the_execution_is_absorbed_that_gives_it_back() {
        let (turns, kept) = (RunTurns::default(), KeptRunTurns::default());
        let take = |name| match pin!(turns.take(name)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        };
        let by = Execution { node: 1, visit: 1, attempt: 1 };
        kept.keep("main", take("main").unwrap());
        drop(kept.of(by));
        assert!(kept.has("main") && take("main").is_none() && take("other").is_some());
        kept.give_back("main", by);
        assert!(!kept.has("main") && take("main").is_none(), "its outcome is not absorbed yet");
        drop(kept.of(by));
        kept.keep("main", take("main").unwrap());
        kept.end();
        assert!(take("main").is_some());
        kept.give_back("main", by);
        assert!(kept.of(by).is_empty(), "it had none");
    }
}
