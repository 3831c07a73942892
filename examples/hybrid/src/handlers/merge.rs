//! Bringing both sides together on a fresh worktree.

use super::Merge;
use super::ending::{end, node_name};
use crate::commit_message::{CommitMessage, Phase};
use crate::graph::{Hybrid, hybrid};
use crate::places::{IMPLEMENTATION, SKELETON, TESTS, TYPES_REVIEW};
use crate::types::{
    BlindResults, Commits, ConflictState, CratePath, HybridFailure, HybridMemory, MergedState, VerifiedResults,
};
use interlocking::agents::Cost;
use interlocking::graph::{Node, Remembers, Works};
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::{CherryPickError, CommitId, Conflict};

/// The result of picking commits.
pub(super) enum Picked {
    /// All were picked.
    All,
    /// One conflicts: nothing of its range was applied.
    Conflict {
        /// The files.
        files: Vec<CratePath>,
        /// Whether both sides can be shown in each of them.
        can_be_marked: bool,
        /// The ranges that remain to be picked: the first ends with that commit.
        remaining: Vec<Commits>,
    },
}

impl LogicHandler<hybrid::merge> for Merge {
    async fn run(&self, verified: VerifiedResults, cx: &mut Cx<'_, hybrid::merge>) -> Route<hybrid::merge> {
        let memory = cx.memory();
        let from = memory.skeleton_commit.ok_or("the run's memory lacks the skeleton commit")?;
        let blind = &verified.blind_results;
        let (tests, implementation) = (blind.tests.commit_hash, blind.implementation.commit_hash);
        // Tests first, then the implementation; all commits of each side since the skeleton (HY-19, CON-75). Of strengthened
        // tests only the new commits: the implementation is already merged, with all its repairs.
        let to_pick = match memory.merged_tests {
            None => vec![Commits { since: from, until: tests }, Commits { since: from, until: implementation }],
            Some(merged) => vec![Commits { since: merged, until: tests }],
        };
        let picked = pick(cx, to_pick).await?;
        let merge_worktree = cx.worktree().await?.path().to_owned();
        match picked {
            Picked::All => {
                let merged = finish_merge(cx, verified, merge_worktree).await?;
                goto!(cx, hybrid::validate, merged)
            }
            Picked::Conflict { files, can_be_marked, .. } if !(can_be_marked && self.0.resolves_conflicts()) => {
                let reason = match can_be_marked {
                    true => "the task says that nobody is to resolve them",
                    false => "both versions cannot be shown in one text",
                };
                end(cx, HybridFailure::MergeConflict { files, reason: reason.to_owned() })
            }
            Picked::Conflict { files, remaining, .. } => {
                let (tests_context, impl_context) = (what_tests_wanted(blind), what_implementation_wanted(blind));
                let conflicted_files = files;
                let verified_results = verified;
                let state = ConflictState {
                    verified_results,
                    merge_worktree,
                    conflicted_files,
                    tests_context,
                    impl_context,
                    remaining,
                };
                goto!(cx, hybrid::conflict, state)
            }
        }
    }
}

/// Picks ranges of commits in the node's worktree, up to the first that conflicts.
pub(super) async fn pick<N>(cx: &mut Cx<'_, N>, ranges: Vec<Commits>) -> Result<Picked, GitWorkspacesError>
where
    N: Node<Graph = Hybrid> + Works,
{
    let mut worktree = cx.worktree().await?;
    for (number, Commits { since, until }) in ranges.iter().copied().enumerate() {
        match worktree.cherry_pick(since, until).await {
            Ok(_) => {}
            Err(GitWorkspacesError::CherryPick(CherryPickError::Conflict { commit, conflicts })) => {
                let can_be_marked = conflicts.iter().all(|conflict| conflict.marked.is_some());
                let remaining = remaining(&ranges[number..], commit);
                return Ok(Picked::Conflict { files: paths(&conflicts), can_be_marked, remaining });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Picked::All)
}

/// These ranges, with the first divided after a commit that conflicts: what comes after that commit is not lost when
/// the conflict is resolved.
fn remaining(ranges: &[Commits], conflicting: CommitId) -> Vec<Commits> {
    let divide = |range: &Commits| [Commits { until: conflicting, ..*range }, Commits { since: conflicting, ..*range }];
    let first = ranges.iter().take(1).flat_map(divide).filter(|range| range.since != range.until);
    first.chain(ranges.iter().skip(1).copied()).collect()
}

/// The files of conflicts.
pub(super) fn paths(conflicts: &[Conflict]) -> Vec<CratePath> {
    conflicts.iter().filter_map(|conflict| CratePath::new(conflict.path.to_text()).ok()).collect()
}

/// Records in a commit what was merged, and removes the places that are no longer needed.
pub(super) async fn finish_merge<N>(
    cx: &mut Cx<'_, N>,
    verified: VerifiedResults,
    merge_worktree: std::path::PathBuf,
) -> Result<MergedState, NodeError>
where
    N: Node<Graph = Hybrid> + Remembers<Memory = HybridMemory> + Works,
{
    let blind = &verified.blind_results;
    let (tests, implementation) = (blind.tests.commit_hash, blind.implementation.commit_hash);
    let brief = match cx.memory().merged_tests {
        None => "tests and implementation together",
        Some(_) => "stronger tests and implementation together",
    };
    let message = CommitMessage::new(
        Phase::Merge,
        brief,
        [format!("Tests: {tests}"), format!("Impl: {implementation}")],
        cx.run_id().clone(),
        node_name(cx.node())?,
        Cost::ZERO,
    );
    let commit = cx.worktree().await?.commit_empty(message.to_string()).await?;
    // The merge contains their commits, and from here on no agent works in them, except an agent that may have to strengthen the
    // tests. Places that cannot be removed here are removed at the end.
    let keeps_tests = cx.entry()?.strictness.mutation_blocking;
    for name in [SKELETON, TYPES_REVIEW, TESTS, IMPLEMENTATION] {
        if (name != TESTS || !keeps_tests)
            && let Ok(worktree) = cx.worktree_of(name).await
        {
            let _ = worktree.retire().await;
        }
    }
    cx.update_memory(move |memory| {
        memory.merge_commit = Some(commit);
        memory.merged_tests = Some(tests);
    });
    let understanding = cx.memory().understanding;
    Ok(MergedState { verified_results: verified, merge_worktree, understanding })
}

fn what_tests_wanted(blind: &BlindResults) -> String {
    let output = &blind.tests.output;
    let properties = output.properties.iter().map(|property| format!("{}: {}", property.name, property.description));
    format!("{} {}", output.strategy, properties.collect::<Vec<_>>().join(" "))
}

fn what_implementation_wanted(blind: &BlindResults) -> String {
    let output = &blind.implementation.output;
    format!("{} {}", output.data_repr, output.design_notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CON-75: all commits of each side are merged, whichever of them conflicts.
    #[test]
    fn what_follows_a_conflict_remains() {
        let commits = |since: u8, until: u8| {
            let commit = |number: u8| format!("{number:040}").parse::<CommitId>().unwrap();
            Commits { since: commit(since), until: commit(until) }
        };
        let ranges = [commits(1, 4), commits(1, 9)];
        let after = |number: u8| remaining(&ranges, commits(1, number).until);
        assert_eq!(after(2), [commits(1, 2), commits(2, 4), commits(1, 9)]);
        assert_eq!(after(4), [commits(1, 4), commits(1, 9)]);
    }
}
