//! Bringing both sides together on a fresh worktree.

use super::Merge;
use super::ending::{end, node_name};
use crate::commit_message::{CommitMessage, Phase};
use crate::graph::hybrid;
use crate::places::{Place, PlaceError};
use crate::types::{CratePath, HybridFailure, MergedState, VerifiedResults};
use crate::workbench::WorkError;
use interlocking::agents::Cost;
use interlocking::prelude::*;
use interlocking::worktree::CherryPickError;

impl LogicHandler<hybrid::merge> for Merge {
    async fn run(&self, verified: VerifiedResults, cx: &mut Cx<'_, hybrid::merge>) -> Route<hybrid::merge> {
        let memory = cx.memory();
        let from = memory.skeleton_commit.ok_or(WorkError::Missing { what: "the skeleton commit" })?;
        self.0.places.open(Place::Merge, from).await?;
        let blind = &verified.blind_results;
        // Tests first, then the implementation; all commits of each side since the skeleton (HY-19, CON-75).
        let picks = vec![(from, blind.tests.commit_hash), (from, blind.implementation.commit_hash)];
        match self.0.places.pick(picks).await {
            Ok(_) => {}
            // The sides own different files, so this takes an agent that got round the barrier.
            Err(PlaceError::CherryPick(CherryPickError::Conflict { conflicts, .. })) => {
                let files = conflicts.iter().filter_map(|conflict| CratePath::new(conflict.path.to_text()).ok());
                return end(cx, HybridFailure::MergeConflict { files: files.collect() });
            }
            Err(error) => return Err(error.into()),
        }
        let message = CommitMessage::new(
            Phase::Merge,
            "tests and implementation together",
            [format!("Tests: {}", blind.tests.commit_hash), format!("Impl: {}", blind.implementation.commit_hash)],
            cx.run_id().clone(),
            node_name(cx.node())?,
            Cost::ZERO,
        );
        let commit = self.0.places.commit_marker(Place::Merge, message.to_string()).await?;
        cx.committed(Place::Merge.name(), commit.to_string());
        cx.update_memory(move |memory| memory.merge_commit = Some(commit));
        // What they led to is in the merge now, and from here on nobody works anywhere else. They go while the tests run.
        self.0.places.retire([Place::Skeleton, Place::TypesReview, Place::Tests, Place::Implementation]);
        let merge_worktree = self.0.places.path(Place::Merge)?;
        let understanding = memory.understanding;
        goto!(cx, hybrid::validate, MergedState { verified_results: verified, merge_worktree, understanding })
    }
}
