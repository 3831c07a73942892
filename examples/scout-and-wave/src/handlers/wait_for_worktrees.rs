//! An agent's worktree, before the agent begins.

use super::WaitForWorktrees;
use crate::graph::{Assignment, Done, agent};
use crate::protocol::prediction::Facts;
use crate::protocol::report::{CompletionReport, ReportedCommit};
use interlocking::prelude::*;
use interlocking::workspaces::{GitWorkspacesError, changed_paths};

impl LogicHandler<agent::wait_for_worktrees> for WaitForWorktrees {
    async fn run(
        &self,
        assignment: Assignment,
        cx: &mut Cx<'_, agent::wait_for_worktrees>,
    ) -> Route<agent::wait_for_worktrees> {
        // Names the agent to which the following events belong.
        cx.note(assignment.post.label());
        let begun_at = cx.worktree().await?.base();
        if begun_at != assignment.base {
            let label = assignment.post.label();
            let base = assignment.base;
            return Err(format!("`{label}` begins at {begun_at}, and its wave at {base}").into());
        }
        self.0.wait_for_all(&assignment.post.label(), assignment.wave_size).await?;
        match pick_kept_work(&assignment, cx).await? {
            Some(done) => goto!(cx, agent::exit, done),
            None => goto!(cx, agent::implement, assignment),
        }
    }
}

/// Picks an agent's earlier work into its new worktree (CON-100). None if there is no earlier work, or if it conflicts: then the
/// agent works again.
async fn pick_kept_work(
    assignment: &Assignment,
    cx: &mut Cx<'_, agent::wait_for_worktrees>,
) -> Result<Option<Done>, NodeError> {
    let Some(Done { post, report, facts }) = &assignment.kept else { return Ok(None) };
    let base = assignment.base;
    let head = match cx.worktree().await?.cherry_pick(facts.base, facts.head).await {
        Err(GitWorkspacesError::CherryPick(_)) => return Ok(None),
        picked => picked?,
    };
    if head == base {
        return Ok(None);
    }
    cx.note(format!("kept {}", post.label()));
    let touched = changed_paths(cx.repository()?, base, head).await?;
    let report = CompletionReport { commit: ReportedCommit::Hash(head.to_string()), ..report.clone() };
    Ok(Some(Done { post: post.clone(), report, facts: Facts { base, head, touched, uncommitted: Default::default() } }))
}
