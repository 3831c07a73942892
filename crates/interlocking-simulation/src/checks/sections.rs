//! Exclusive executions, and sections: the child runs of exclusive graph nodes.

use super::Followed;
use crate::world::{LogEvent, Logged};
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry};
use std::collections::{BTreeSet, HashSet};

/// The execution of an exclusive graph node, whose child runs are its section.
type Section = (RunId, By);

impl Followed<'_> {
    /// Checks that no other exclusive execution begins between the start of the child run of an exclusive graph node
    /// and the end of that node, in any process.
    pub(super) fn sections(&self) -> Result<(), String> {
        let mut open: Option<Section> = None;
        // The first record of a child can be kept after its node was stopped.
        let mut stopped: HashSet<Section> = HashSet::new();
        for line in &self.account.log {
            if let LogEvent::Begun { run, by, .. } = &line.what
                && let Some(other) = &open
                && self.takes_turns(run, by)
                && self.section_of(run).as_ref() != Some(other)
                && (run, by) != (&other.0, &other.1)
            {
                return Err(format!("{by} of {run} begins in the middle of section {} of {}", other.1, other.0));
            }
            self.follow_section(line, &mut open, &mut stopped);
        }
        Ok(())
    }

    /// Checks that no exclusive execution begins while another of that name is at work: between its beginning and the
    /// record of its outcome, or its failure or stop. A process that ends takes its executions with it.
    pub(super) fn exclusion(&self) -> Result<(), String> {
        let (mut at_work, mut executor) = (BTreeSet::new(), 0);
        for line in &self.account.log {
            if line.executor != executor {
                (executor, at_work) = (line.executor, BTreeSet::new());
            }
            match &line.what {
                LogEvent::Begun { run, by, .. } => {
                    let Some(name) = self.exclusive(run, by) else { continue };
                    let disturbs = |(other, with, of): &(&RunId, By, &str)| {
                        let is_within = |inner: &RunId, (outer, by): (&RunId, &By)| {
                            self.section_of(inner).is_some_and(|section| (&section.0, &section.1) == (outer, by))
                        };
                        *of == name
                            && (*other, with) != (run, by)
                            && !is_within(run, (other, with))
                            && !is_within(other, (run, by))
                    };
                    if let Some((other, with, _)) = at_work.iter().find(|it| disturbs(it)) {
                        return Err(format!("{by} of {run} begins while {with} of {other} is at work"));
                    }
                    at_work.insert((run, by.clone(), name));
                }
                LogEvent::Failed { run, by, .. } | LogEvent::Cancelled { run, by } | LogEvent::Reported { run, by } => {
                    at_work.retain(|(other, with, _)| (*other, with) != (run, by));
                }
                LogEvent::Kept { run, sequence } => {
                    let record = self.account.records.get(run).and_then(|records| records.get(*sequence as usize));
                    let done = match record.map(|record| &record.entry) {
                        Some(Entry::Outcome(outcome)) => outcome.by(),
                        Some(Entry::Report { by, .. }) => by.clone(),
                        _ => continue,
                    };
                    at_work.retain(|(other, with, _)| (*other, with) != (run, &done));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The name under which an execution is exclusive.
    fn exclusive(&self, run: &RunId, by: &By) -> Option<&'static str> {
        let net = self.account.net(run);
        net.row(net.node_named(&by.node)?).exclusive.as_deref()
    }

    /// How many child runs of exclusive graph nodes have begun.
    pub(crate) fn count_sections(&self) -> usize {
        self.runs.keys().filter(|run| self.section_of(run).is_some()).count()
    }

    fn follow_section(&self, line: &Logged, open: &mut Option<Section>, stopped: &mut HashSet<Section>) {
        match &line.what {
            LogEvent::Kept { run, sequence: 0 } => {
                if let Some(section) = self.section_of(run).filter(|section| !stopped.contains(section)) {
                    *open = Some(section);
                }
            }
            LogEvent::Kept { run, sequence } => {
                let record = self.account.records[run].iter().find(|record| record.sequence == *sequence);
                let is_over = |(parent, by): &Section| match record.map(|record| &record.entry) {
                    Some(Entry::Outcome(outcome)) => parent == run && outcome.by() == *by,
                    Some(Entry::Ended { .. }) => parent == run,
                    _ => false,
                };
                *open = open.take().filter(|section| !is_over(section));
            }
            // The section also ends if its node fails or is cancelled; a suspended section continues in the next
            // process.
            LogEvent::Failed { run, by, .. } | LogEvent::Cancelled { run, by } if !self.is_done(run, by) => {
                let section = (run.clone(), by.clone());
                *open = open.take().filter(|open| *open != section);
                stopped.insert(section);
            }
            LogEvent::Begun { run, by, .. } => {
                stopped.remove(&(run.clone(), by.clone()));
            }
            _ => {}
        }
    }

    /// Whether an execution has a recorded outcome.
    fn is_done(&self, run: &RunId, by: &By) -> bool {
        let mut records = self.account.records[run].iter();
        records.any(|record| matches!(&record.entry, Entry::Outcome(outcome) if outcome.by() == *by))
    }

    /// Whether an execution is exclusive itself, or runs within an exclusive section.
    fn takes_turns(&self, run: &RunId, by: &By) -> bool {
        // The handler of a graph node begins when the node holds its turn.
        self.section_of(run).is_some() || self.exclusive(run, by).is_some()
    }

    /// The execution of the graph node whose section contains a run.
    fn section_of(&self, run: &RunId) -> Option<Section> {
        let mut run = run.clone();
        loop {
            let (parent, by) = self.account.started_by(&run)?;
            let net = self.account.net(&parent);
            let row = net.row(net.node_named(&by.node)?);
            if row.kind == NodeKind::Graph && row.exclusive.is_some() {
                return Some((parent, by));
            }
            run = parent;
        }
    }
}
