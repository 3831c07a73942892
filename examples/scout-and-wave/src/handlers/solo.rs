//! The only agent of a wave. It works on top of the target, on the staging branch itself: no worktree is made, and nothing is
//! merged. The target advances once its work is verified (SAW-24, SAW-30, CON-103, CON-153).

use super::reports::incomplete;
use super::staging::change_document;
use super::{Solo, SoloFailed, blocked};
use crate::document;
use crate::graph::{Done, Executed, Launch, SoloFailure, scout_and_wave};
use crate::prompts::{AgentLaunch, Preflight};
use crate::protocol::prediction::{Facts, not_committed, orchestrators_file};
use crate::protocol::report::CompletionReport;
use crate::protocol::state::BlockReason;
use interlocking::prelude::*;
use interlocking::workspaces::{changed_paths, touched_paths};

impl LLMHandler<scout_and_wave::solo> for Solo {
    async fn before<'a>(&'a self, launch: &'a Launch, cx: &mut Cx<'_, scout_and_wave::solo>) -> Ask<AgentLaunch<'a>> {
        let assignment = launch.only().ok_or("a wave of several agents is no solo wave")?;
        let staging = cx.worktree().await?;
        let branch = staging.branch().ok_or("the staging worktree has no branch")?;
        let preflight = Preflight::new(staging.path(), branch.as_str());
        Ok((AgentLaunch { assignment, preflight }, SessionOp::StartFresh(Slug::new("agent")?)))
    }

    async fn after(
        &self,
        launch: Launch,
        Reply { output: report, .. }: Reply<CompletionReport>,
        cx: &mut Cx<'_, scout_and_wave::solo>,
    ) -> Route<scout_and_wave::solo> {
        let report = report.by_an_agent()?;
        let (wave, base) = (launch.wave, launch.base);
        let post = launch.only().ok_or("a wave of several agents is no solo wave")?.post.clone();
        let mut staging = cx.worktree().await?;
        let head = staging.adopt_commits().await?;
        let uncommitted = touched_paths(&staging.diff_since(head).await?);
        let touched = changed_paths(cx.repository()?, base, head).await?;
        let facts = Facts { base, head, touched, uncommitted };
        let document = cx.entry()?.document()?.clone();
        let is_written =
            facts.touched.contains(document.as_str()).then(|| orchestrators_file(&post.agent, document.as_str()));
        let violation = not_committed(&post.agent, &report, &facts).or(is_written);
        let done = Done { post, report, facts: facts.clone() };
        let mut incomplete = incomplete(std::slice::from_ref(&done));
        let unwritten = violation.is_some().then(|| done.report.clone());
        if let Some(violation) = violation {
            // Its uncommitted files are where its report would be written, so a person has to look at them.
            incomplete.problems.push(format!("{}: {violation}", done.post.label()));
        } else {
            let (target, _) = cx.target().await?;
            change_document(cx, &format!("docs: report of wave {wave}"), |file, text| {
                let text = document::with_report(file, text, &done.post, &done.report)?;
                let line = format!("`{target}` was at {base} before it: that is what to go back to");
                document::with_list(file, &text, &format!("Wave {wave} - Revert point"), &[line])
            })
            .await?;
        }
        let executed = Executed { unwritten, ..Executed::new(launch, vec![(done.post, facts)]) };
        if incomplete.is_contract {
            // CON-155
            let blocked = blocked(cx, wave, BlockReason::Contract, &incomplete.problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        if !incomplete.problems.is_empty() {
            let blocked = blocked(cx, wave, BlockReason::AgentFailure, &incomplete.problems, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_agent, blocked);
        }
        goto!(cx, scout_and_wave::predict, executed)
    }
}

impl LogicHandler<scout_and_wave::solo_failed> for SoloFailed {
    async fn run(
        &self,
        SoloFailure { why }: SoloFailure,
        cx: &mut Cx<'_, scout_and_wave::solo_failed>,
    ) -> Route<scout_and_wave::solo_failed> {
        let launch = cx.input_of::<scout_and_wave::solo>()?;
        // CON-153: its commits are recorded here, so they are not lost whatever the answer is.
        cx.worktree().await?.adopt_commits().await?;
        let label = launch.only().ok_or("a wave of several agents is no solo wave")?.post.label();
        let (wave, problem) = (launch.wave, format!("{label} has not reported: {why}"));
        let executed = Executed::new(launch, Vec::new());
        let blocked = blocked(cx, wave, BlockReason::AgentFailure, &[problem], Some(executed))?;
        goto!(cx, scout_and_wave::blocked_agent, blocked)
    }
}
