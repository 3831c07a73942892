//! Checks an agent's claims about its commits against its branch, and its commits.

use super::places::BASE;
use crate::checks::Violation;
use crate::checks::source::{Versions, interface_violations};
use crate::graph::V3;
use crate::types::lineage::Lineage;
use crate::workbench::Workbench;
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::workspaces::{Checkout, FilePath, changed_paths, in_repository, text_at, touched_paths};
use interlocking::worktree::{CommitId, Repository};
use std::collections::BTreeSet;

/// What an agent has committed.
pub(crate) struct Committed {
    /// The head of its branch before the turn.
    pub(crate) before: CommitId,
    /// The head of its branch.
    pub(crate) tip: CommitId,
    /// What is wrong with the claim.
    pub(crate) violations: Vec<Violation>,
}

/// Adopts an agent's commits, and compares the named commit with the branch's head (V3-42, V3-64, V3-82). With `may_be_none` the
/// agent need not have committed anything.
pub(crate) async fn committed(
    tree: &mut Checkout<'_>,
    claimed: CommitId,
    may_be_none: bool,
) -> Result<Committed, NodeError> {
    let before = tree.head();
    let tip = tree.adopt_commits().await?;
    let mut violations = Vec::new();
    if tip == before && !may_be_none {
        violations.push(Violation::NothingCommitted);
    }
    if claimed != tip {
        violations.push(Violation::NotYourCommit { claimed, found: tip });
    }
    violations.extend(uncommitted(tree, tip).await?);
    Ok(Committed { before, tip, violations })
}

/// The files that an agent has changed since its last commit.
pub(crate) async fn uncommitted(tree: &Checkout<'_>, tip: CommitId) -> Result<Option<Violation>, NodeError> {
    let paths = touched_paths(&tree.diff_since(tip).await?);
    Ok((!paths.is_empty()).then(|| Violation::Uncommitted { paths: paths.into_iter().collect() }))
}

/// Discards what nobody has accepted of an agent's work: the branch may be rebased before anyone else works on it.
pub(crate) async fn discard(tree: &mut Checkout<'_>) -> Result<(), NodeError> {
    Ok(tree.reset(tree.head()).await?)
}

/// What no agent may commit: merges, and changes of how everything is built (V3-80), of the files of other nodes, and of
/// files whose paths cannot be used.
pub(crate) async fn forbidden<N: Node<Graph = V3>>(
    bench: &Workbench,
    (before, tip): (CommitId, CommitId),
    cx: &mut Cx<'_, N>,
) -> Result<Vec<Violation>, NodeError> {
    let (repository, base) = (cx.repository()?, cx.worktree_of(BASE).await?.head());
    let mut found = bench.build_violations(repository.clone(), before, tip).await?;
    found.extend(merge_commits(repository.clone(), (before, tip)).await?);
    let touched = changed_paths(repository.clone(), before, tip).await?;
    found.extend(touched.into_iter().filter_map(|path| FilePath::new(path).err()).map(Violation::UnusablePath));
    // Compared with the base, as a file that is put back is unchanged.
    found.extend(of_others(&changed_paths(repository, base, tip).await?, &cx.entry()?.lineage));
    Ok(found)
}

/// The commits of merges, over which the branch could be neither rebased nor picked from.
pub(crate) async fn merge_commits(
    repository: Repository,
    (before, tip): (CommitId, CommitId),
) -> Result<Vec<Violation>, NodeError> {
    let commits = in_repository(repository, move |repository| Ok(repository.commits(before..tip)?)).await?;
    let merges = commits.into_iter().filter(|commit| commit.parents.len() > 1);
    Ok(merges.map(|commit| Violation::MergeCommit { commit: commit.id }).collect())
}

/// The changed files that belong to other nodes: interfaces of the nodes above (V3-48), contracts and tests (V3-44).
pub(crate) fn of_others(changed: &BTreeSet<String>, lineage: &Lineage) -> Vec<Violation> {
    let among = |files: &[FilePath]| -> Vec<String> {
        files.iter().map(|file| file.as_str().to_owned()).filter(|file| changed.contains(file)).collect()
    };
    let (interfaces, tests) = (among(&lineage.interface_files), among(&lineage.tests_of_others));
    let interfaces = (!interfaces.is_empty()).then_some(Violation::TouchesInterfaces { paths: interfaces });
    let tests = (!tests.is_empty()).then_some(Violation::TouchesTests { paths: tests });
    interfaces.into_iter().chain(tests).collect()
}

/// The changes of signatures in the interface's file since the scaffold (V3-80): only the planner changes them.
pub(crate) async fn interface_changes(
    repository: Repository,
    path: FilePath,
    (skeleton, tip): (CommitId, CommitId),
) -> Result<Vec<Violation>, NodeError> {
    let before = text_at(repository.clone(), skeleton, &path).await?;
    let now = text_at(repository, tip, &path).await?;
    Ok(interface_violations(&Versions { path, before, now }))
}

/// Violations as messages for an agent.
pub(crate) fn messages(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}
