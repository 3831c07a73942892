//! A wave that cannot go on without a person (SAW-33, SAW-43, SAW-45, CON-97).

use super::merging::text_of;
use super::{BlockedAgent, BlockedContract, BlockedVerify, STAGING, go_to};
use crate::document;
use crate::graph::{
    AgentFailureAnswer, Blocked, BlockedQuestion, ContractAnswer, Executed, Merged, Next, Progress, SawResult,
    ScoutAndWave, Sent, VerificationAnswer, scout_and_wave,
};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::path::FilePath;
use crate::protocol::prediction::Facts;
use crate::protocol::report::{CompletionReport, ReportedCommit, Status, Verification};
use crate::protocol::state::State;
use crate::workbench::in_repository;
use interlocking::graph::{Edge, Node, Remembers};
use interlocking::prelude::*;
use interlocking::worktree::{FileChange, FileChangeKind};

impl HumanHandler<scout_and_wave::blocked_agent> for BlockedAgent {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
    ) -> Result<BlockedQuestion, NodeError> {
        let ways = [
            "{\"rerun\": {\"agents\": [\"A\"]}}: these agents are sent to work again, from the beginning",
            "{\"fixed\": {\"agents\": [\"A\"]}}: you have committed what was missing on their branches, such as wave1-agent-a",
            "{\"descope\": {\"agents\": [\"A\"]}}: the wave goes on without them",
            "\"stop\": the run ends",
        ];
        question(blocked, &ways, cx).await
    }

    async fn answered(
        &self,
        blocked: Blocked,
        answer: AgentFailureAnswer,
        cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
    ) -> Route<scout_and_wave::blocked_agent> {
        let executed = blocked.executed.clone().ok_or("a wave without a launch is blocked by its agents")?;
        let agents = match &answer {
            AgentFailureAnswer::Stop => return stop(blocked, cx),
            AgentFailureAnswer::Rerun { agents }
            | AgentFailureAnswer::Fixed { agents }
            | AgentFailureAnswer::Descope { agents } => agents.clone(),
        };
        let is_of_wave =
            |letter: &&AgentLetter| executed.launch.assignments.iter().any(|sent| sent.post.agent == **letter);
        if let Some(stranger) = agents.iter().find(|letter| !is_of_wave(letter)) {
            return again(blocked, format!("wave {} has no agent {stranger}", executed.launch.wave), cx);
        }
        match answer {
            AgentFailureAnswer::Rerun { .. } => {
                let mut launch = executed.launch;
                for sent in launch.assignments.iter_mut().filter(|sent| agents.contains(&sent.post.agent)) {
                    sent.generation += 1;
                    let (label, generation) = (sent.post.label(), sent.generation);
                    let section = sent.section.clone();
                    cx.update_memory(move |progress| {
                        _ = progress.sent.insert(label.clone(), Sent { generation, section: section.clone() });
                    });
                }
                // New worktrees begin where the wave began.
                cx.worktree_of(STAGING).await?.reset(launch.base).await?;
                go_to(cx, State::WaveExecuting)?;
                goto!(cx, scout_and_wave::agents, launch)
            }
            AgentFailureAnswer::Fixed { .. } => match fixed(executed, &agents, cx).await? {
                Ok(executed) => {
                    go_to(cx, State::WaveMerging)?;
                    goto!(cx, scout_and_wave::predict, executed)
                }
                Err(problem) => again(blocked, problem, cx),
            },
            AgentFailureAnswer::Descope { .. } => {
                let mut executed = executed;
                executed.facts.retain(|(post, _)| !agents.contains(&post.agent));
                if executed.facts.is_empty() {
                    return again(blocked, "nobody would be left: stop the run instead".to_owned(), cx);
                }
                write(cx, &format!("docs: agents of wave {} are descoped", executed.launch.wave), |file, text| {
                    let lines: Vec<_> =
                        agents.iter().map(|letter| format!("Agent {letter}: nothing of it is merged")).collect();
                    document::with_list(file, text, &format!("Wave {} - Descoped", executed.launch.wave), &lines)
                })
                .await?;
                go_to(cx, State::WaveMerging)?;
                goto!(cx, scout_and_wave::predict, executed)
            }
            AgentFailureAnswer::Stop => stop(blocked, cx),
        }
    }
}

impl HumanHandler<scout_and_wave::blocked_contract> for BlockedContract {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_contract>,
    ) -> Result<BlockedQuestion, NodeError> {
        let ways = [
            "\"revised\": you have put the document right and committed it on the target branch; agents whose section has changed work again",
            "\"stop\": the run ends",
        ];
        question(blocked, &ways, cx).await
    }

    async fn answered(
        &self,
        blocked: Blocked,
        answer: ContractAnswer,
        cx: &mut Cx<'_, scout_and_wave::blocked_contract>,
    ) -> Route<scout_and_wave::blocked_contract> {
        match answer {
            ContractAnswer::Stop => stop(blocked, cx),
            ContractAnswer::Revised => {
                go_to(cx, State::WavePending)?;
                goto!(cx, scout_and_wave::pending, Next { wave: blocked.wave })
            }
        }
    }
}

