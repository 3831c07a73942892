//! What must hold of a seed beyond its records: of what was seen to happen, of how runs ended, of one weather against the other.
//!
//! - `endings`: a run ends as its records say; resumed, it says the same.
//! - `starts`: a node starts the moment that it can. `effects`: what is done is not done again.
//! - `children`: maps are given what their children came to.
//! - `retries`: who is retried with a run that had failed.
//! - `refusals`: a tree stops as a whole when its journal refuses a record, and does not go on though it takes the next.
//! - `agents`, `turn`: who asks the agent, what, and in which session; `bills`: what that has cost.
//! - `ways`: recorded or not, heard or not, it does the same.
//! - `comparison`: interrupted again and again, a run comes to what it comes to undisturbed.

mod endings;
mod starts;
mod effects;
mod children;
mod comparison;
mod agents;
mod turn;
mod bills;
mod ways;
mod retries;
mod refusals;

pub(crate) use comparison::{Compared, compare};
#[cfg(test)]
pub(crate) use ways::Happened;

use crate::history::Ended;
use crate::oracle::{Facts, Oracle};
use crate::world::{Gathered, Logged, What};
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry, Journal, Origin, Posted, Record};
use std::collections::BTreeMap;

/// What handlers were given for their children, each time, by execution.
pub(crate) type AllGathered = BTreeMap<(RunId, By), Vec<Vec<Gathered>>>;

/// A run that has ended, as the journal and the log tell of it.
pub(crate) struct Account<'e> {
    pub(crate) ended: &'e Ended,
    /// The records of the run and of all its children.
    pub(crate) records: BTreeMap<RunId, Vec<Record>>,
    pub(crate) letters: BTreeMap<RunId, Vec<Posted>>,
    pub(crate) log: Vec<Logged>,
}

/// A run whose records have been followed.
pub(crate) struct Followed<'a> {
    pub(crate) account: &'a Account<'a>,
    pub(crate) gathered: AllGathered,
    pub(crate) runs: BTreeMap<RunId, Oracle<'a>>,
}

impl<'e> Account<'e> {
    pub(crate) fn of(ended: &'e Ended) -> Result<Self, String> {
        let journal = &ended.history.journal.kept;
        let said = |error: interlocking_runtime::journal::JournalError| error.to_string();
        let (mut records, mut letters) = (BTreeMap::new(), BTreeMap::new());
        for run in ready(journal.runs()).map_err(said)? {
            records.insert(run.run.clone(), journal.records(&run.run));
            letters.insert(run.run.clone(), ready(journal.letters(&run.run, 0)).map_err(said)?);
        }
        Ok(Self { ended, records, letters, log: ended.history.world.logged() })
    }

    /// Follows all records, and looks at what follows from them.
    ///
    /// # Errors
    ///
    /// The first thing that does not hold.
    pub(crate) fn check(&self) -> Result<Followed<'_>, String> {
        let gathered = gathered(&self.log);
        let (opened, held_up) = (agents::opened(&self.log), self.held_up());
        let mut runs = BTreeMap::new();
        for (run, records) in &self.records {
            let mut oracle = Oracle::new(&self.ended.history.world, self.level(run), run.clone());
            let letters = self.letters.get(run).map(Vec::as_slice).unwrap_or_default();
            let bounded = self.ended.history.bounded;
            let facts = Facts { letters, gathered: &gathered, opened: &opened, bounded, held_up: &held_up };
            oracle.follow(records, self.entry(records)?, &facts)?;
            runs.insert(run.clone(), oracle);
        }
        let followed = Followed { account: self, gathered, runs };
        followed.ends()?;
        followed.children()?;
        followed.retries()?;
        followed.refusals()?;
        followed.starts()?;
        followed.effects()?;
        followed.messages()?;
        followed.turns()?;
        followed.bills()?;
        followed.recalled()?;
        followed.listed()?;
        Ok(followed)
    }

    fn level(&self, run: &RunId) -> usize {
        usize::from(*run != self.ended.history.root)
    }

    fn net(&self, run: &RunId) -> &'static Net {
        self.ended.history.world.nets[self.level(run)]
    }

    /// What a run starts with.
    fn entry(&self, records: &[Record]) -> Result<u64, String> {
        match records.first().map(|record| &record.entry) {
            Some(Entry::Started { origin: Some(Origin::Child { key, .. }), .. }) => {
                key.parse().map_err(|_| format!("a child's key is {key}"))
            }
            _ => Ok(self.ended.history.surroundings.entry),
        }
    }
}

fn gathered(log: &[Logged]) -> AllGathered {
    let mut all = AllGathered::new();
    for line in log {
        if let What::Gathered { run, by, children } = &line.what {
            all.entry((run.clone(), by.clone())).or_default().push(children.clone());
        }
    }
    all
}

/// What a future gives that does not wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("a journal in memory does not wait"),
    }
}
