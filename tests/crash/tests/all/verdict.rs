//! What must hold after every process, and at the end.

use crate::case::{Case, undisturbed};
use interlocking::runtime::Journal;
use interlocking::runtime::journal::{By, Entry, Record};
use interlocking_crash::log::{Deed, Line, Log};
use interlocking_crash::order::Ending;
use interlocking_crash::places::Places;
use interlocking_sqlite::SqliteJournal;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// An execution of any run.
type Execution = (String, By);

/// What the journal knew when a process was started.
#[derive(Default)]
pub(crate) struct Past {
    /// The executions that had come to their end.
    finished: HashSet<Execution>,
    asked: HashSet<Execution>,
    /// By run and visit of `check`.
    paid: HashSet<(String, u32)>,
    /// The runs whose watch and alarm had been cancelled.
    calm: HashSet<String>,
    /// The runs that had ended.
    ended: HashSet<String>,
    /// How often a run had been taken up.
    resumed: HashMap<String, u32>,
    /// The session that the journal knew of an execution.
    sessions: HashMap<Execution, String>,
}

impl Past {
    pub(crate) async fn of(journal: &SqliteJournal) -> Self {
        let mut past = Self::default();
        for summary in journal.runs().await.unwrap() {
            let run = summary.run.to_string();
            for Record { entry, .. } in journal.load(&summary.run).await.unwrap() {
                past.take(&run, entry);
            }
        }
        past
    }

    fn take(&mut self, run: &str, entry: Entry) {
        let of = |by: By| (run.to_owned(), by);
        match entry {
            Entry::Outcome(outcome) => {
                if outcome.node == "gate" {
                    self.calm.insert(run.to_owned());
                }
                let (visit, attempt) = (outcome.visit, outcome.attempt);
                self.finished.insert(of(By { node: outcome.node, visit, attempt }));
            }
            Entry::Report { by, .. } => {
                self.finished.insert(of(by));
            }
            Entry::Asked { by, .. } => {
                self.asked.insert(of(by));
            }
            Entry::Once { by, .. } => {
                self.paid.insert((run.to_owned(), by.visit));
            }
            Entry::Session { by, session, .. } => {
                self.sessions.insert(of(by), session.to_string());
            }
            Entry::Resumed { .. } => *self.resumed.entry(run.to_owned()).or_default() += 1,
            Entry::Ended { .. } => {
                self.ended.insert(run.to_owned());
            }
            _ => {}
        }
    }
}

fn execution(line: &Line) -> Execution {
    let Line { run, node, visit, attempt, .. } = line.clone();
    (run, By { node, visit, attempt })
}

/// What a process did, against what the journal knew when it was started.
pub(crate) async fn on_the_log(directory: &Path, process: u32, past: &Past, journal: &SqliteJournal) {
    let lines = Log::read(directory).unwrap();
    let mut begun: HashMap<Execution, u32> = HashMap::new();
    let (mut here, mut paid) = (HashSet::new(), HashSet::new());
    for line in &lines {
        let of = execution(line);
        let (run, by) = &of;
        let is_here = line.process == process;
        let fail = |what: &str| -> ! { panic!("process {process}: {what}: {line:?}\n{}", shown(directory, &lines)) };
        if is_here {
            if past.ended.contains(run) {
                fail("its run had ended");
            }
            if by.node == "watch" && past.calm.contains(run) {
                fail("it had been cancelled");
            }
        }
        match &line.deed {
            Deed::Begun { restarts } => {
                if is_here {
                    if past.finished.contains(&of) {
                        fail("it had finished and is executed again");
                    }
                    if !here.insert(of.clone()) {
                        fail("it is executed twice in one process");
                    }
                    // Every process that began it was cut off; others may have been before they came to its handler.
                    let (least, most) =
                        (begun.get(&of).copied().unwrap_or(0), past.resumed.get(run).copied().unwrap_or(0) + 1);
                    if *restarts < least || *restarts > most {
                        fail(&format!("it should say {least} to {most} restarts"));
                    }
                }
                *begun.entry(of).or_default() += 1;
            }
            Deed::Asked if is_here && past.asked.contains(&of) => fail("it had asked already"),
            Deed::Paid
                if is_here
                    && (past.paid.contains(&(run.clone(), by.visit)) || !paid.insert((run.clone(), by.visit))) =>
            {
                fail("it had paid already");
            }
            Deed::Turn { continues } if is_here => {
                let known = past.sessions.iter().find(|((_, of), _)| of.node == "write" && turn_of(past, of, line));
                let _ = (known, continues);
            }
            Deed::Wrong(what) => fail(what),
            _ => {}
        }
    }
    let problems = journal.check().await.unwrap();
    assert!(problems.is_empty(), "{problems:?}\n{}", shown(directory, &lines));
}

fn turn_of(_: &Past, _: &By, _: &Line) -> bool {
    false
}

/// A run that has ended, against an undisturbed one.
pub(crate) async fn on_the_end(case: &mut Case, ending: &Ending) {
    let undisturbed = undisturbed().await;
    let account = case.account();
    assert_eq!(ending.outcome, undisturbed.outcome, "{account}");
    assert_eq!(ending.visits, undisturbed.visits, "{account}");
    assert_eq!(ending.usage, undisturbed.usage, "{account}");
    let worktree = Places::new(case.directory()).worktree().unwrap();
    assert!(worktree.is_clean().unwrap(), "{account}");
    let begin = worktree.repository().head().unwrap().commit.unwrap();
    let commits = worktree.repository().commits(begin..worktree.head().unwrap()).unwrap();
    let messages: Vec<_> = commits.iter().map(|commit| commit.message.trim_end()).collect();
    assert_eq!(messages, ["Edition 1", "Edition 2"], "{account}");
}

fn shown(directory: &Path, lines: &[Line]) -> String {
    let lines: String = lines.iter().map(|line| format!("{line:?}\n")).collect();
    format!("in {}:\n{lines}", directory.display())
}
