//! The work of one agent, and the state of its branch afterwards.

use super::Implement;
use crate::graph::{Assignment, Done, agent};
use crate::prompts::{AgentLaunch, Preflight};
use crate::protocol::prediction::Facts;
use crate::protocol::report::CompletionReport;
use interlocking::prelude::*;
use interlocking::workspaces::{changed_paths, touched_paths};

impl LLMHandler<agent::implement> for Implement {
    async fn before<'a>(
        &'a self,
        assignment: &'a Assignment,
        cx: &mut Cx<'_, agent::implement>,
    ) -> Ask<AgentLaunch<'a>> {
        // In a run that was resumed other agents may be waiting.
        self.0.note_made(&assignment.post.label());
        let preflight = Preflight::new(&cx.workspace()?.path, &assignment.post.label());
        Ok((AgentLaunch { assignment, preflight }, SessionOp::StartFresh(Slug::new("agent")?)))
    }

    async fn after(
        &self,
        assignment: Assignment,
        reply: Reply<CompletionReport>,
        cx: &mut Cx<'_, agent::implement>,
    ) -> Route<agent::implement> {
        let report = reply.output.by_an_agent()?;
        let mut tree = cx.worktree().await?;
        let base = tree.base();
        let head = tree.adopt_commits().await?;
        let uncommitted = touched_paths(&tree.diff_since(head).await?);
        let touched = changed_paths(cx.repository()?, base, head).await?;
        let facts = Facts { base, head, touched, uncommitted };
        goto!(cx, agent::exit, Done { post: assignment.post, report, facts })
    }
}
