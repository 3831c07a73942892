//! Child runs: their names, how they are run, and how their ends are handled.

use crate::erased::graph_type::{AnyGraph, AnyValue, GraphType};
use crate::journal::record::taken_by;
use crate::journal::{By, Journal, JournalError, Origin, RunSummary};
use crate::run::claims;
use crate::run::execute::execute_erased;
use crate::run::outcome::Outcome;
use crate::run::prepare::Begin;
use crate::run::settings::Settings;
use crate::run::start_error::StartError;
use crate::tree::Tree;
use crate::tree::end_children::end_child;
use interlocking_core::failure::ChildFailure;
use interlocking_core::run_id::RunId;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

/// Identifies a child of a run: the node that runs it, that node's execution, the key of its item, and its number among the
/// items with that key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChildIdentity<'run> {
    pub(crate) parent: &'run RunId,
    pub(crate) node: &'static str,
    pub(crate) visit: u32,
    pub(crate) attempt: u32,
    pub(crate) key: String,
    pub(crate) number: u32,
}

impl ChildIdentity<'_> {
    /// The origin that the journal records.
    pub(crate) fn origin(self) -> Origin {
        let Self { parent, node, visit, attempt, key, number } = self;
        Origin::Child { parent: parent.clone(), node: node.to_owned(), visit, attempt, key, number }
    }
}

/// The name of a new child. Each part is hashed with its length, so that no part runs into the next. `others` counts the names
/// before this one that belong to other runs.
pub(crate) fn child_id(root: &RunId, identity: &ChildIdentity<'_>, others: u32) -> RunId {
    let mut hash = Fnv::default();
    for part in [identity.parent.as_str(), identity.node, &identity.key] {
        hash.write(&(part.len() as u64).to_le_bytes());
        hash.write(part.as_bytes());
    }
    for number in [identity.visit, identity.attempt, identity.number, others] {
        hash.write(&number.to_le_bytes());
    }
    let root: String = root.as_str().chars().take(RunId::MAX_LENGTH - 17).collect();
    // The cut may leave a hyphen at the end. Without it, the name is a run id again.
    let name = format!("{}-{:016x}", root.trim_end_matches('-'), hash.0);
    name.parse().unwrap_or_else(|_| identity.parent.clone())
}

/// The name of a child that is run anew, `times` times after `before`: the same name with its number, which is `-2` after a
/// first run.
pub(crate) fn anew_id(before: &RunId, times: u32) -> RunId {
    let name = before.as_str();
    let number = |name: &str| name.parse::<u32>().ok().filter(|number| *number > 1 && *name == number.to_string());
    let (first, number) = match name.rsplit_once('-').map(|(first, last)| (first, number(last))) {
        Some((first, Some(number))) => (first, number),
        _ => (name, 1),
    };
    let suffix = format!("-{}", number.saturating_add(times));
    // The end distinguishes the name from those of its siblings; the beginning is the root's name, which may be cut.
    let (root, own) = first.split_at(first.len().saturating_sub(17));
    let root: String = root.chars().take(RunId::MAX_LENGTH.saturating_sub(own.len() + suffix.len())).collect();
    format!("{}{own}{suffix}", root.trim_end_matches('-')).parse().unwrap_or_else(|_| before.clone())
}

/// FNV-1a, which makes the same name in every version. The standard library's hash does not promise that.
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

/// Boxed, so that a graph can be its own child.
type Running = Pin<Box<dyn Future<Output = Option<Result<AnyValue, ChildFailure>>> + Send>>;

/// Runs a child to its end for an execution of its map node, or resumes it; `None` if the child stops without having ended,
/// with its map node or with the whole tree.
pub(crate) fn run_child(
    graph_type: &'static dyn GraphType,
    graph: AnyGraph,
    settings: Box<Settings>,
    origin: Origin,
    taken_by: By,
    entry: AnyValue,
) -> Running {
    Box::pin(async move {
        let (tree, run) = (settings.tree().clone(), settings.run.clone());
        // A child that was stopped a moment ago may still hold its run.
        tree.wait_until_left(&run).await;
        let begin = Begin::Child { entry, origin, taken_by };
        let result = match execute_erased(graph_type, graph, settings, begin).await {
            Err(error) => match of_journal(error, &run) {
                Ok(error) => {
                    tree.journal_failed(&error);
                    return None;
                }
                Err(error) => Err(ChildFailure::NotStarted { reason: error.to_string() }),
            },
            Ok(report) => match report.outcome {
                Outcome::Finished(output) => Ok(output),
                Outcome::Failed(failure) => Err(ChildFailure::Failed(Box::new(failure))),
                Outcome::Cancelled => Err(ChildFailure::Cancelled),
                _ => return None,
            },
        };
        Some(result)
    })
}

