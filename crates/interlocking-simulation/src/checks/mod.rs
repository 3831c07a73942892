//! The checks of a seed beyond its records: of the log, of the ends of runs, and of one weather against the other.
//!
//! - `endings`: a run ends as its records say, and reports the same when it is resumed.
//! - `sections`: exclusive executions and sections do not overlap.
//! - `waiting`: an executor stops to wait for people only when nothing else can happen.
//! - `starts`: a node starts as soon as it can. `effects`: recorded effects are not repeated.
//! - `children`: maps and graph nodes get the results of their children. `family`: whose they are; `cancellations`:
//!   which are stopped; `adoption`: which are taken over, and how many work at once.
//! - `retries`: which children are retried with a failed run.
//! - `refusals`: a tree of runs stops as a whole when its journal refuses a record, even if the journal takes the next.
//! - `agents`, `turn`: requests to the agent and their sessions; `bills`: their cost.
//! - `ways`: a run does the same with and without a journal and an event sink.
//! - `comparison`: an interrupted run has the same result as an undisturbed run.

mod endings;
mod starts;
mod effects;
mod waiting;
mod family;
mod cancellations;
mod adoption;
mod children;
mod comparison;
mod agents;
mod turn;
mod bills;
mod ways;
mod retries;
mod refusals;
mod sections;

pub(crate) use comparison::{Compared, compare};
#[cfg(test)]
pub(crate) use ways::Happened;

use self::effects::Kept;
use crate::history::Ended;
use crate::oracle::{Facts, Oracle};
use crate::world::{Gathered, LogEvent, Logged};
use interlocking_core::failure::ChildFailure;
use interlocking_core::frontier::Execution;
use interlocking_core::net::Net;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry, Journal, Origin, Posted, Record};
use std::collections::BTreeMap;

/// The results of children that the handlers of map nodes got, each time, by execution.
pub(crate) type AllGathered = BTreeMap<(RunId, By), Vec<Vec<Gathered>>>;

/// The result of the child that the handler of a graph node got last, by execution.
pub(crate) type Given = BTreeMap<(RunId, By), u64>;

/// The ends of the children of executions, each time, by execution.
pub(crate) type Endings = BTreeMap<(RunId, By), Vec<ChildEnding>>;

/// The end of a child: a failure, or `Ok` if it finished.
pub(crate) type ChildEnding = Result<(), ChildFailure>;

/// A run that has ended, with its journal and its log.
pub(crate) struct Account<'e> {
    pub(crate) ended: &'e Ended,
    /// The records of the run and of all its children.
    pub(crate) records: BTreeMap<RunId, Vec<Record>>,
    pub(crate) letters: BTreeMap<RunId, Vec<Posted>>,
    pub(crate) log: Vec<Logged>,
}

