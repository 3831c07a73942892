//! Conflicts of the merge: an agent resolves them, and its work is checked in the files.

use super::Conflict;
use super::ending::{end, node_name};
use super::merge::{Picked, finish_merge, pick};
use crate::commit_message::{CommitMessage, Phase};
use crate::graph::hybrid;
use crate::paths::{PathViolation, Role, Territory};
use crate::prompts::ConflictTpl;
use crate::types::{Commits, ConflictResolveOutput, ConflictState, HybridFailure, MayBeBlocked};
use interlocking::prelude::*;

impl LLMHandler<hybrid::conflict> for Conflict {
    fn system(&self) -> Option<String> {
        self.0.ground_rules()
    }

    async fn before<'a>(&'a self, state: &'a ConflictState, cx: &mut Cx<'_, hybrid::conflict>) -> Ask<ConflictTpl<'a>> {
        let Some(Commits { since, until }) = state.remaining.first().copied() else {
            return Err("the run's memory lacks the commits that conflict".into());
        };
        let mut worktree = cx.worktree().await?;
        let head = worktree.head();
        // Both versions are written into the files here, and not where the conflict was found: the files with markers are not
        // committed, and an agent that is interrupted begins again with the committed state.
        worktree.reset(head).await?;
        worktree.rebase_until_conflict(since..until, head).await?;
        let marked = worktree.examine().await?.commit();
        cx.update_memory(move |memory| memory.marked_conflict = Some(marked));
        Ok((ConflictTpl::new(state), cx.fresh_session()))
    }

    async fn after(
        &self,
        state: ConflictState,
        reply: Reply<ConflictResolveOutput>,
        cx: &mut Cx<'_, hybrid::conflict>,
    ) -> Route<hybrid::conflict> {
        let (node, output, spec) = (cx.node(), reply.output, &cx.entry()?.clone());
        if let Some(text) = output.blocked_by() {
            return end(cx, HybridFailure::AgentBlocked { node: node.to_owned(), text: text.to_owned() });
        }
        let marked = cx.memory().marked_conflict.ok_or("the run's memory lacks the conflict as it was")?;
        let resolved = cx.worktree().await?.examine().await?;
        // The contents of the files count, not the files that its agent names.
        let changed = self.0.changed(marked, resolved.commit()).await?;
        let violations: Vec<_> = changed
            .iter()
            .filter(|path| !state.conflicted_files.iter().any(|file| file.as_str() == path.as_str()))
            .map(|path| PathViolation {
                role: Role::Conflict,
                path: path.clone(),
                territory: Territory::of(path, spec),
            })
            .collect();
        if !violations.is_empty() {
            return end(cx, HybridFailure::BarrierBroken { violations });
        }
        let files = self.0.marked_files(resolved.commit()).await?;
        if !files.is_empty() {
            return end(cx, HybridFailure::ConflictMarkers { files });
        }
        let examined = resolved.commit();
        drop(resolved);
        let files: Vec<&str> = state.conflicted_files.iter().map(|file| file.as_str()).collect();
        let message = CommitMessage::new(
            Phase::Merge,
            &format!("conflicts resolved in {}", files.join(", ")),
            [format!("Resolution: {}", output.resolution_notes)],
            cx.run_id().clone(),
            node_name(node)?,
            reply.usage.cost,
        );
        cx.worktree().await?.commit_examined(examined, message.to_string()).await?;
        cx.update_memory(|memory| memory.marked_conflict = None);
        if let Picked::Conflict { files, .. } = pick(cx, state.remaining[1..].to_vec()).await? {
            let reason = "another commit conflicts after the first was resolved".to_owned();
            return end(cx, HybridFailure::MergeConflict { files, reason });
        }
        let merged = finish_merge(cx, state.verified_results, state.merge_worktree).await?;
        goto!(cx, hybrid::validate, merged)
    }
}