/// The journal's error for which a child did not start, if that is the reason. It also counts as an error of the journal if the
/// child cannot continue from its records.
fn of_journal(error: StartError, run: &RunId) -> Result<JournalError, StartError> {
    match error {
        StartError::Entry(error) if !error.is_refusal() => Ok(error),
        StartError::Replay { .. }
        | StartError::Payload { .. }
        | StartError::TableChanged { .. }
        | StartError::Migration { .. } => Ok(JournalError::Child { run: run.clone(), reason: error.to_string() }),
        error => Err(error),
    }
}

/// The children that a map node has started before.
#[derive(Default)]
pub(crate) struct Predecessors {
    /// By the execution that they belong to, the earliest first.
    children: Vec<Predecessor>,
    by_run: HashMap<RunId, usize>,
    /// By key and number of the item: the latest child of an equal item.
    latest: HashMap<(String, u32), usize>,
}

/// A child that a map node has started before.
struct Predecessor {
    summary: RunSummary,
    /// The execution that started the child: visit and attempt. For a child that failed or was cancelled, the last execution
    /// that continued with it.
    entry: (u32, u32),
}

impl Predecessors {
    /// Reads the children from the journal, once those of earlier executions have stopped: until then it is not known how they
    /// end.
    pub(crate) async fn read(
        journal: &dyn Journal,
        tree: &Tree,
        parent: &RunId,
        node: &str,
        entry: (u32, u32),
    ) -> Result<Self, JournalError> {
        let known = Self::listed(journal, parent, node).await?;
        let mut waited = false;
        for child in known.children.iter().filter(|child| child.entry < entry && child.summary.ended.is_none()) {
            tree.wait_until_left(&child.summary.run).await;
            // Writes that were pending when the child was stopped are finished before its run can be claimed.
            match claims::claim(journal, &child.summary.run).await {
                Ok(_) | Err(JournalError::Held { .. }) => waited = true,
                Err(error) => return Err(error),
            }
        }
        if waited { Self::listed(journal, parent, node).await } else { Ok(known) }
    }

    async fn listed(journal: &dyn Journal, parent: &RunId, name: &str) -> Result<Self, JournalError> {
        let mut known = Vec::new();
        for summary in journal.children(parent).await? {
            if let Some(Origin::Child { node, visit, attempt, .. }) = &summary.origin
                && node == name
            {
                let mut entry = (*visit, *attempt);
                // Only for such a child does it matter which execution had it last.
                if summary.ended_without_result()
                    && let Some(taken_by) = taken_by(&journal.load(&summary.run).await?)
                {
                    entry = entry.max((taken_by.visit, taken_by.attempt));
                }
                known.push(Predecessor { entry, summary });
            }
        }
        known.sort_by_key(|child| child.entry);
        Ok(Self::of_children(known))
    }

    fn of_children(children: Vec<Predecessor>) -> Self {
        let (mut by_run, mut latest) = (HashMap::new(), HashMap::new());
        for (at, Predecessor { summary, .. }) in children.iter().enumerate() {
            by_run.insert(summary.run.clone(), at);
            if let Some(Origin::Child { key, number, .. }) = &summary.origin {
                latest.insert((key.clone(), *number), at);
            }
        }
        Self { children, by_run, latest }
    }

    /// Whether one of the children has this name.
    pub(crate) fn has(&self, run: &RunId) -> bool {
        self.by_run.contains_key(run)
    }

    /// The latest child of an equal item.
    pub(crate) fn latest(&self, identity: &ChildIdentity<'_>) -> Option<&RunId> {
        self.latest_equal(identity).map(|child| &child.summary.run)
    }

    fn latest_equal(&self, identity: &ChildIdentity<'_>) -> Option<&Predecessor> {
        self.latest.get(&(identity.key.clone(), identity.number)).map(|at| &self.children[*at])
    }

    /// Whether the child with this name has ended; `None` if there is no such child.
    pub(crate) fn has_ended(&self, run: &RunId) -> Option<bool> {
        self.by_run.get(run).map(|at| self.children[*at].summary.ended.is_some())
    }

