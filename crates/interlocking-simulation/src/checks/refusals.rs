//! A journal that refuses for a while: the whole tree of runs stops, although the journal would take the next record.

use super::Followed;
use crate::world::LogEvent;
use interlocking_runtime::journal::Entry;

impl Followed<'_> {
    /// Checks that after a refused record the executor records no outcome of a run or of a node. It may still record
    /// what stopping leaves behind: the usage of agents, and records that were being written for a stopped node.
    pub(super) fn refusals(&self) -> Result<(), String> {
        for line in &self.account.log {
            let LogEvent::KeptAfterRefusal { run, sequence } = &line.what else { continue };
            let entry = self.account.records.get(run).and_then(|records| records.get(*sequence as usize));
            match entry.map(|record| &record.entry) {
                Some(
                    Entry::Spent { .. }
                    | Entry::Session { .. }
                    | Entry::Once { .. }
                    | Entry::Asked { .. }
                    | Entry::Answered { .. },
                ) => {}
                other => {
                    let executor = line.executor;
                    return Err(format!("executor {executor} was refused a record, and writes {other:?} of {run}"));
                }
            }
        }
        Ok(())
    }
}
