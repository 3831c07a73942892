//! Whether the next wave may begin, and the assignment of each of its agents.

use super::append::without_text;
use super::recover::clear_up;
use super::staging::{STAGING, text_of};
use super::{Pending, blocked, go_to};
use crate::document::{Field, Impl};
use crate::graph::{
    Assignment, Done, Draft, Executed, Launch, Next, ReviewQuestion, ScoutAndWave, Sent, scout_and_wave,
};
use crate::protocol::agent::{AgentLetter, Post};
use crate::protocol::bootstrap::TYPES_WAVE;
use crate::protocol::invariant::{Invariant, Violation};
use crate::protocol::ownership::{self, Wave};
use crate::protocol::state::{BlockReason, State};
use crate::request::{Brief, Request};
use crate::workbench::{GateFailure, refuse_changes};
use interlocking::graph::Node;
use interlocking::prelude::*;
use interlocking::workspaces::{FilePath, text_at};
use std::collections::BTreeSet;

impl LogicHandler<scout_and_wave::pending> for Pending {
    async fn run(
        &self,
        Next { wave: number, executed }: Next,
        cx: &mut Cx<'_, scout_and_wave::pending>,
    ) -> Route<scout_and_wave::pending> {
        let document = cx.entry()?.document()?.clone();
        let repository = cx.repository()?;
        if let Request::Recover { run, .. } = cx.entry()?.clone() {
            // The branches of its agents have the names that the agents of this run are to have. Their work is in this node's input.
            clear_up(&run, cx).await?;
        }
        // SAW-111
        refuse_changes(repository.clone(), &format!("wave {number}")).await?;
        let (target, base) = cx.target().await?;
        let missing = || format!("there is no document `{document}` on `{target}`");
        let text = text_at(repository, base, &document).await?.ok_or_else(missing)?;
        let read = Impl::read(document.as_str(), &text)?;
        if read.next_wave() != number {
            let what = format!("wave {number} was to begin, and by the document the next wave is {}", read.next_wave());
            return Err(Violation { invariant: Invariant::I3, what }.into());
        }
        // SAW-23: this run continues the document of another run.
        if cx.memory().state == State::Idle {
            if read.status.state == State::Reviewed {
                let question = ReviewQuestion::new(document.clone(), read.suitability);
                let task = format!("What `{document}` describes. It has the plan so far.");
                let draft = Draft { question, brief: Brief::new(task), first_wave: read.waves.first };
                return goto!(cx, scout_and_wave::review, draft);
            }
            go_to(cx, State::WavePending)?;
        }
        cx.update_memory(move |progress| progress.wave = Some(number));
        let wave = read.wave(number).ok_or_else(|| format!("the document has no wave {number}"))?;
        // SAW-35
        if number == TYPES_WAVE && wave.agents.len() != 1 {
            let agents = wave.agents.len();
            let problem =
                format!("wave 0 is one agent, which creates the shared types, and the document gives it {agents}");
            let blocked = blocked(cx, number, BlockReason::Contract, &[problem], executed)?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        // SAW-38: by the document's table, before any worktree is made.
        let problems = ownership::problems(read.waves.first, &read.waves.waves, &read.waves.append_only);
        if !problems.is_empty() {
            let blocked = blocked(cx, number, BlockReason::Ownership, &problems, executed)?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        let mut problems: Vec<_> = missing_contracts(&read, wave).iter().map(ToString::to_string).collect();
        // SAW-74
        problems.extend(read.open_deviations().map(ToString::to_string));
        if self.0.gate_of(&read.waves.gate).is_empty() {
            problems.push(GateFailure::Missing.to_string());
        }
        let descoped = executed.as_ref().map(|executed| still_descoped(executed, wave)).unwrap_or_default();
        let working: Vec<_> =
            wave.agents.iter().map(|files| files.agent.clone()).filter(|agent| !descoped.contains(agent)).collect();
        problems.extend(misplaced(&read, number, &working, wave.agents.len()));
        for file in without_text(&read.waves.append_only, &working, base, cx.repository()?).await? {
            problems.push(format!(
                "lines are to be added to `{file}`, which is not there as text: create it on `{target}`, or change `append_only` under \
                 `## Waves`"
            ));
        }
        if !descoped.is_empty() && descoped.len() == wave.agents.len() {
            problems
                .push(format!("every agent of wave {number} is descoped: give the wave another one, or stop the run"));
        }
        if !problems.is_empty() {
            let blocked = blocked(cx, number, BlockReason::Contract, &problems, executed)?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        let fixed = executed.as_ref().map(|executed| executed.fixed.clone()).unwrap_or_default();
        let (sent, done) = (cx.memory().sent, done(executed, &document, cx).await?);
        let assignments = wave.agents.iter().map(|files| {
            let (_, section) = read
                .prompt(&files.agent)
                .ok_or_else(|| format!("the document has no prompt for agent {}", files.agent))?;
            let post = Post { wave: number, agent: files.agent.clone() };
            let before = sent.get(&post.label());
            // SAW-45: an agent whose section has changed works again. SAW-113: a worktree at another base is made anew, and
            // one that a person has worked in; an agent that is done keeps its work.
            let is_same = before.is_some_and(|known| known.section == *section);
            let is_stale =
                before.is_some_and(|known| known.base != base || known.generation == 0 || fixed.contains(&post.agent));
            let generation = before.map_or(1, |known| known.generation + u32::from(!is_same || is_stale));
            let kept = done.iter().find(|done| is_same && is_stale && done.post == post).cloned();
            let (wave_size, document, section) = (wave.agents.len(), document.clone(), section.clone());
            Ok::<_, NodeError>(Assignment { post, generation, wave_size, base, document, section, kept })
        });
        let assignments = assignments.collect::<Result<Vec<_>, _>>()?;
        // SAW-36: the contracts are frozen from here on.
        let launch = Launch { wave: number, base, contracts_hash: read.contracts_hash, assignments, descoped };
        for Assignment { post, generation, section, .. } in launch.working() {
            let (label, sent) = (post.label(), Sent { generation: *generation, section: section.clone(), base });
            cx.update_memory(move |progress| _ = progress.sent.insert(label.clone(), sent.clone()));
        }
        cx.worktree_of(STAGING).await?.reset(base).await?;
        go_to(cx, State::WaveExecuting)?;
        match launch.only() {
            Some(_) => goto!(cx, scout_and_wave::solo, launch),
            None => goto!(cx, scout_and_wave::agents, launch),
        }
    }
}

/// The descoped agents of a wave that was launched before that the wave still has.
fn still_descoped(executed: &Executed, wave: &Wave) -> BTreeSet<AgentLetter> {
    let agents = wave.agents.iter().map(|files| &files.agent);
    agents.filter(|agent| executed.launch.descoped.contains(agent)).cloned().collect()
}

/// What is wrong with the sections of these agents, in a wave of so many, that name another worktree than the agent is
/// given: a person has moved the agent to another wave, or others into its wave.
fn misplaced(read: &Impl, wave: u32, working: &[AgentLetter], agents: usize) -> Vec<String> {
    let problem = |agent: &AgentLetter| {
        let post = Post { wave, agent: agent.clone() };
        let (prompt, section) = read.prompt(agent)?;
        let given = post.worktree(agents == 1 && !post.has_worktree_by(section));
        let worktree = post.worktree(agents == 1);
        (!prompt.field(Field::Report).contains(&format!("`{given}`"))).then(|| {
            format!(
                "the section of agent {agent} does not name the worktree that it has in wave {wave}: write `{worktree}` into its field \
                 8, and into its field 0 the directory and the branch where it works"
            )
        })
    };
    working.iter().filter_map(problem).collect()
}

/// The agents of a wave that was launched before that have completed and committed all of their work. An agent that was alone
/// always works again.
pub(super) async fn done<N: Node<Graph = ScoutAndWave>>(
    executed: Option<Executed>,
    document: &FilePath,
    cx: &mut Cx<'_, N>,
) -> Result<Vec<Done>, NodeError> {
    let of_several = executed.filter(|executed| executed.launch.only().is_none());
    let Some(Executed { facts, .. }) = of_several else { return Ok(Vec::new()) };
    // Their reports are in the document where they were written: an agent that is not alone does not work there.
    let staging = cx.worktree_of(STAGING).await?;
    let read = Impl::read(document.as_str(), &text_of(&staging, document).await?)?;
    let done = facts.into_iter().filter_map(|(post, facts)| {
        let report = read.report(&post.agent)?.clone();
        let is_done = report.is_complete() && facts.uncommitted.is_empty() && facts.head != facts.base;
        is_done.then_some(Done { post, report, facts })
    });
    Ok(done.collect())
}

/// I2: a contract that agents of a wave provide or call must be in the prompts of these agents (SAW-14).
fn missing_contracts(read: &Impl, wave: &Wave) -> Vec<Violation> {
    let mut missing = Vec::new();
    for contract in &read.contracts.contracts {
        let parties = contract.provided_by.iter().chain(&contract.called_by);
        for agent in parties.filter(|agent| wave.agents.iter().any(|files| files.agent == **agent)) {
            let has_it = read.prompt(agent).is_some_and(|(_, section)| section.contains(contract.signature.trim()));
            if contract.signature.trim().is_empty() || !has_it {
                let what =
                    format!("the prompt of agent {agent} has not the signature of the contract `{}`", contract.name);
                missing.push(Violation { invariant: Invariant::I2, what });
            }
        }
    }
    missing
}
