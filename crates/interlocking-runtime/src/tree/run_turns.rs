//! The turns that one run takes among the runs of its tree.
//!
//! A run keeps its turn from execution to execution. The turn ends when the outcome of the execution that gives it back is
//! absorbed, so that the next run finds in memory, workspace and journal what this run left. Every outcome records which turns
//! the run has after it. In another process the run has no turn, and comes first when it asks again.

use crate::mutex::Mutex;
use crate::tree::turns::Turn;
use interlocking_core::frontier::Execution;
use std::collections::BTreeMap;

/// The turns of one run.
#[derive(Default)]
pub(crate) struct KeptRunTurns(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The turns that the run has, by name; `None` where it had the turn in an earlier process, and has not asked again.
    held: BTreeMap<String, Option<Turn>>,
    /// The turns that an execution has given back, until its outcome is absorbed.
    given_back: Vec<(Execution, String, Option<Turn>)>,
}

impl KeptRunTurns {
    /// Notes the turns that the run had when its process ended.
    pub(crate) fn had(&self, names: Vec<String>) {
        self.0.lock().held.extend(names.into_iter().map(|name| (name, None)));
    }

    /// Whether the run has a turn.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.lock().held.get(name).is_some_and(Option::is_some)
    }

    /// Keeps a turn of the run from now on.
    pub(crate) fn keep(&self, name: &str, turn: Turn) {
        self.0.lock().held.insert(name.to_owned(), Some(turn));
    }

    /// Gives a turn back. It ends when the outcome of the execution is absorbed.
    pub(crate) fn give_back(&self, name: &str, by: Execution) {
        let mut kept = self.0.lock();
        if let Some((name, turn)) = kept.held.remove_entry(name) {
            kept.given_back.push((by, name, turn));
        }
    }

    /// The names of the turns that the run has once the outcome of an execution counts.
    pub(crate) fn after(&self, execution: Execution) -> Vec<String> {
        let kept = self.0.lock();
        let given_back = kept.given_back.iter().filter(|(by, ..)| *by != execution).map(|(_, name, _)| name);
        kept.held.keys().chain(given_back).cloned().collect()
    }

    /// Takes the turns that an execution has given back; they end when the returned values are dropped.
    pub(crate) fn take_given_back(&self, execution: Execution) -> Vec<Option<Turn>> {
        let given_back = &mut self.0.lock().given_back;
        given_back.extract_if(.., |(by, ..)| *by == execution).map(|(_, _, turn)| turn).collect()
    }

    /// Ends all turns, because no outcome is absorbed any more.
    pub(crate) fn end(&self) {
        let kept = std::mem::take(&mut *self.0.lock());
        drop(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::By;
    use crate::tree::turns::{Asker, Queue, Turns};
    use std::sync::Arc;

    #[test]
    fn a_run_keeps_its_turn_until_the_execution_is_absorbed_that_gives_it_back() {
        let (turns, kept) = (Arc::new(Turns::default()), KeptRunTurns::default());
        let take = |name: &'static str| {
            let by = By { node: "a".to_owned(), visit: 1, attempt: 1 };
            let asker = || Asker { run: "r".parse().unwrap(), by, on_turn: Box::new(|| {}) };
            Some(turns.ask(Queue::Runs(name.into()), asker).0).filter(Turn::has_come)
        };
        let (by, other) = (Execution { node: 1, visit: 1, attempt: 1 }, Execution { node: 2, visit: 1, attempt: 1 });
        kept.keep("main", take("main").unwrap());
        drop(kept.take_given_back(by));
        assert!(kept.has("main") && take("main").is_none() && take("other").is_some());
        kept.give_back("main", by);
        assert!(!kept.has("main") && take("main").is_none(), "its outcome is not absorbed yet");
        assert_eq!((kept.after(by), kept.after(other)), (Vec::new(), vec!["main".to_owned()]));
        drop(kept.take_given_back(by));
        kept.keep("main", take("main").unwrap());
        kept.end();
        assert!(take("main").is_some() && kept.after(by).is_empty());
        kept.give_back("main", by);
        assert!(kept.take_given_back(by).is_empty(), "it had none");
    }

    #[test]
    fn what_a_run_had_in_another_process_it_has_to_ask_for() {
        let (kept, by) = (KeptRunTurns::default(), Execution { node: 1, visit: 1, attempt: 1 });
        kept.had(vec!["main".to_owned()]);
        assert!(!kept.has("main"));
        assert_eq!(kept.after(by), ["main"], "until it is known to have given it back");
        kept.give_back("main", by);
        assert!(kept.after(by).is_empty());
    }
}
