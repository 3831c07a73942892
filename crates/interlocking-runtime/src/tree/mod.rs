//! A run with all its child runs: which of them are executed, which questions are open, and what halted the tree as a whole.

pub(crate) mod past_calls;
pub(crate) mod end_children;
pub(crate) mod child;
pub(crate) mod idle;
pub(crate) mod turns;
pub(crate) mod run_turns;
pub(crate) mod sections;

use crate::cancel::CancelToken;
use crate::journal::question::OpenQuestion;
use crate::journal::{By, Journal, JournalError};
use crate::limits::allowance::Stopped;
use crate::mutex::Mutex;
use crate::run::claims::Releasing;
use crate::tree::past_calls::PastCalls;
use crate::tree::turns::Turns;
use interlocking_agents::{Ledger, LedgerEntry, Usage};
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// What the runs of one tree share beside their settings.
pub(crate) struct Tree {
    pub(crate) root: RunId,
    /// The child runs that are being executed.
    members: Mutex<BTreeMap<RunId, Member>>,
    questions: Mutex<BTreeMap<(RunId, By), OpenQuestion>>,
    /// Why no run of the tree continues, although none has ended. The first reason counts, except that a failed journal
    /// replaces any other.
    halt: Mutex<Option<Halt>>,
    pub(crate) halted: CancelToken,
    /// The budget or limit that holds executions back, if any does.
    used_up: Mutex<Option<Stopped>>,
    /// Notified when a child run is no longer executed, and when the task of a child has ended.
    left: Notify,
    usage: Mutex<TreeUsage>,
    /// The turns of nodes and runs that never overlap.
    pub(crate) turns: Arc<Turns>,
    /// By parent run: how many tasks of its children have not ended.
    tasks: Mutex<BTreeMap<RunId, usize>>,
    /// Cancelled when the root run's future is dropped before its end.
    pub(crate) abandoned: CancelToken,
    /// The journal of the runs that are dropped together with the root run.
    abandoned_in: OnceLock<Arc<dyn Journal>>,
}

/// What all runs of a tree have used up.
#[derive(Default)]
struct TreeUsage {
    /// The calls in the order in which they ended, including those of runs that have ended.
    calls: Vec<LedgerEntry>,
    /// What each run has used, together with all runs below it.
    used: BTreeMap<RunId, Usage>,
    /// The parent of each child run.
    parents: BTreeMap<RunId, RunId>,
}

impl TreeUsage {
    fn book(&mut self, run: &RunId, call: LedgerEntry) {
        let Self { calls, used, parents } = self;
        // A path upwards is never longer than this, except in a cycle.
        let above = std::iter::successors(Some(run), |run| parents.get(*run)).take(parents.len() + 1);
        above.for_each(|run| *used.entry(run.clone()).or_default() += call.usage);
        calls.push(call);
    }
}

/// The task of a child. The task has ended when this is dropped.
pub(crate) struct ChildTask {
    tree: Arc<Tree>,
    parent: RunId,
    child: RunId,
}

/// A child run that is being executed.
struct Member {
    parent: RunId,
    /// The number of the last letter that the run has received; `None` until the journal has the run, and others can write to
    /// it.
    letters: Option<u64>,
    /// Set once the root run is dropped. This run is then dropped as well, as soon as its task is polled.
    releasing: Option<Releasing>,
}

/// Why a run does not continue, although it has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The run was suspended on request.
    Suspended,
    /// Every live token waits for a person: the open questions.
    Waiting(Vec<OpenQuestion>),
    /// A budget is used up, or a provider keeps failing.
    Stopped(Stopped),
    /// A journal failed.
    Journal(JournalError),
}

/// A child run that is being executed, until this is dropped.
pub(crate) struct Membership {
    tree: Arc<Tree>,
    run: RunId,
}

/// An execution that waits for an answer. Its question is open until this is dropped.
pub(crate) struct AskedQuestion<'tree> {
    tree: &'tree Tree,
    asked: (RunId, By),
}

impl Tree {
    pub(crate) fn new(root: RunId) -> Self {
        let (members, questions, halt, halted, used_up, left) = Default::default();
        let (usage, turns, tasks, abandoned, abandoned_in) = Default::default();
        Self { root, members, questions, halt, halted, used_up, left, usage, turns, tasks, abandoned, abandoned_in }
    }

