//! When nodes start, in virtual time.

use super::Followed;
use crate::world::EVENT;
use crate::world::LogEvent;
use interlocking_core::run_id::RunId;
use interlocking_runtime::journal::{By, Entry};
use std::collections::{BTreeMap, VecDeque};

/// The executor and the millisecond at which a record was acknowledged.
type Acknowledged<'a> = BTreeMap<(&'a RunId, u64), (u32, u64)>;

/// The milliseconds at which an execution was started by an executor.
type Started<'a> = BTreeMap<(&'a RunId, By, u32), VecDeque<u64>>;

impl Followed<'_> {
    /// Checks that every node starts at the moment when its input is complete, and again when its run is resumed, and
    /// that no other node starts.
    pub(super) fn starts(&self) -> Result<(), String> {
        let (acknowledged, mut started) = self.moments();
        for (run, oracle) in &self.runs {
            for (sequence, execution) in &oracle.starts {
                let Some(&(executor, at)) = acknowledged.get(&(run, *sequence)) else { continue };
                let node = self.account.net(run).name(execution.node).to_owned();
                let by = By { node, visit: execution.visit, attempt: execution.attempt };
                match started.get_mut(&(run, by.clone(), executor)).and_then(VecDeque::pop_front) {
                    Some(found) if found == at => {}
                    Some(found) => {
                        return Err(format!("{by} of {run} could start at {at} ms, and started at {found} ms"));
                    }
                    // The executor may have ended at that very moment, but it cannot have continued.
                    None if self.went_on(run, *sequence, executor, &acknowledged) => {
                        return Err(format!(
                            "{by} of {run} could start at {at} ms with executor {executor}, and never did"
                        ));
                    }
                    None => {}
                }
            }
        }
        match started.into_iter().find(|((_, by, _), left)| by.node != EVENT && !left.is_empty()) {
            Some(((run, by, _), left)) => Err(format!("{by} of {run} could not start, and started at {left:?}")),
            None => Ok(()),
        }
    }

    fn moments(&self) -> (Acknowledged<'_>, Started<'_>) {
        let (mut acknowledged, mut started) = (Acknowledged::new(), Started::new());
        for line in &self.account.log {
            match &line.what {
                LogEvent::Acknowledged { run, sequence } => {
                    acknowledged.insert((run, *sequence), (line.executor, line.at));
                }
                LogEvent::Started { run, by } => {
                    started.entry((run, by.clone(), line.executor)).or_default().push_back(line.at);
                }
                _ => {}
            }
        }
        (acknowledged, started)
    }

    /// Whether the executor recorded an outcome of the run after this record.
    fn went_on(&self, run: &RunId, sequence: u64, executor: u32, acknowledged: &Acknowledged<'_>) -> bool {
        let later = self.account.records[run].iter().filter(|record| record.sequence > sequence);
        let mut outcomes = later.filter(|record| matches!(record.entry, Entry::Outcome(_)));
        outcomes.any(|record| acknowledged.get(&(run, record.sequence)).is_some_and(|(other, _)| *other == executor))
    }
}
