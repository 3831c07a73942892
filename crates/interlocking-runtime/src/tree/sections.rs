//! Sections: work that lasts over several executions, during which nothing else of its queue may begin, in the next process
//! neither. One kind is the child run of a graph node that is `exclusive`; [`section_rules`](crate::run::section_rules) has
//! what such a child may not do. The other kind is what a run does while it has its turn.

use crate::journal::account::family;
use crate::journal::record::{taken_by, turns};
use crate::journal::standing::standing;
use crate::journal::{By, Entry, Journal, JournalError, Origin, Record, RunSummary};
use crate::tree::turns::Queue;
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeKind, Table};

/// A section that was in progress when the process that executed it ended.
#[derive(Debug)]
pub(crate) struct Section {
    /// The queue in which the section's turn is awaited.
    pub(crate) queue: Queue,
    /// The executions that lead to the section, each with its run: from an execution of the run that was started to that of the
    /// graph node whose child is the section, or to that of the map node whose child has the turn.
    pub(crate) path: Vec<(RunId, By)>,
    /// The run that has the turn; `None` where the execution at the end of the path has it.
    pub(crate) run: Option<RunId>,
}

impl Section {
    /// Whether the section belongs to this execution.
    pub(crate) fn belongs_to(&self, run: &RunId, by: &By) -> bool {
        match &self.run {
            Some(own) => own == run,
            None => self.path.last().is_some_and(|(last, node)| last == run && node == by),
        }
    }

    /// Whether this execution leads to the section.
    pub(crate) fn leads_through(&self, run: &RunId, by: &By) -> bool {
        self.path(run) == Some(by)
    }

    /// The execution of `run` that leads to the section.
    pub(crate) fn path(&self, run: &RunId) -> Option<&By> {
        self.path.iter().find(|(other, _)| other == run).map(|(_, by)| by)
    }

    /// Whether the section is in `run`, or below it.
    pub(crate) fn is_within(&self, run: &RunId) -> bool {
        self.path(run).is_some() || self.run.as_ref() == Some(run)
    }

    /// The child run through which this execution leads to the section; `None` also where the section is the execution's own.
    pub(crate) fn child_of(&self, run: &RunId, by: &By) -> Option<&RunId> {
        let at = self.path.iter().position(|(other, node)| other == run && node == by)?;
        self.path.get(at + 1).map(|(child, _)| child).or(self.run.as_ref())
    }
}

/// The sections that were in progress in `run` and in all runs below it, according to the records: a child of a graph node that
/// is `exclusive` has begun, and its node is not done; or a run has its turn, and has not ended.
pub(crate) async fn under_way(journal: &dyn Journal, run: &RunId) -> Result<Vec<Section>, JournalError> {
    let runs = journal.runs().await?;
    let family = family(&runs, run);
    let records = journal.load(run).await?;
    let mut sections = of_run(run, &records, &[]);
    let mut open = vec![(run, records, Vec::new())];
    while let Some((run, records, path)) = open.pop() {
        // The first run of the family is not a child here, whatever the journal says.
        let children = family.iter().skip(1).copied().filter(|child| is_child(child, run));
        let children: Vec<&RunSummary> = children.collect();
        if children.is_empty() {
            continue;
        }
        let Some(table) = records.iter().rev().find_map(|record| table(&record.entry)) else { continue };
        let in_flight = standing(&records).in_flight;
        for child in children {
            let records = journal.load(&child.run).await?;
            let Some(by) = started_by(child, &records).filter(|by| in_flight.contains(by)) else { continue };
            let Some(row) = table.node(&by.node) else { continue };
            let path: Vec<_> = path.iter().cloned().chain([(run.clone(), by)]).collect();
            match &row.exclusive {
                Some(name) if row.kind == NodeKind::Graph => {
                    sections.push(Section { queue: Queue::Nodes(name.clone().into()), path, run: None });
                }
                // A section contains no other sections.
                _ if child.ended.is_none() => {
                    sections.extend(of_run(&child.run, &records, &path));
                    open.push((&child.run, records, path));
                }
                _ => {}
            }
        }
    }
    Ok(sections)
}

/// The sections that are turns of a run with these records.
fn of_run(run: &RunId, records: &[Record], path: &[(RunId, By)]) -> Vec<Section> {
    let section = |name: &String| Section {
        queue: Queue::Runs(name.clone().into()),
        path: path.to_vec(),
        run: Some(run.clone()),
    };
    turns(records).iter().map(section).collect()
}

fn is_child(child: &RunSummary, run: &RunId) -> bool {
    matches!(&child.origin, Some(Origin::Child { parent, .. }) if parent == run)
}

fn table(entry: &Entry) -> Option<&Table> {
    match entry {
        Entry::Started { table, .. } | Entry::Resumed { table: Some(table), .. } => Some(table),
        _ => None,
    }
}

/// The execution that continues a child with these records.
fn started_by(child: &RunSummary, records: &[Record]) -> Option<By> {
    taken_by(records).cloned().or_else(|| match &child.origin {
        Some(Origin::Child { node, visit, attempt, .. }) => {
            Some(By { node: node.clone(), visit: *visit, attempt: *attempt })
        }
        _ => None,
    })
}
