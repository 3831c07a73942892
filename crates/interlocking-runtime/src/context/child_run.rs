//! The child runs that a run's nodes have started, as the journal has them.

use crate::journal::record::taken_by;
use crate::journal::{By, Journal, JournalError, Origin, RunSummary};
use interlocking_core::run_id::RunId;
use std::collections::BTreeMap;

/// A child run that a node has started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildRun {
    /// The run.
    pub run: RunId,
    /// The execution that started the run; if a map has adopted the run, the execution that adopted it last.
    pub by: By,
    /// The key of the run's item; for the child of a graph node, the node's name.
    pub key: String,
    /// Which of the items with this key it is, 1-based.
    pub number: u32,
    /// How the run ended: `finished`, `failed` or `cancelled`; `None` where it has not ended.
    pub ended: Option<String>,
    /// The commits of the run in its workspaces, by the name of the workspace.
    pub workspaces: BTreeMap<String, Committed>,
}

/// The commits that the journal has of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The commit at which the run began to work there.
    pub base: String,
    /// The commit that counts.
    pub head: String,
}

/// The children that a node has started: those of earlier executions first, then in the order of their keys.
pub(crate) async fn children_of(
    journal: &dyn Journal,
    parent: &RunId,
    node: &str,
) -> Result<Vec<ChildRun>, JournalError> {
    let mut children = Vec::new();
    for summary in journal.children(parent).await? {
        if matches!(&summary.origin, Some(Origin::Child { node: starts, .. }) if starts == node) {
            children.extend(read(journal, summary).await?);
        }
    }
    let place = |child: &ChildRun| (child.by.visit, child.by.attempt, child.key.clone(), child.number);
    children.sort_by_key(place);
    Ok(children)
}

async fn read(journal: &dyn Journal, summary: RunSummary) -> Result<Option<ChildRun>, JournalError> {
    let RunSummary { run, origin: Some(Origin::Child { node, visit, attempt, key, number, .. }), ended, .. } = summary
    else {
        return Ok(None);
    };
    let records = journal.load(&run).await?;
    let by = taken_by(&records).cloned().unwrap_or(By { node, visit, attempt });
    let mut workspaces: BTreeMap<String, Committed> = BTreeMap::new();
    for commit in records.iter().flat_map(|record| record.entry.commits()) {
        let begun = || Committed { base: commit.id.clone(), head: commit.id.clone() };
        workspaces.entry(commit.workspace.clone()).or_insert_with(begun).head.clone_from(&commit.id);
    }
    Ok(Some(ChildRun { run, by, key, number, ended, workspaces }))
}
