//! Sections: the child runs of graph nodes that are `exclusive`. Nothing else of that name begins while one is under way, in the next
//! process neither. What such a child may not do is in [`section_rules`](crate::run::section_rules).

use crate::journal::account::family;
use crate::journal::record::taken_by;
use crate::journal::standing::standing;
use crate::journal::{By, Entry, Journal, JournalError, Origin, RunSummary};
use interlocking_core::run_id::RunId;
use interlocking_core::table::{NodeKind, Table};

/// A section that was under way when the process ended which executed it.
#[derive(Debug)]
pub(crate) struct Section {
    /// The name of its turn.
    pub(crate) name: String,
    /// The executions that lead to it, each with its run: from one of the run that was started to that of the graph node.
    pub(crate) way: Vec<(RunId, By)>,
}

impl Section {
    /// Whether it is that of this execution.
    pub(crate) fn is_of(&self, run: &RunId, by: &By) -> bool {
        self.way.last().is_some_and(|(last, node)| last == run && node == by)
    }

    /// Whether this execution leads to it.
    pub(crate) fn passes(&self, run: &RunId, by: &By) -> bool {
        self.way(run) == Some(by)
    }

    /// The execution of `run` that leads to it.
    pub(crate) fn way(&self, run: &RunId) -> Option<&By> {
        self.way.iter().find(|(other, _)| other == run).map(|(_, by)| by)
    }

    /// The child run through which this execution leads to it; `None` also where it is the execution's own.
    pub(crate) fn child_of(&self, run: &RunId, by: &By) -> Option<&RunId> {
        let at = self.way.iter().position(|(other, node)| other == run && node == by)?;
        self.way.get(at + 1).map(|(child, _)| child)
    }
}

/// The sections that were under way in `run` and all below it, by the records: a child of a graph node that is `exclusive` has begun,
/// and its node is not done.
pub(crate) async fn under_way(journal: &dyn Journal, run: &RunId) -> Result<Vec<Section>, JournalError> {
    let runs = journal.runs().await?;
    let family = family(&runs, run);
    let mut sections = Vec::new();
    let mut open = vec![(run, Vec::new())];
    while let Some((run, way)) = open.pop() {
        let children = family.iter().copied().filter(|child| is_child(child, run));
        let children: Vec<&RunSummary> = children.collect();
        if children.is_empty() {
            continue;
        }
        let records = journal.load(run).await?;
        let Some(table) = records.iter().rev().find_map(|record| table(&record.entry)) else { continue };
        let in_flight = standing(&records).in_flight;
        for child in children {
            let Some(by) = started_by(journal, child).await?.filter(|by| in_flight.contains(by)) else { continue };
            let Some(row) = table.node(&by.node) else { continue };
            let way: Vec<_> = way.iter().cloned().chain([(run.clone(), by)]).collect();
            match &row.exclusive {
                Some(name) if row.kind == NodeKind::Graph => sections.push(Section { name: name.clone(), way }),
                // Within a section there are none.
                _ if child.ended.is_none() => open.push((&child.run, way)),
                _ => {}
            }
        }
    }
    Ok(sections)
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

/// The execution that goes on with a child.
async fn started_by(journal: &dyn Journal, child: &RunSummary) -> Result<Option<By>, JournalError> {
    if let Some(by) = taken_by(&journal.load(&child.run).await?) {
        return Ok(Some(by.clone()));
    }
    Ok(match &child.origin {
        Some(Origin::Child { node, visit, attempt, .. }) => {
            Some(By { node: node.clone(), visit: *visit, attempt: *attempt })
        }
        _ => None,
    })
}
