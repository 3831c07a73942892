//! A run with all its children: who belongs to it, what its people are asked, and what stopped it as a whole.

pub(crate) mod past_calls;
pub(crate) mod end_children;
pub(crate) mod child;
pub(crate) mod idle;

use crate::cancel::CancelToken;
use crate::journal::question::OpenQuestion;
use crate::journal::{By, Journal, JournalError};
use crate::limits::allowance::Stopped;
use crate::run::claims::Leaving;
use crate::tree::past_calls::PastCalls;
use interlocking_agents::{Ledger, LedgerEntry};
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// What the runs of one tree share beside their settings.
pub(crate) struct Tree {
    pub(crate) root: RunId,
    /// The child runs that are being executed.
    members: Mutex<BTreeMap<RunId, Member>>,
    questions: Mutex<BTreeMap<(RunId, By), OpenQuestion>>,
    /// Why no run of the tree goes on, though none has ended; the first reason counts, but for a journal that failed.
    halt: Mutex<Option<Halt>>,
    pub(crate) halted: CancelToken,
    /// Why executions are held back, if any are.
    short: Mutex<Option<Stopped>>,
    /// Told when a run is executed no more.
    left: Notify,
    usage_guard: Mutex<UsageGuard>,
    /// By run: how many tasks of children of its have not ended.
    tasks: Mutex<BTreeMap<RunId, usize>>,
    /// Requested when the run that was started is dropped before its end.
    pub(crate) abandoned: CancelToken,
    /// The journal of the runs that are on their way down then.
    abandoned_in: OnceLock<Arc<dyn Journal>>,
}

/// What all runs of a tree have used up.
#[derive(Default)]
struct UsageGuard {
    /// In the order in which they ended, whether or not the run is still executed.
    calls: Vec<(RunId, LedgerEntry)>,
    /// By child run.
    parents: BTreeMap<RunId, RunId>,
}

/// The task of a child. It has ended when this is dropped.
pub(crate) struct ChildTask {
    tree: Arc<Tree>,
    parent: RunId,
}

/// A child run that is being executed.
struct Member {
    parent: RunId,
    /// The last letter that it has taken up, once its journal has the run, so that others can write to it.
    letters: Option<u64>,
    /// Once the run that was started is dropped: then this one is, too, as soon as its task gets to it.
    leaving: Option<Leaving>,
}

/// Why a run does not go on, though it has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Somebody asked for it.
    Suspended,
    /// Every live token waits for a person; what they were asked then.
    Waiting(Vec<OpenQuestion>),
    /// What it may use is used up.
    Stopped(Stopped),
    /// A journal failed.
    Journal(JournalError),
}

/// A child run that is being executed. It is no more when this is dropped.
pub(crate) struct Membership {
    tree: Arc<Tree>,
    run: RunId,
}

/// An execution that waits for an answer. Its question is open no more when this is dropped.
pub(crate) struct Asking<'tree> {
    tree: &'tree Tree,
    asked: (RunId, By),
}

impl Tree {
    pub(crate) fn new(root: RunId) -> Self {
        let (members, questions, halt, halted, short, left) = Default::default();
        let (usage_guard, tasks, abandoned, abandoned_in) = Default::default();
        Self { root, members, questions, halt, halted, short, left, usage_guard, tasks, abandoned, abandoned_in }
    }

    pub(crate) fn join(self: &Arc<Self>, run: RunId, parent: RunId) -> Membership {
        lock(&self.usage_guard).parents.insert(run.clone(), parent.clone());
        let mut members = lock(&self.members);
        let leaving = self.abandoned_in.get().map(|journal| Leaving::new(journal, &run));
        members.insert(run.clone(), Member { parent, letters: None, leaving });
        drop(members);
        Membership { tree: self.clone(), run }
    }

    /// The run that was started is dropped before its end, and with it all others, which are recorded there.
    pub(crate) fn abandon(&self, journal: Option<&Arc<dyn Journal>>) {
        if let Some(journal) = journal {
            let mut members = lock(&self.members);
            let journal = self.abandoned_in.get_or_init(|| journal.clone());
            members.iter_mut().for_each(|(run, member)| member.leaving = Some(Leaving::new(journal, run)));
        }
        self.abandoned.cancel();
    }

    pub(crate) fn parent(&self, run: &RunId) -> Option<RunId> {
        lock(&self.members).get(run).map(|member| member.parent.clone())
    }

    pub(crate) fn siblings(&self, run: &RunId) -> Vec<RunId> {
        let members = lock(&self.members);
        let Some(Member { parent, .. }) = members.get(run) else { return Vec::new() };
        let others = members
            .iter()
            .filter(|(other, member)| member.letters.is_some() && member.parent == *parent && *other != run);
        others.map(|(other, _)| other.clone()).collect()
    }

    /// A child run has taken a letter up. What the root knows otherwise.
    pub(crate) fn has_read(&self, run: &RunId, letter: u64) {
        if let Some(member) = lock(&self.members).get_mut(run) {
            member.letters = member.letters.max(Some(letter));
        }
    }

    /// The child runs that others can write to, and the last letter that each has taken up.
    pub(crate) fn read(&self) -> Vec<(RunId, u64)> {
        let members = lock(&self.members);
        members.iter().filter_map(|(run, member)| Some((run.clone(), member.letters?))).collect()
    }

    /// Waits until `run` is not being executed.
    pub(crate) async fn left(&self, run: &RunId) {
        self.wait_until(|members| !members.contains_key(run)).await;
    }

