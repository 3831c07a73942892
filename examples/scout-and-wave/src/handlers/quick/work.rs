//! The agents of quick mode, side by side.

use super::{Quick, QuickWork, stopped};
use crate::graph::scout_and_wave;
use crate::prompts::{Preflight, QuickPrompt};
use crate::protocol::quick::label;
use crate::quick::{
    QuickAssignment, QuickDone, QuickExecuted, QuickLaunch, QuickStop, QuickWord, QuickWorker, quick_worker,
};
use interlocking::prelude::*;
use std::sync::Arc;

impl MapHandler<scout_and_wave::quick> for Quick {
    fn graph(&self, _: &Cx<'_, scout_and_wave::quick>) -> Result<Arc<QuickWorker>, NodeError> {
        Ok(Arc::new(QuickWorker::new()))
    }

    async fn items(
        &self,
        launch: &QuickLaunch,
        _: &mut Cx<'_, scout_and_wave::quick>,
    ) -> Result<Vec<Item<QuickWorker>>, NodeError> {
        let agents = launch.agents.iter();
        Ok(agents.map(|assignment| Item::new(assignment.clone()).with_key(label(&assignment.agent))).collect())
    }

    async fn gather(
        &self,
        launch: QuickLaunch,
        mut children: Children<QuickWorker>,
        cx: &mut Cx<'_, scout_and_wave::quick>,
    ) -> Route<scout_and_wave::quick> {
        let (mut done, mut problems) = (Vec::new(), Vec::new());
        while let Some(child) = children.any().await {
            match child.result {
                Ok(QuickDone { commit: None, agent, summary }) => {
                    problems.push(format!("{} changed nothing: {summary}", label(&agent)));
                }
                Ok(ended) => done.push(ended),
                Err(failure) => problems.push(format!("{} did not end its work: {failure}", child.key)),
            }
        }
        if !problems.is_empty() {
            problems.sort();
            return goto!(cx, scout_and_wave::exit, stopped(QuickStop::AgentFailure, problems));
        }
        done.sort_by(|one, other| one.agent.cmp(&other.agent));
        goto!(cx, scout_and_wave::quick_merge, QuickExecuted { launch, done })
    }
}

impl LLMHandler<quick_worker::work> for QuickWork {
    async fn before<'a>(
        &'a self,
        assignment: &'a QuickAssignment,
        cx: &mut Cx<'_, quick_worker::work>,
    ) -> Ask<QuickPrompt<'a>> {
        let preflight = Preflight::new(&cx.workspace()?.path, &label(&assignment.agent));
        Ok((QuickPrompt { assignment, preflight }, SessionOp::StartFresh(Slug::new("agent")?)))
    }

    async fn after(
        &self,
        assignment: QuickAssignment,
        reply: Reply<QuickWord>,
        cx: &mut Cx<'_, quick_worker::work>,
    ) -> Route<quick_worker::work> {
        let (agent, summary) = (assignment.agent, reply.output.summary);
        let mut tree = cx.worktree().await?;
        let base = tree.base();
        let head = tree.adopt_commits().await?;
        let left = tree.commit(format!("Work of {}", label(&agent))).await?;
        let commit = left.or_else(|| (head != base).then_some(head));
        goto!(cx, quick_worker::exit, QuickDone { agent, summary, commit })
    }
}