    /// The run that this child continues, and its origin; `None` if the child begins anew. The same execution resumes the child
    /// that it had started or adopted, however that ended. A later execution that `adopts` takes the latest child of an equal
    /// item, unless that child failed or was cancelled.
    pub(crate) fn of(&self, identity: &ChildIdentity<'_>, adopts: bool) -> Option<(RunId, Origin)> {
        let latest = self.latest_equal(identity)?;
        let goes_on =
            latest.entry == (identity.visit, identity.attempt) || adopts && !latest.summary.ended_without_result();
        goes_on.then(|| latest.summary.origin.clone().map(|origin| (latest.summary.run.clone(), origin)))?
    }

    /// Ends the children of executions before `entry` that nothing continues.
    pub(crate) async fn end(
        &self,
        journal: &dyn Journal,
        tree: &Tree,
        entry: (u32, u32),
        goes_on: impl Fn(&RunId, &Origin) -> bool,
    ) -> Result<(), JournalError> {
        for Predecessor { summary, .. } in self.children.iter().filter(|child| child.entry < entry) {
            if summary.ended.is_none() && !summary.origin.as_ref().is_some_and(|origin| goes_on(&summary.run, origin)) {
                end_child(journal, tree, &summary.run).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_run_anew_is_numbered() {
        let id = |name: &str| -> RunId { name.parse().unwrap() };
        let first = id("night-7-29f20020aff60e81");
        assert_eq!(anew_id(&first, 1), id("night-7-29f20020aff60e81-2"));
        assert_eq!(anew_id(&first, 2), id("night-7-29f20020aff60e81-3"));
        assert_eq!(anew_id(&id("night-7-29f20020aff60e81-2"), 1), id("night-7-29f20020aff60e81-3"));
        // Sixteen digits are a hash, and not the number of a repetition.
        assert_eq!(anew_id(&id("night-7-2912002011116081"), 1), id("night-7-2912002011116081-2"));
        let root: RunId = "x".repeat(RunId::MAX_LENGTH).parse().unwrap();
        let identity = ChildIdentity { parent: &root, node: "c", visit: 1, attempt: 1, key: String::new(), number: 1 };
        let long = child_id(&root, &identity, 0);
        let anew = anew_id(&long, 1);
        assert_eq!(anew.as_str().len(), RunId::MAX_LENGTH);
        assert!(anew.as_str().ends_with(&format!("{}-2", &long.as_str()[long.as_str().len() - 17..])), "{anew}");
        assert_eq!(anew_id(&anew, 1).as_str().len(), RunId::MAX_LENGTH);
    }

    #[test]
    fn each_child_has_a_name_of_its_own() {
        let root: RunId = "r".parse().unwrap();
        let named = |key: &str, number| ChildIdentity {
            parent: &root,
            node: "children",
            visit: 1,
            attempt: 1,
            key: key.to_owned(),
            number,
        };
        let one = child_id(&root, &named("a", 1), 0);
        assert_eq!(one, child_id(&root, &named("a", 1), 0));
        let others = [
            child_id(&root, &named("a", 2), 0),
            child_id(&root, &named("a#1", 1), 0),
            child_id(&root, &named("", 1), 0),
            child_id(&root, &named("a", 1), 1),
            child_id(&root, &ChildIdentity { parent: &one, ..named("a", 1) }, 0),
            child_id(&root, &ChildIdentity { visit: 2, ..named("a", 1) }, 0),
            child_id(&root, &ChildIdentity { attempt: 2, ..named("a", 1) }, 0),
            child_id(&root, &ChildIdentity { node: "childrena", ..named("", 1) }, 0),
            child_id(&root, &ChildIdentity { node: "children\0", ..named("", 1) }, 0),
            child_id(&root, &named("\0", 1), 0),
        ];
        let all: std::collections::BTreeSet<_> = others.iter().chain([&one]).collect();
        assert_eq!(all.len(), 11, "{one} {others:?}");
        let long: RunId = format!("{}-{}", "x".repeat(46), "y".repeat(17)).parse().unwrap();
        let child = child_id(&long, &ChildIdentity { parent: &long, ..named("k", 1) }, 0);
        assert!(child.as_str().starts_with(&format!("{}-", "x".repeat(46))));
    }
}
