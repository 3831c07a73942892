//! An executor stops to wait for people only when nothing else can happen (rule 17).

use super::Followed;
use super::family::{Places, before};
use interlocking_core::frontier::Execution;
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry, ending};

impl Followed<'_> {
    /// Checks that each time an executor stopped to wait, every execution of the run waited for a person, by itself or
    /// with its children.
    pub(super) fn waits(&self) -> Result<(), String> {
        let (history, kept) = (&self.account.ended.history, &self.kept.records);
        history.waited.iter().try_for_each(|at| self.run_waits(&history.root, *at, kept))
    }

    /// Checks that a run could only wait at this line of the log.
    fn run_waits(&self, run: &RunId, at: usize, kept: &Places<'_>) -> Result<(), String> {
        let records = before(&self.account.records[run], at, kept);
        let moment = records.len().checked_sub(1).and_then(|last| self.runs.get(run)?.moments.get(last));
        let moment = moment.ok_or_else(|| format!("{run} waits, and has not begun"))?;
        if ending(records).is_some() || moment.running.is_empty() || moment.is_busy_beside {
            return Err(format!("{run} waits at line {at} of the log, and nobody is asked"));
        }
        moment.running.iter().try_for_each(|execution| self.execution_waits(run, *execution, at, kept))
    }

    fn execution_waits(&self, run: &RunId, execution: Execution, at: usize, kept: &Places<'_>) -> Result<(), String> {
        let net = self.account.net(run);
        let (row, Execution { node, visit, attempt }) = (net.row(execution.node), execution);
        let by = By { node: net.name(node).to_owned(), visit, attempt };
        let busy = || Err(format!("an executor stops to wait at line {at} of the log while {by} of {run} is at work"));
        match row.kind {
            NodeKind::Human => {
                let records = before(&self.account.records[run], at, kept);
                let of = |entry: &Entry| match entry {
                    Entry::Asked { by: of, .. } => (*of == by).then_some(true),
                    Entry::Answered { by: of, .. } => (*of == by).then_some(false),
                    _ => None,
                };
                let is_open = records.iter().rev().find_map(|record| of(&record.entry)).unwrap_or_default();
                if is_open { Ok(()) } else { busy() }
            }
            NodeKind::Map | NodeKind::Graph => {
                let is_open = |child: &&RunId| {
                    let records = before(&self.account.records[*child], at, kept);
                    let is_its = self.owner_at(child, at, kept).is_some_and(|owner| owner == (run, by.clone()));
                    is_its && ending(records).is_none()
                };
                let open: Vec<&RunId> = self.runs.keys().filter(is_open).collect();
                // The others cannot begin before one of those has ended.
                let least = open.len().min(row.concurrency.map_or(usize::MAX, |limit| limit as usize));
                let (waiting, at_work): (Vec<_>, Vec<_>) =
                    open.iter().map(|child| self.run_waits(child, at, kept)).partition(Result::is_ok);
                match at_work.into_iter().next() {
                    _ if open.is_empty() => busy(),
                    Some(why) if waiting.len() < least => why,
                    _ => Ok(()),
                }
            }
            _ => busy(),
        }
    }
}
