//! Bringing both sides together on a fresh worktree.

use super::Merge;
use super::ending::{end, node_name};
use crate::commit_message::{CommitMessage, Phase};
use crate::graph::hybrid;
use crate::places::{IMPLEMENTATION, SKELETON, TESTS, TYPES_REVIEW};
use crate::types::{CratePath, HybridFailure, MergedState, VerifiedResults};
use crate::workbench::WorkError;
use interlocking::agents::Cost;
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::CherryPickError;

impl LogicHandler<hybrid::merge> for Merge {
    async fn run(&self, verified: VerifiedResults, cx: &mut Cx<'_, hybrid::merge>) -> Route<hybrid::merge> {
        let memory = cx.memory();
        let from = memory.skeleton_commit.ok_or(WorkError::Missing { what: "the skeleton commit" })?;
        let blind = &verified.blind_results;
        let message = CommitMessage::new(
            Phase::Merge,
            "tests and implementation together",
            [format!("Tests: {}", blind.tests.commit_hash), format!("Impl: {}", blind.implementation.commit_hash)],
            cx.run_id().clone(),
            node_name(cx.node())?,
            Cost::ZERO,
        );
        let mut worktree = cx.worktree().await?;
        // Tests first, then the implementation; all commits of each side since the skeleton (HY-19, CON-75).
        for commit in [blind.tests.commit_hash, blind.implementation.commit_hash] {
            match worktree.cherry_pick(from, commit).await {
                Ok(_) => {}
                // The sides own different files, so this takes an agent that got round the barrier.
                Err(GitWorkspacesError::CherryPick(CherryPickError::Conflict { conflicts, .. })) => {
                    let files = conflicts.iter().filter_map(|conflict| CratePath::new(conflict.path.to_text()).ok());
                    return end(cx, HybridFailure::MergeConflict { files: files.collect() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        let commit = worktree.commit_empty(message.to_string()).await?;
        let merge_worktree = worktree.path().to_owned();
        // What they led to is in the merge now, and from here on nobody works anywhere else. What cannot be taken away now, the end does.
        for name in [SKELETON, TYPES_REVIEW, TESTS, IMPLEMENTATION] {
            if let Ok(worktree) = cx.worktree_of(name).await {
                let _ = worktree.retire().await;
            }
        }
        cx.update_memory(move |memory| memory.merge_commit = Some(commit));
        let understanding = memory.understanding;
        goto!(cx, hybrid::validate, MergedState { verified_results: verified, merge_worktree, understanding })
    }
}