    pub(crate) fn join(self: &Arc<Self>, run: RunId, parent: RunId) -> Membership {
        self.usage.lock().parents.insert(run.clone(), parent.clone());
        let mut members = self.members.lock();
        let releasing = self.abandoned_in.get().map(|journal| Releasing::new(journal, &run));
        members.insert(run.clone(), Member { parent, letters: None, releasing });
        drop(members);
        Membership { tree: self.clone(), run }
    }

    /// The root run's future is dropped before the run's end, and all other runs of the tree with it. They are recorded in
    /// `journal`.
    pub(crate) fn abandon(&self, journal: Option<&Arc<dyn Journal>>) {
        if let Some(journal) = journal {
            let mut members = self.members.lock();
            let journal = self.abandoned_in.get_or_init(|| journal.clone());
            members.iter_mut().for_each(|(run, member)| member.releasing = Some(Releasing::new(journal, run)));
        }
        self.abandoned.cancel();
    }

    pub(crate) fn parent(&self, run: &RunId) -> Option<RunId> {
        self.members.lock().get(run).map(|member| member.parent.clone())
    }

    pub(crate) fn siblings(&self, run: &RunId) -> Vec<RunId> {
        let members = self.members.lock();
        let Some(Member { parent, .. }) = members.get(run) else { return Vec::new() };
        let others = members
            .iter()
            .filter(|(other, member)| member.letters.is_some() && member.parent == *parent && *other != run);
        others.map(|(other, _)| other.clone()).collect()
    }

    /// Notes that a child run has received a letter. (The root's driver keeps its own number.)
    pub(crate) fn received_letter(&self, run: &RunId, letter: u64) {
        if let Some(member) = self.members.lock().get_mut(run) {
            member.letters = member.letters.max(Some(letter));
        }
    }

    /// The child runs that other runs can write to, and the last letter that each has received.
    pub(crate) fn read_letters(&self) -> Vec<(RunId, u64)> {
        let members = self.members.lock();
        members.iter().filter_map(|(run, member)| Some((run.clone(), member.letters?))).collect()
    }

    /// Waits until `run` is no longer executed.
    pub(crate) async fn wait_until_left(&self, run: &RunId) {
        self.wait_until(|members| !members.contains_key(run)).await;
    }

    /// Whether any child run other than `run` is being executed.
    pub(crate) fn has_others(&self, run: &RunId) -> bool {
        self.members.lock().keys().any(|other| other != run)
    }

    /// Waits until no child run other than `run` is being executed.
    pub(crate) async fn wait_until_alone(&self, run: &RunId) {
        self.wait_until(|members| members.keys().all(|other| other == run)).await;
    }

    /// Registers a task that runs `child`, a child of `parent`.
    pub(crate) fn register_task(self: &Arc<Self>, parent: RunId, child: RunId) -> ChildTask {
        *self.tasks.lock().entry(parent.clone()).or_default() += 1;
        ChildTask { tree: self.clone(), parent, child }
    }

    /// Waits until no child of `parent` has a task.
    pub(crate) async fn wait_for_child_tasks(&self, parent: &RunId) {
        loop {
            // Created before the check, so that no change is missed between the two.
            let notified = self.left.notified();
            if !self.tasks.lock().contains_key(parent) {
                return;
            }
            notified.await;
        }
    }

    /// Books a call that has ended.
    pub(crate) fn book_call(&self, run: &RunId, call: LedgerEntry) {
        self.usage.lock().book(run, call);
    }

    /// Books calls that were made before this process.
    pub(crate) fn had_spent(&self, past: Vec<PastCalls>) {
        let mut usage = self.usage.lock();
        usage.parents.extend(past.iter().filter_map(|past| Some((past.run.clone(), past.parent.clone()?))));
        for PastCalls { run, calls, .. } in past {
            calls.into_iter().for_each(|call| usage.book(&run, call));
        }
    }

    /// What a run has used, together with all runs below it.
    pub(crate) fn used(&self, run: &RunId) -> Usage {
        self.usage.lock().used.get(run).copied().unwrap_or_default()
    }

    /// The calls of all runs.
    pub(crate) fn ledger(&self) -> Ledger {
        let mut ledger = Ledger::default();
        self.usage.lock().calls.iter().for_each(|call| ledger.record(call.clone()));
        ledger
    }

    async fn wait_until(&self, condition: impl Fn(&BTreeMap<RunId, Member>) -> bool) {
        loop {
            // Created before the check, so that no change is missed between the two.
            let notified = self.left.notified();
            if condition(&self.members.lock()) {
                return;
            }
            notified.await;
        }
    }