/// A run whose records the oracle has followed.
pub(crate) struct Followed<'a> {
    pub(crate) account: &'a Account<'a>,
    pub(crate) gathered: AllGathered,
    pub(crate) given: Given,
    pub(crate) runs: BTreeMap<RunId, Oracle<'a>>,
    kept: Kept<'a>,
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

    /// Follows all records, and runs all checks.
    ///
    /// # Errors
    ///
    /// The first violated check.
    pub(crate) fn check(&self) -> Result<Followed<'_>, String> {
        let (gathered, given, endings) = (gathered(&self.log), given(&self.log), self.endings());
        let (opened, held_up) = (agents::opened(&self.log), self.held_up());
        let mut runs = BTreeMap::new();
        for (run, records) in &self.records {
            let mut oracle = Oracle::new(&self.ended.history.world, self.level(run), run.clone());
            let letters = self.letters.get(run).map(Vec::as_slice).unwrap_or_default();
            let bounded = self.ended.history.bounded;
            let children = (&given, &endings);
            let (gathered, opened, held_up, log) = (&gathered, &opened, &held_up, &self.log);
            let facts = Facts { letters, gathered, children, opened, bounded, held_up, log };
            oracle.follow(records, self.entry(records)?, &facts)?;
            runs.insert(run.clone(), oracle);
        }
        let followed = Followed { account: self, gathered, given, runs, kept: Kept::of(self)? };
        followed.ends()?;
        followed.adoption()?;
        followed.concurrency()?;
        followed.cancellations()?;
        followed.waits()?;
        followed.children()?;
        followed.retries()?;
        followed.refusals()?;
        followed.sections()?;
        followed.exclusion()?;
        followed.starts()?;
        followed.effects()?;
        followed.messages()?;
        followed.turns()?;
        followed.bills()?;
        followed.recalled()?;
        followed.listed()?;
        Ok(followed)
    }

    /// The ends of children according to their records.
    fn endings(&self) -> Endings {
        let mut all = Endings::new();
        for (run, records) in &self.records {
            let Some(of) = self.started_by(run) else { continue };
            let endings = records.iter().filter_map(|record| match &record.entry {
                Entry::Ended { failure: Some(failure), .. } => {
                    Some(Err(ChildFailure::Failed(Box::new(failure.clone()))))
                }
                Entry::Ended { cancelled: true, .. } => Some(Err(ChildFailure::Cancelled)),
                Entry::Ended { .. } => Some(Ok(())),
                _ => None,
            });
            all.entry(of).or_default().extend(endings);
        }
        all
    }

    /// The parent of a run, and the execution that started it.
    fn started_by(&self, run: &RunId) -> Option<(RunId, By)> {
        match self.records.get(run)?.first().map(|record| &record.entry) {
            Some(Entry::Started { origin: Some(Origin::Child { parent, node, visit, attempt, .. }), .. }) => {
                Some((parent.clone(), By { node: node.clone(), visit: *visit, attempt: *attempt }))
            }
            _ => None,
        }
    }

    fn level(&self, run: &RunId) -> usize {
        usize::from(*run != self.ended.history.root)
    }

    pub(crate) fn net(&self, run: &RunId) -> &'static Net {
        self.ended.history.world.nets[self.level(run)]
    }

    /// The entry of a run.
    fn entry(&self, records: &[Record]) -> Result<u64, String> {
        match records.first().map(|record| &record.entry) {
            Some(Entry::Started { origin: Some(Origin::Child { parent, node, visit, attempt, key, .. }), .. }) => {
                let (net, world) = (self.net(parent), &self.ended.history.world);
                let index = net.node_named(node).ok_or_else(|| format!("there is no node {node}"))?;
                if net.row(index).kind != NodeKind::Graph {
                    return key.parse().map_err(|_| format!("a child's key is {key}"));
                }
                if key != node {
                    return Err(format!("the key of the child of graph node {node} is {key}"));
                }
                let execution = Execution { node: index, visit: *visit, attempt: *attempt };
                Ok(world.choice_after(self.level(parent), parent, execution, 0).entry)
            }
            _ => Ok(self.ended.history.surroundings.entry),
        }
    }
}

impl Followed<'_> {
    /// Whether this line is about a handler that ended although a join had cancelled its execution at a quorum.
    pub(crate) fn is_too_late(&self, line: &Logged) -> bool {
        let LogEvent::Left { run, by } = &line.what else { return false };
        let node = self.account.net(run).node_named(&by.node);
        let is_loser = |node| self.runs.get(run)?.losers.get(&(node, by.visit, by.attempt));
        node.and_then(is_loser).is_some()
    }
}

fn given(log: &[Logged]) -> Given {
    let mut all = Given::new();
    for line in log {
        if let LogEvent::Given { run, by, number } = &line.what {
            all.insert((run.clone(), by.clone()), *number);
        }
    }
    all
}

fn gathered(log: &[Logged]) -> AllGathered {
    let mut all = AllGathered::new();
    for line in log {
        if let LogEvent::Gathered { run, by, children } = &line.what {
            all.entry((run.clone(), by.clone())).or_default().push(children.clone());
        }
    }
    all
}

/// The result of a future that is ready at once.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => unreachable!("a journal in memory does not wait"),
    }
}
