//! The merge queue: siblings are merged one after the other, so that each candidate is made once, on what the others have merged,
//! and no other sibling lands while it is judged (CON-142).

use super::MergeQueue;
use crate::graph::v3;
use crate::memory::Integration;
use crate::types::merge::MergerInput;
use interlocking::graph::Node;
use interlocking::prelude::*;

impl LogicHandler<v3::merge_queue> for MergeQueue {
    async fn run(&self, input: MergerInput, cx: &mut Cx<'_, v3::merge_queue>) -> Route<v3::merge_queue> {
        cx.update_memory(Integration::forget_candidate);
        take_turn(cx).await?;
        // The sibling that had the turn before has sent this node a message: it is rebased first (V3-97).
        if !cx.is_final_attempt() && cx.has_mail().await? {
            return goto!(cx, self, input);
        }
        goto!(cx, v3::merger, input)
    }
}

/// Waits until it is this node's turn to merge into its parent's branch. The root has no siblings and does not wait.
pub(crate) async fn take_turn<N: Node>(cx: &Cx<'_, N>) -> Result<(), NodeError> {
    match cx.parent() {
        Some(parent) => Ok(cx.take_turn(&merges_into(&parent)).await?),
        None => Ok(()),
    }
}

/// Lets the siblings merge, because this node goes back to earlier work.
pub(crate) fn give_turn_back<N: Node>(cx: &Cx<'_, N>) {
    if let Some(parent) = cx.parent() {
        cx.give_turn_back(&merges_into(&parent));
    }
}

/// Waits until no child is merging into this node's branch, and lets no child begin before this execution's outcome is recorded
/// (CON-149).
pub(crate) async fn hold_off_children<N: Node>(cx: &Cx<'_, N>) -> Result<(), NodeError> {
    let turn = merges_into(cx.run_id());
    cx.take_turn(&turn).await?;
    cx.give_turn_back(&turn);
    Ok(())
}

fn merges_into(run: &RunId) -> String {
    format!("merges into the branch of {run}")
}