impl HumanHandler<scout_and_wave::blocked_verify> for BlockedVerify {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_verify>,
    ) -> Result<BlockedQuestion, NodeError> {
        let ways = [
            "\"fixed\": you have put files right in the staging worktree, and did not commit them; the gate runs again",
            "\"stop\": the run ends",
        ];
        question(blocked, &ways, cx).await
    }

    async fn answered(
        &self,
        blocked: Blocked,
        answer: VerificationAnswer,
        cx: &mut Cx<'_, scout_and_wave::blocked_verify>,
    ) -> Route<scout_and_wave::blocked_verify> {
        match answer {
            VerificationAnswer::Stop => stop(blocked, cx),
            VerificationAnswer::Fixed => {
                let merged = blocked.merged.ok_or("a wave without a merge is blocked by its gate")?;
                let mut staging = cx.worktree_of(STAGING).await?;
                let committed = staging.commit(format!("fix: the gate of wave {}, by hand", merged.wave)).await?;
                let commit = committed.unwrap_or(merged.commit);
                goto!(cx, scout_and_wave::verify, Merged { commit, ..merged })
            }
        }
    }
}

async fn question<N: Node>(blocked: &Blocked, ways: &[&str], cx: &mut Cx<'_, N>) -> Result<BlockedQuestion, NodeError> {
    let Blocked { wave, reason, problems, .. } = blocked.clone();
    let staging = cx.worktree_of(STAGING).await?.path().display().to_string();
    let ways = ways.iter().map(|way| (*way).to_owned()).collect();
    Ok(BlockedQuestion { wave, reason, problems, staging, ways })
}

/// The run ends, because a person wants that.
fn stop<N>(blocked: Blocked, cx: &Cx<'_, N>) -> Route<N>
where
    N: Node + Edge<scout_and_wave::exit, To = scout_and_wave::exit>,
{
    let Blocked { wave, reason, problems, .. } = blocked;
    cx.goto::<scout_and_wave::exit>(SawResult::Stopped { wave, reason, problems })
}

/// An answer that cannot be followed: the question is asked again, and says why.
fn again(
    blocked: Blocked,
    problem: String,
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Route<scout_and_wave::blocked_agent> {
    let mut blocked = blocked;
    blocked.problems.push(problem);
    goto!(cx, self, blocked)
}

/// What is on the branches of these agents now, where a person has worked (SAW-43). The inner error is why that cannot be.
async fn fixed(
    mut executed: Executed,
    agents: &[AgentLetter],
    cx: &mut Cx<'_, scout_and_wave::blocked_agent>,
) -> Result<Result<Executed, String>, NodeError> {
    let mut reports = Vec::new();
    for letter in agents {
        let post = Post { wave: executed.launch.wave, agent: letter.clone() };
        let before = executed.facts.iter().find(|(known, _)| *known == post);
        let base = before.map_or(executed.launch.base, |(_, facts)| facts.base);
        let branch = post.branch()?;
        let looked = in_repository(cx.repository()?, move |repository| match repository.branch_head(&branch)? {
            Some(head) => Ok(Some((head, repository.diff(base, head)?))),
            None => Ok(None),
        });
        let Some((head, changes)) = looked.await? else {
            return Ok(Err(format!("there is no branch `{}`", post.label())));
        };
        let touched = changes.iter().flat_map(FileChange::touched).map(|path| path.to_text().into_owned()).collect();
        reports.push((post.clone(), by_hand(&post, head.to_string(), &changes)?));
        executed.facts.retain(|(known, _)| *known != post);
        executed.facts.push((post, Facts { base, head, touched, uncommitted: Default::default() }));
    }
    executed.facts.sort_by(|one, other| one.0.cmp(&other.0));
    let missing =
        executed.launch.assignments.iter().find(|sent| !executed.facts.iter().any(|(post, _)| *post == sent.post));
    if let Some(sent) = missing {
        return Ok(Err(format!("agent {} has not reported: name it, too", sent.post.agent)));
    }
    write(cx, &format!("docs: wave {} is finished by hand", executed.launch.wave), |file, text| {
        reports
            .iter()
            .try_fold(text.to_owned(), |text, (post, report)| document::with_report(file, &text, post, report))
    })
    .await?;
    Ok(Ok(executed))
}

/// The report of what a person has finished: what git knows, and no more.
fn by_hand(post: &Post, head: String, changes: &[FileChange]) -> Result<CompletionReport, NodeError> {
    let (mut files_changed, mut files_created) = (Vec::new(), Vec::new());
    for change in changes {
        for path in change.touched() {
            let path = FilePath::new(path.to_text())?;
            match change.kind {
                FileChangeKind::Added => files_created.push(path),
                _ => files_changed.push(path),
            }
        }
    }
    let verification =
        Verification { passed: false, command: "not run by an agent".to_owned(), tests_passed: 0, tests: 0 };
    Ok(CompletionReport {
        status: Status::Complete,
        worktree: post.worktree(),
        commit: ReportedCommit::Hash(head),
        files_changed,
        files_created,
        interface_deviations: Vec::new(),
        out_of_scope_deps: Vec::new(),
        tests_added: Vec::new(),
        verification,
        notes: "A person has finished this by hand.".to_owned(),
    })
}

/// Changes the document in the staging worktree.
async fn write<N>(
    cx: &mut Cx<'_, N>,
    message: &str,
    change: impl FnOnce(&str, &str) -> Result<String, document::WriteError>,
) -> Result<(), NodeError>
where
    N: Node<Graph = ScoutAndWave> + Remembers<Memory = Progress>,
{
    let file = cx.entry()?.document.clone();
    let mut staging = cx.worktree_of(STAGING).await?;
    let text = change(file.as_str(), &text_of(&staging, &file).await?)?;
    staging.write_file(&file.in_repository()?, text).await?;
    staging.commit(message).await?;
    Ok(())
}
