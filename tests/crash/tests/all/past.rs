//! What the journal knew when a process was started.

use interlocking::runtime::Journal;
use interlocking::runtime::journal::{By, Entry, Record};
use std::collections::{HashMap, HashSet};

/// An execution of any run.
pub(crate) type Execution = (String, By);

/// What the journal knew when a process was started.
#[derive(Default)]
pub(crate) struct Past {
    /// The executions that had finished.
    pub(crate) finished: HashSet<Execution>,
    pub(crate) asked: HashSet<Execution>,
    /// By run and visit of `check`.
    pub(crate) paid: HashSet<(String, u32)>,
    /// The runs whose watch had been cancelled.
    pub(crate) calm: HashSet<String>,
    /// The runs that had ended.
    pub(crate) ended: HashSet<String>,
    /// How often a run had been resumed.
    pub(crate) resumed: HashMap<String, u32>,
    /// The last session that an execution's agent had begun.
    pub(crate) sessions: HashMap<Execution, String>,
}

impl Past {
    pub(crate) async fn of(journal: &dyn Journal) -> Self {
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