    /// Opens a question until the returned value is dropped, or until it is [closed](Self::close_question) earlier.
    pub(crate) fn open_question(&self, question: OpenQuestion) -> AskedQuestion<'_> {
        let asked = (question.run.clone(), question.by.clone());
        self.questions.lock().insert(asked.clone(), question);
        AskedQuestion { tree: self, asked }
    }

    /// Closes a question before its execution's task has ended.
    pub(crate) fn close_question(&self, run: &RunId, by: &By) {
        self.questions.lock().remove(&(run.clone(), by.clone()));
    }

    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        self.questions.lock().values().cloned().collect()
    }

    /// Notes that an execution may not continue, because what the runs may use is used up.
    pub(crate) fn hold_back(&self, stopped: Stopped) {
        self.used_up.lock().get_or_insert(stopped);
        self.turns.wake_all();
    }

    /// Why executions are held back, if any are.
    pub(crate) fn held_back_by(&self) -> Option<Stopped> {
        self.used_up.lock().clone()
    }

    /// Halts every run of the tree, so that it can be resumed.
    pub(crate) fn halt(&self, halt: Halt) {
        let mut reason = self.halt.lock();
        let is_journals = |halt: &Halt| matches!(halt, Halt::Journal(_));
        if reason.as_ref().is_none_or(|known| is_journals(&halt) && !is_journals(known)) {
            *reason = Some(halt);
        }
        drop(reason);
        self.halted.cancel();
    }

    /// Handles an error of the journal of a run of the tree: all runs halt, unless the journal only refused something that
    /// cannot be stored.
    pub(crate) fn journal_failed(&self, error: &JournalError) {
        if !error.is_refusal() {
            self.halt(Halt::Journal(error.clone()));
        }
    }

    /// The error of a journal of the tree that failed, if one did.
    pub(crate) fn journal_error(&self) -> Option<JournalError> {
        if !self.halted.is_cancelled() {
            return None;
        }
        match &*self.halt.lock() {
            Some(Halt::Journal(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// Why the tree was halted, if it was.
    pub(crate) fn halted_by(&self) -> Option<Halt> {
        self.halt.lock().clone()
    }
}

impl Membership {
    /// Notes that the journal has the run, and that the run has received all letters up to number `letters`.
    pub(crate) fn is_recorded(&self, letters: u64) {
        if let Some(member) = self.tree.members.lock().get_mut(&self.run) {
            member.letters = Some(letters);
        }
    }
}

impl Drop for ChildTask {
    fn drop(&mut self) {
        let mut tasks = self.tree.tasks.lock();
        if let Some(count) = tasks.get_mut(&self.parent) {
            *count -= 1;
            if *count == 0 {
                tasks.remove(&self.parent);
            }
        }
        drop(tasks);
        self.tree.turns.forget_sections(|section| section.is_within(&self.child));
        self.tree.left.notify_waiters();
    }
}

impl Drop for AskedQuestion<'_> {
    fn drop(&mut self) {
        self.tree.questions.lock().remove(&self.asked);
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.tree.members.lock().remove(&self.run);
        self.tree.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_uses_counts_for_all_runs_above_it() {
        let [root, child, other, below]: [RunId; 4] =
            ["root", "child", "other", "below"].map(|run| run.parse().unwrap());
        let call = |cost: u64| {
            let usage = Usage { calls: 1, input_tokens: cost, ..Usage::default() };
            LedgerEntry { agent: "a".to_owned(), role: None, session: None, usage }
        };
        let tree = Arc::new(Tree::new(root.clone()));
        let past = |run: &RunId, parent: Option<&RunId>, cost| PastCalls {
            run: run.clone(),
            parent: parent.cloned(),
            calls: vec![call(cost)],
            has_turn: false,
        };
        // In any order.
        tree.had_spent(vec![past(&below, Some(&child), 1), past(&root, None, 2), past(&child, Some(&root), 4)]);
        let _member = tree.join(other.clone(), root.clone());
        tree.book_call(&other, call(8));
        tree.book_call(&below, call(16));
        let used = [&root, &child, &other, &below].map(|run| tree.used(run).input_tokens);
        assert_eq!(used, [31, 21, 8, 17]);
        assert_eq!(tree.ledger().total(), tree.used(&root));
    }
}
