//! Children that nobody needs any more: they are stopped at once and come to an end, and no other child is cancelled
//! (rule 15).

use super::Followed;
use super::family::Places;
use crate::world::{LogEvent, Logged};
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::By;

impl Followed<'_> {
    /// Checks that a child is cancelled only if that was requested or nobody needs it, that a child that nobody needs
    /// begins nothing, and that every child has an end once the whole run has one.
    pub(super) fn cancellations(&self) -> Result<(), String> {
        let (root, kept) = (&self.account.ended.history.root, &self.kept.records);
        for (nth, line) in self.account.log.iter().enumerate() {
            match &line.what {
                LogEvent::Kept { run, sequence } if run != root => {
                    let record = self.account.records.get(run).and_then(|records| records.get(*sequence as usize));
                    let is_cancelled = record.and_then(|record| record.entry.ending()) == Some("cancelled");
                    if is_cancelled && !self.account.ended.history.cancelled && self.is_needed(run, nth, kept) {
                        return Err(format!("{run} is cancelled, and nobody has asked for that"));
                    }
                }
                // An advisory node goes on after the end of its run.
                LogEvent::Begun { run, by, .. } if run != root && !self.is_advisory(run, by) => {
                    let (start, now) = (self.start_of_moment(nth, line), nth);
                    if !self.is_needed(run, now, kept) && !self.is_needed(run, start, kept) {
                        return Err(format!("{by} of {run} begins, and nobody needs {run}, at line {nth} of the log"));
                    }
                }
                _ => {}
            }
        }
        let has_no_end = |run: &&RunId| self.runs[*run].ended.is_none();
        match self.runs.keys().find(has_no_end).filter(|_| self.runs.contains_key(root)) {
            Some(run) => Err(format!("{run} has no end, and the run has one")),
            None => Ok(()),
        }
    }

    /// Whether the execution that owns a child needs it at this line of the log, and so on up to the root.
    fn is_needed(&self, child: &RunId, at: usize, kept: &Places<'_>) -> bool {
        let Some((parent, by)) = self.owner_at(child, at, kept) else { return true };
        self.attends((parent, &by), child, at, kept) && self.is_needed(parent, at, kept)
    }

    fn is_advisory(&self, run: &RunId, by: &By) -> bool {
        let net = self.account.net(run);
        net.node_named(&by.node).is_some_and(|node| net.row(node).kind == NodeKind::Advisory)
    }

    /// The first line of the moment of line `nth`: handlers that begin at the same millisecond as a record do not know
    /// of it.
    fn start_of_moment(&self, nth: usize, line: &Logged) -> usize {
        let is_earlier = |other: &Logged| other.executor != line.executor || other.at != line.at;
        self.account.log[..nth].iter().rposition(is_earlier).map_or(0, |before| before + 1)
    }
}
