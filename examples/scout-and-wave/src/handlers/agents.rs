//! The agents of a wave, side by side, and what each comes to.

use super::{Agents, Arrive, Implement, Muster, STAGING, blocked, go_to};
use crate::document;
use crate::graph::{Agent, Assignment, Done, Executed, Launch, agent, scout_and_wave};
use crate::prompts::{AgentLaunch, Preflight};
use crate::protocol::agent::Post;
use crate::protocol::prediction::Facts;
use crate::protocol::report::{CompletionReport, Status};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::in_repository;
use interlocking::prelude::*;
use interlocking::worktree::{CommitId, FileChange};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

impl MapHandler<scout_and_wave::agents> for Agents {
    fn graph(&self, _: &Cx<'_, scout_and_wave::agents>) -> Result<Arc<Agent>, NodeError> {
        let muster = Arc::new(Muster::default());
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = muster.clone();
        Ok(Arc::new(Agent::new(&muster)))
    }

    async fn items(
        &self,
        launch: &Launch,
        _: &mut Cx<'_, scout_and_wave::agents>,
    ) -> Result<Vec<Item<Agent>>, NodeError> {
        let assignments = launch.assignments.iter();
        Ok(assignments
            .map(|assignment| Item::new(assignment.clone()).with_key(assignment.post.key(assignment.generation)))
            .collect())
    }

    async fn gather(
        &self,
        launch: Launch,
        mut children: Children<Agent>,
        cx: &mut Cx<'_, scout_and_wave::agents>,
    ) -> Route<scout_and_wave::agents> {
        let muster = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut done, mut problems) = (Vec::new(), Vec::new());
        while let Some(child) = children.any().await {
            match child.result {
                Ok(ended) => {
                    muster.is_here(Post::label_of(&child.key));
                    done.push(ended);
                }
                Err(failure) => {
                    let label = Post::label_of(&child.key);
                    muster.has_failed(label);
                    problems.push(format!("{label} has not reported: {failure}"));
                }
            }
        }
        done.sort_by(|one, other| one.post.cmp(&other.post));
        record(&launch, &done, cx).await?;
        for Done { post, report, .. } in done.iter().filter(|done| done.report.status != Status::Complete) {
            let status = match report.status {
                Status::Partial => "partial",
                _ => "blocked",
            };
            let deviations = report.interface_deviations.iter().map(|deviation| deviation.description.as_str());
            let said: Vec<_> = deviations.chain([report.notes.as_str()]).filter(|said| !said.is_empty()).collect();
            problems.push(format!("{} reports `{status}`: {}", post.label(), said.join("; ")));
        }
        // SAW-45: a contract that cannot be implemented.
        let is_of_contract =
            |done: &Done| done.report.status == Status::Blocked && !done.report.interface_deviations.is_empty();
        let is_contract = done.iter().any(is_of_contract);
        let wave = launch.wave;
        let facts = done.into_iter().map(|done| (done.post, done.facts)).collect();
        let executed = Executed { launch, facts };
        if is_contract {
            let blocked = blocked(cx, wave, BlockReason::Contract, &problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        // SAW-43, SAW-44: nothing of the wave is merged.
        if !problems.is_empty() {
            let blocked = blocked(cx, wave, BlockReason::AgentFailure, &problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_agent, blocked);
        }
        go_to(cx, State::WaveMerging)?;
        goto!(cx, scout_and_wave::predict, executed)
    }
}

/// Writes the reports into the document: the orchestrator is its only writer (SAW-16, CON-101).
async fn record(launch: &Launch, done: &[Done], cx: &mut Cx<'_, scout_and_wave::agents>) -> Result<(), NodeError> {
    let document = cx.entry()?.document.clone();
    let mut staging = cx.worktree_of(STAGING).await?;
    let mut text = super::merging::text_of(&staging, &document).await?;
    for Done { post, report, .. } in done {
        text = document::with_report(document.as_str(), &text, post, report)?;
    }
    staging.write_file(&document.in_repository()?, text).await?;
    staging.commit(format!("docs: reports of wave {}", launch.wave)).await?;
    Ok(())
}

impl LogicHandler<agent::arrive> for Arrive {
    async fn run(&self, assignment: Assignment, cx: &mut Cx<'_, agent::arrive>) -> Route<agent::arrive> {
        let begun_at = cx.worktree().await?.base();
        if begun_at != assignment.base {
            let label = assignment.post.label();
            let base = assignment.base;
            return Err(format!("`{label}` begins at {begun_at}, and its wave at {base}").into());
        }
        self.0.arrive(&assignment.post.label(), assignment.wave_size).await?;
        goto!(cx, agent::implement, assignment)
    }
}

impl LLMHandler<agent::implement> for Implement {
    async fn before<'a>(
        &'a self,
        assignment: &'a Assignment,
        cx: &mut Cx<'_, agent::implement>,
    ) -> Ask<AgentLaunch<'a>> {
        // Of a run that was resumed others may be waiting.
        self.0.is_here(&assignment.post.label());
        let preflight = Preflight::new(&cx.workspace()?.path, &assignment.post);
        Ok((AgentLaunch { assignment, preflight }, SessionOp::StartFresh(Slug::new("agent")?)))
    }

    async fn after(
        &self,
        assignment: Assignment,
        reply: Reply<CompletionReport>,
        cx: &mut Cx<'_, agent::implement>,
    ) -> Route<agent::implement> {
        let mut tree = cx.worktree().await?;
        let base = tree.base();
        let head = tree.adopt_commits().await?;
        let uncommitted = paths(&tree.diff_since(head).await?);
        let touched = touched(cx, base, head).await?;
        let facts = Facts { base, head, touched, uncommitted };
        goto!(cx, agent::exit, Done { post: assignment.post, report: reply.output, facts })
    }
}

async fn touched(cx: &Cx<'_, agent::implement>, base: CommitId, head: CommitId) -> Result<BTreeSet<String>, NodeError> {
    in_repository(cx.repository()?, move |repository| Ok(paths(&repository.diff(base, head)?))).await
}

fn paths(changes: &[FileChange]) -> BTreeSet<String> {
    changes.iter().flat_map(FileChange::touched).map(|path| path.to_text().into_owned()).collect()
}