    /// Whether any child run is being executed but `run`.
    pub(crate) fn has_others(&self, run: &RunId) -> bool {
        lock(&self.members).keys().any(|other| other != run)
    }

    /// Waits until no child run is being executed but `run`.
    pub(crate) async fn alone(&self, run: &RunId) {
        self.wait_until(|members| members.keys().all(|other| other == run)).await;
    }

    /// A child of `parent` has a task of its own.
    pub(crate) fn has_task(self: &Arc<Self>, parent: RunId) -> ChildTask {
        *lock(&self.tasks).entry(parent.clone()).or_default() += 1;
        ChildTask { tree: self.clone(), parent }
    }

    /// Waits until no child of `parent` has a task.
    pub(crate) async fn childless(&self, parent: &RunId) {
        loop {
            let mut told = std::pin::pin!(self.left.notified());
            told.as_mut().enable();
            if !lock(&self.tasks).contains_key(parent) {
                return;
            }
            told.await;
        }
    }

    /// A call has ended.
    pub(crate) fn spent(&self, run: &RunId, call: LedgerEntry) {
        lock(&self.usage_guard).calls.push((run.clone(), call));
    }

    /// Calls were made before this process.
    pub(crate) fn had_spent(&self, past: Vec<PastCalls>) {
        let mut usage_guard = lock(&self.usage_guard);
        for PastCalls { run, parent, calls } in past {
            usage_guard.calls.extend(calls.into_iter().map(|call| (run.clone(), call)));
            usage_guard.parents.extend(parent.map(|parent| (run, parent)));
        }
    }

    /// The calls of a run, and of all runs below it.
    pub(crate) fn ledger(&self, run: &RunId) -> Ledger {
        let usage_guard = lock(&self.usage_guard);
        let is_below = |other: &RunId| {
            let mut above = Some(other);
            while let Some(other) = above.filter(|other| *other != run) {
                above = usage_guard.parents.get(other);
            }
            above.is_some()
        };
        let mut ledger = Ledger::default();
        let calls = usage_guard.calls.iter().filter(|(other, _)| *run == self.root || is_below(other));
        calls.for_each(|(_, call)| ledger.record(call.clone()));
        ledger
    }

    async fn wait_until(&self, is_so: impl Fn(&BTreeMap<RunId, Member>) -> bool) {
        loop {
            let mut told = std::pin::pin!(self.left.notified());
            told.as_mut().enable();
            if is_so(&lock(&self.members)) {
                return;
            }
            told.await;
        }
    }

    /// A question is open, until what this gives is dropped, or [sooner](Self::asks_no_more).
    pub(crate) fn asks(&self, question: OpenQuestion) -> Asking<'_> {
        let asked = (question.run.clone(), question.by.clone());
        lock(&self.questions).insert(asked.clone(), question);
        Asking { tree: self, asked }
    }

    pub(crate) fn asks_no_more(&self, run: &RunId, by: &By) {
        lock(&self.questions).remove(&(run.clone(), by.clone()));
    }

    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        lock(&self.questions).values().cloned().collect()
    }

    /// An execution may not go on: what the runs may use is used up.
    pub(crate) fn hold_back(&self, stopped: Stopped) {
        lock(&self.short).get_or_insert(stopped);
    }

    /// Why executions are held back, if any are.
    pub(crate) fn held_back_by(&self) -> Option<Stopped> {
        lock(&self.short).clone()
    }

    /// Stops every run of the tree where it stands.
    pub(crate) fn halt(&self, halt: Halt) {
        let mut reason = lock(&self.halt);
        let is_journals = |halt: &Halt| matches!(halt, Halt::Journal(_));
        if reason.as_ref().is_none_or(|known| is_journals(&halt) && !is_journals(known)) {
            *reason = Some(halt);
        }
        drop(reason);
        self.halted.cancel();
    }

    /// A run of the tree has had this error of its journal: no run goes on, unless it was asked for what cannot be.
    pub(crate) fn had(&self, error: &JournalError) {
        if !error.is_refusal() {
            self.halt(Halt::Journal(error.clone()));
        }
    }

    /// How a journal of the tree failed, if one did.
    pub(crate) fn journal_error(&self) -> Option<JournalError> {
        if !self.halted.is_cancelled() {
            return None;
        }
        match &*lock(&self.halt) {
            Some(Halt::Journal(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// Why the tree was stopped.
    pub(crate) fn halted_by(&self) -> Option<Halt> {
        lock(&self.halt).clone()
    }
}

impl Membership {
    /// The run's journal has it, and it has taken up the letters until this one.
    pub(crate) fn is_recorded(&self, letters: u64) {
        if let Some(member) = lock(&self.tree.members).get_mut(&self.run) {
            member.letters = Some(letters);
        }
    }
}

impl Drop for ChildTask {
    fn drop(&mut self) {
        let mut tasks = lock(&self.tree.tasks);
        if let Some(count) = tasks.get_mut(&self.parent) {
            *count -= 1;
            if *count == 0 {
                tasks.remove(&self.parent);
            }
        }
        drop(tasks);
        self.tree.left.notify_waiters();
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        lock(&self.tree.questions).remove(&self.asked);
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        lock(&self.tree.members).remove(&self.run);
        self.tree.left.notify_waiters();
    }
}

/// What these locks guard is whole between two statements, whoever panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
