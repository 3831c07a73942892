//! The agents of a wave, side by side, and their results.

use super::reports::{incomplete, record};
use super::{Agents, WaveWorktrees, blocked, go_to};
use crate::graph::{Agent, Assignment, Executed, Launch, scout_and_wave};
use crate::protocol::agent::Post;
use crate::protocol::invariant::unreported;
use crate::protocol::state::{BlockReason, State};
use interlocking::failure::ChildFailure;
use interlocking::prelude::*;
use std::sync::{Arc, PoisonError};

impl MapHandler<scout_and_wave::agents> for Agents {
    fn graph(&self, _: &Cx<'_, scout_and_wave::agents>) -> Result<Arc<Agent>, NodeError> {
        let worktrees = Arc::new(WaveWorktrees::default());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = worktrees.clone();
        Ok(Arc::new(Agent::new(&worktrees)))
    }

    async fn items(
        &self,
        launch: &Launch,
        _: &mut Cx<'_, scout_and_wave::agents>,
    ) -> Result<Vec<Item<Agent>>, NodeError> {
        let item = |assignment: &Assignment| {
            Item::new(assignment.clone()).with_key(assignment.post.key(assignment.generation))
        };
        Ok(launch.working().map(item).collect())
    }

    async fn gather(
        &self,
        launch: Launch,
        mut children: Children<Agent>,
        cx: &mut Cx<'_, scout_and_wave::agents>,
    ) -> Route<scout_and_wave::agents> {
        let worktrees = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Nobody waits for the worktree of an agent that does not work.
        for agent in &launch.descoped {
            worktrees.note_made(&Post { wave: launch.wave, agent: agent.clone() }.label());
        }
        let (mut done, mut problems) = (Vec::new(), Vec::new());
        while let Some(child) = children.any().await {
            match child.result {
                Ok(ended) => {
                    worktrees.note_made(Post::label_of(&child.key));
                    done.push(ended);
                }
                Err(failure) => {
                    let label = Post::label_of(&child.key);
                    worktrees.note_failure(label);
                    let why = match &failure {
                        ChildFailure::Failed(failure) => unreported(failure),
                        other => other.to_string(),
                    };
                    problems.push(format!("{label} has not reported: {why}"));
                }
            }
        }
        done.sort_by(|one, other| one.post.cmp(&other.post));
        record(launch.wave, &done, cx).await?;
        let incomplete = incomplete(&done);
        problems.extend(incomplete.problems);
        let wave = launch.wave;
        let facts = done.into_iter().map(|done| (done.post, done.facts)).collect();
        let executed = Executed::new(launch, facts);
        if incomplete.is_contract {
            let blocked = blocked(cx, wave, BlockReason::Contract, &problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        // SAW-43, SAW-44: if an agent failed, nothing of the wave is merged.
        if !problems.is_empty() {
            let blocked = blocked(cx, wave, BlockReason::AgentFailure, &problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_agent, blocked);
        }
        go_to(cx, State::WaveMerging)?;
        goto!(cx, scout_and_wave::predict, executed)
    }
}
