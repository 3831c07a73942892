//! Handlers, which check the plan, check that each task changes only its own files, and merge each wave.

use crate::graph::{Done, Goal, Plan, Task, Work, waves, work};
use interlocking::prelude::*;
use interlocking::workspaces::Ownership;
use interlocking::worktree::CommitId;
use std::sync::Arc;

/// The maximum number of waves, which is the `visits` of the node `wave`.
const MOST_WAVES: usize = 10;

#[derive(Default)]
pub struct Planner;

impl ReplyHandler<waves::plan> for Planner {
    async fn after(
        &self,
        _: Goal,
        reply: Reply<Plan>,
        cx: &mut Cx<'_, waves::plan>,
    ) -> Route<waves::plan> {
        let plan = reply.output;
        if plan.waves.is_empty() || plan.waves.iter().any(Vec::is_empty) {
            return Err("the plan has no wave, or one without a task".into());
        }
        if plan.waves.len() > MOST_WAVES {
            return Err(format!(
                "the plan has {} waves, and may have {MOST_WAVES}",
                plan.waves.len()
            )
            .into());
        }
        for wave in &plan.waves {
            let mut files = Ownership::new();
            for task in wave {
                files = files.with(&task.name, &task.files)?;
            }
            if let Some(overlap) = files.overlaps().first() {
                return Err(format!("two tasks of one wave may write one file: {overlap}").into());
            }
        }
        goto!(cx, waves::wave, plan)
    }
}

#[derive(Default)]
pub struct Worker;

impl ReplyHandler<work::work> for Worker {
    async fn after(
        &self,
        task: Task,
        reply: Reply<Done>,
        cx: &mut Cx<'_, work::work>,
    ) -> Route<work::work> {
        let mut worktree = cx.worktree().await?;
        let changes = worktree.diff_since(worktree.base()).await?;
        let files = Ownership::new().with(&task.name, &task.files)?;
        if let Some(violation) = files.violations(&task.name, &changes).first() {
            return Err(format!(
                "task {} has changed what is not its own: {violation}",
                task.name
            )
            .into());
        }
        let commit = worktree.commit(reply.output.subject).await?;
        goto!(cx, work::exit, commit.ok_or("nothing was written")?)
    }
}

#[derive(Default)]
pub struct Wave;

impl MapHandler<waves::wave> for Wave {
    fn graph(&self, _: &Cx<'_, waves::wave>) -> Result<Arc<Work>, NodeError> {
        Ok(Arc::new(Work::default()))
    }

    async fn items(
        &self,
        plan: &Plan,
        _: &mut Cx<'_, waves::wave>,
    ) -> Result<Vec<Item<Work>>, NodeError> {
        let tasks = plan.waves.first().into_iter().flatten();
        Ok(tasks
            .map(|task| Item::new(task.clone()).with_key(&task.name))
            .collect())
    }

    async fn gather(
        &self,
        plan: Plan,
        children: Children<Work>,
        cx: &mut Cx<'_, waves::wave>,
    ) -> Route<waves::wave> {
        let mut worktree = cx.worktree().await?;
        let mut merged: CommitId = worktree.head();
        for child in children.all().await {
            let message = format!("Merge {}", child.key);
            merged = worktree.merge(child.result?, message).await?;
        }
        let left: Vec<_> = plan.waves.into_iter().skip(1).collect();
        if !left.is_empty() {
            return goto!(cx, waves::wave, Plan { waves: left });
        }
        let landed = cx.land(merged).await?;
        goto!(cx, waves::exit, landed)
    }
}
