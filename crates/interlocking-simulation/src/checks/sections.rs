//! Sections: the child runs of exclusive graph nodes.

use super::Followed;
use crate::world::{LogEvent, Logged};
use interlocking_core::run_id::RunId;
use interlocking_core::table::NodeKind;
use interlocking_runtime::journal::{By, Entry};
use std::collections::HashSet;

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
        let net = self.account.net(run);
        let row = net.node_named(&by.node).map(|node| net.row(node));
        // The handler of a graph node begins when the node holds its turn.
        self.section_of(run).is_some() || row.is_some_and(|row| row.exclusive.is_some())
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
