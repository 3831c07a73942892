//! Child runs: what they are called, how they are run, and what is made of their ends.

use crate::conduct::execute;
use crate::journal::{Entry, Journal, JournalError, Origin, Record, ending};
use crate::outcome::Outcome;
use crate::prepare::Begin;
use crate::settings::Settings;
use crate::tree::Tree;
use interlocking_core::failure::Failure;
use interlocking_core::graph::Graph;
use interlocking_core::run_id::RunId;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use thiserror::Error;

/// How a child run failed.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChildFailure {
    /// One of its nodes failed.
    #[error(transparent)]
    Failed(Box<Failure>),
    /// It was cancelled by itself, and not with its parent.
    #[error("the child run was cancelled")]
    Cancelled,
    /// It would be nested deeper than its map node's `depth` says.
    #[error("the child run would be nested more than {limit} deep, which `depth = {limit}` forbids")]
    TooDeep {
        /// The node's `depth`.
        limit: u32,
    },
    /// It could not be started, or taken up again.
    #[error("the child run did not start: {reason}")]
    NotStarted {
        /// Why.
        reason: String,
    },
}

/// The name of a child: the same whenever the same node of the same run has an item of that key.
pub(crate) fn child_id(root: &RunId, parent: &RunId, node: &str, key: &str) -> RunId {
    let mut hash = Fnv::default();
    for part in [parent.as_str(), node, key] {
        hash.write(part.as_bytes());
        hash.write(&[0]);
    }
    let root: String = root.as_str().chars().take(RunId::MAX_LENGTH - 17).collect();
    // Without what a cut may have left at its end, a hyphen, it is a run id again.
    let name = format!("{}-{:016x}", root.trim_end_matches('-'), hash.0);
    name.parse().unwrap_or_else(|_| parent.clone())
}

/// FNV-1a: what makes the same name today and in the next version, which the standard library's hash need not.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Which child of a run: its map node, that node's visit, and its item's key.
pub(crate) struct Kin {
    pub(crate) parent: RunId,
    pub(crate) node: &'static str,
    pub(crate) visit: u32,
    pub(crate) key: String,
}

/// A child's run, and what it ended with.
type ChildEnd<O> = (RunId, Result<O, ChildFailure>);

/// Runs a child to its end, or takes up where it was. Boxed, which is what lets a graph be its own child.
pub(crate) fn run_child<C: Graph>(
    graph: Arc<C>,
    mut settings: Box<Settings>,
    kin: Kin,
    entry: C::Entry,
) -> Pin<Box<dyn Future<Output = ChildEnd<C::Output>> + Send>> {
    Box::pin(async move {
        let tree = settings.tree().clone();
        let run = match current(&settings, &kin).await {
            Ok(run) => run,
            Err(error) => {
                let run = child_id(&tree.root, &kin.parent, kin.node, &kin.key);
                return (run, Err(ChildFailure::NotStarted { reason: error.to_string() }));
            }
        };
        // One that was stopped a moment ago may not have let go of its run.
        tree.left(&run).await;
        settings.run = run.clone();
        let Kin { parent, node, visit, key } = kin;
        let origin = Origin::Child { parent, node: node.to_owned(), visit, key };
        let result = match execute(graph, settings, Begin::Child { entry, origin }).await {
            Err(error) => Err(ChildFailure::NotStarted { reason: error.to_string() }),
            Ok(report) => match report.outcome {
                Outcome::Finished(output) => Ok(output),
                Outcome::Failed(failure) => Err(ChildFailure::Failed(Box::new(failure))),
                Outcome::Cancelled => Err(ChildFailure::Cancelled),
                // The whole tree stops where it stands, and this with it.
                _ => std::future::pending().await,
            },
        };
        (run, result)
    })
}

/// The run of a child: the first that has not failed before the node's present visit.
async fn current(settings: &Settings, kin: &Kin) -> Result<RunId, JournalError> {
    let mut key = kin.key.clone();
    for again in 2_u32.. {
        let run = child_id(&settings.tree().root, &kin.parent, kin.node, &key);
        let Some(journal) = &settings.journal else { return Ok(run) };
        let records = journal.load(&run).await?;
        let started = records.first().map(|record| &record.entry);
        let earlier = matches!(
            started,
            Some(Entry::Started { origin: Some(Origin::Child { visit, .. }), .. }) if *visit < kin.visit
        );
        let ending = ending(&records);
        if !earlier || !matches!(ending, Some("failed" | "cancelled")) {
            return Ok(run);
        }
        key = format!("{}~{again}", kin.key);
    }
    unreachable!("a map node is not entered so often")
}

/// Ends the children of a run that has ended itself: those that its map nodes left behind, and theirs (rule 15).
pub(crate) fn end_children<'a>(
    journal: &'a dyn Journal,
    tree: &'a Tree,
    parent: &'a RunId,
) -> Pin<Box<dyn Future<Output = Result<(), JournalError>> + Send + 'a>> {
    Box::pin(async move {
        for child in journal.children(parent).await? {
            if child.ended.is_some() {
                continue;
            }
            tree.left(&child.run).await;
            let _claim = match journal.claim(&child.run).await {
                Ok(claim) => claim,
                // Somebody else works on it, and will see how it ends.
                Err(JournalError::Held { .. }) => continue,
                Err(error) => return Err(error),
            };
            let records = journal.load(&child.run).await?;
            // Addenda may have come after its end.
            if ending(&records).is_some() {
                continue;
            }
            end_children(journal, tree, &child.run).await?;
            let sequence = records.len() as u64;
            let entry = Entry::Ended { output: None, failure: None, cancelled: true };
            journal.append(Record { run: child.run, sequence, entry }).await?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_called_the_same_whenever_it_is_the_same() {
        let root: RunId = "r".parse().unwrap();
        let one = child_id(&root, &root, "children", "a");
        assert_eq!(one, child_id(&root, &root, "children", "a"));
        assert_eq!(one.as_str(), "r-29f20020aff60e81", "it must stay so between versions: journals hold it");
        for other in [child_id(&root, &one, "children", "a"), child_id(&root, &root, "child", "rena")] {
            assert_ne!(one, other);
        }
        let long: RunId = format!("{}-{}", "x".repeat(46), "y".repeat(17)).parse().unwrap();
        assert!(child_id(&long, &long, "n", "k").as_str().starts_with(&format!("{}-", "x".repeat(46))));
    }
}
