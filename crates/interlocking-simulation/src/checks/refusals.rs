//! A journal that refuses for a while: the whole tree of runs stops where it stands, though it would take what comes next.

use super::Followed;
use crate::world::What;
use interlocking_runtime::journal::Entry;

impl Followed<'_> {
    /// Once a record was refused, none of that executor says that anything came of a run or of a node. What stopping leaves behind may be
    /// said: what agents had used up, and what was being written for a node that was stopped.
    pub(super) fn refusals(&self) -> Result<(), String> {
        for line in &self.account.log {
            let What::KeptAfterRefusal { run, sequence } = &line.what else { continue };
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
