//! What must hold after every process, and at the end.

use crate::case::{Case, undisturbed};
use crate::past::{Execution, Past};
use interlocking::agents::Usage;
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{By, Entry};
use interlocking_crash::log::{Deed, Line, Log};
use interlocking_crash::order::Ending;
use interlocking_crash::places::Places;
use std::collections::{HashMap, HashSet};

/// The log up to a line, as it concerns one process.
struct Reading<'past> {
    past: &'past Past,
    process: u32,
    /// How often each execution began before the line.
    begun: HashMap<Execution, u32>,
    /// The executions that this process began, and the visits of `check` that it paid for.
    here: HashSet<Execution>,
    paid: HashSet<(String, u32)>,
}

/// Judges the log of a process by what the journal knew when the process started.
pub(crate) async fn on_a_process(case: &Case, process: u32, past: &Past) {
    let (begun, here, paid) = Default::default();
    let mut reading = Reading { past, process, begun, here, paid };
    for line in Log::read(case.directory()).unwrap() {
        if let Err(what) = reading.take(&line) {
            panic!("process {process}: {what}: {line:?}\n{}", case.account());
        }
    }
    // `check` runs `PRAGMA integrity_check` first.
    let problems = case.journal().check().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}\n{}", case.account());
}

impl Reading<'_> {
    fn take(&mut self, line: &Line) -> Result<(), String> {
        let Line { run, node, visit, attempt, .. } = line.clone();
        let of = (run, By { node, visit, attempt });
        if line.process == self.process {
            self.judge(&of, &line.deed)?;
        }
        if matches!(line.deed, Deed::Begun { .. }) {
            *self.begun.entry(of).or_default() += 1;
        }
        Ok(())
    }

    fn judge(&mut self, of: &Execution, deed: &Deed) -> Result<(), String> {
        let (past, (run, by)) = (self.past, of);
        if past.ended.contains(run) {
            return Err("its run had ended".to_owned());
        }
        match deed {
            Deed::Begun { .. } if past.finished.contains(of) => {
                Err("it had finished, and is executed again".to_owned())
            }
            Deed::Begun { .. } if by.node == "watch" && past.calm.contains(run) => {
                Err("it had been cancelled, and is executed again".to_owned())
            }
            Deed::Begun { .. } if !self.here.insert(of.clone()) => {
                Err("it is executed twice in one process".to_owned())
            }
            Deed::Begun { restarts } => {
                // It was interrupted each time it began before, and possibly once more before its handler ran.
                let least = self.begun.get(of).copied().unwrap_or_default();
                let most = past.resumed.get(run).copied().unwrap_or_default() + 1;
                match (least..=most).contains(restarts) {
                    true => Ok(()),
                    false => Err(format!("it should say {least} to {most} restarts")),
                }
            }
            Deed::Asked if past.asked.contains(of) => Err("it had asked already".to_owned()),
            Deed::Paid => {
                let visit = (run.clone(), by.visit);
                match past.paid.contains(&visit) || !self.paid.insert(visit) {
                    true => Err("it had paid already".to_owned()),
                    false => Ok(()),
                }
            }
            Deed::Turn { continues } if *continues != past.sessions.get(of).cloned() => {
                Err(format!("its agent was in session {:?}", past.sessions.get(of)))
            }
            Deed::Wrong(what) => Err(what.clone()),
            Deed::Asked | Deed::Turn { .. } | Deed::Done => Ok(()),
        }
    }
}

/// Compares the calls of a run that has ended with those of an undisturbed run. The bill has each call that led to an outcome
/// once, and each call whose node was stopped before its outcome. It has an interrupted call without a price, if the call's
/// session was recorded.
async fn on_the_bill(case: &Case, usage: Usage, undisturbed: Usage) {
    let turns: Vec<_> = Log::read(case.directory()).unwrap().into_iter().filter(is_turn).collect();
    let begun_again = |line: &&Line| matches!(line.deed, Deed::Turn { continues: Some(_) });
    let interrupted: HashSet<_> = turns.iter().filter(begun_again).map(|line| (&line.run, line.visit)).collect();
    let mut stopped = Usage::default();
    for summary in case.journal().runs().await.unwrap() {
        for record in case.journal().load(&summary.run).await.unwrap() {
            if let Entry::Spent { calls, .. } = record.entry {
                stopped += calls.iter().map(|call| call.usage).sum();
            }
        }
    }
    let priced = |usage: Usage| usage.calls - usage.unpriced_calls;
    let told = || format!("{usage:?}, {stopped:?} of them stopped\n{}", case.account());
    assert_eq!(priced(usage), priced(undisturbed) + priced(stopped), "{}", told());
    assert_eq!(usage.cost, undisturbed.cost + stopped.cost, "{}", told());
    let without_outcome = usage.unpriced_calls + priced(stopped);
    assert!(interrupted.len() <= without_outcome as usize && usage.calls as usize <= turns.len(), "{}", told());
}

fn is_turn(line: &Line) -> bool {
    matches!(line.deed, Deed::Turn { .. })
}

/// Compares a run that has ended with an undisturbed one.
pub(crate) async fn on_the_end(case: &Case, ending: &Ending) {
    let (undisturbed, _) = undisturbed().await;
    assert_eq!(ending.outcome, undisturbed.outcome, "{}", case.account());
    assert_eq!(ending.visits, undisturbed.visits, "{}", case.account());
    on_the_bill(case, ending.usage, undisturbed.usage).await;

    let worktree = Places::new(case.directory()).worktree().unwrap();
    assert!(worktree.is_clean().unwrap(), "{}", case.account());
    let begin = worktree.repository().head().unwrap().commit.unwrap();
    let commits = worktree.repository().commits(begin..worktree.head().unwrap()).unwrap();
    let messages: Vec<_> = commits.iter().map(|commit| commit.subject()).collect();
    assert_eq!(messages, ["Edition 1", "Edition 2"], "{}", case.account());
}
