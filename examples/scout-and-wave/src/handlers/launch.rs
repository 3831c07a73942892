//! Whether the next wave may begin, and what each of its agents is told.

use super::{Pending, STAGING, blocked, go_to};
use crate::document::Impl;
use crate::graph::{Assignment, Launch, Next, Sent, scout_and_wave};
use crate::protocol::agent::Post;
use crate::protocol::invariant::{Invariant, Violation};
use crate::protocol::ownership::{self, Wave};
use crate::protocol::state::{BlockReason, State};
use crate::workbench::{in_repository, text_at};
use interlocking::prelude::*;

impl LogicHandler<scout_and_wave::pending> for Pending {
    async fn run(
        &self,
        Next { wave: number }: Next,
        cx: &mut Cx<'_, scout_and_wave::pending>,
    ) -> Route<scout_and_wave::pending> {
        let document = cx.entry()?.document.clone();
        let repository = cx.repository()?;
        // SAW-111
        let changes = in_repository(repository.clone(), |repository| match repository.main_worktree()? {
            Some(user) => Ok(user.status()?.iter().map(ToString::to_string).collect::<Vec<_>>()),
            None => Ok(Vec::new()),
        });
        let changes = changes.await?;
        if !changes.is_empty() {
            return Err(format!(
                "wave {number} does not begin, as the working tree has changes that are not committed: commit or remove them, then \
                 resume the run with --retry:\n{}",
                changes.join("\n")
            )
            .into());
        }
        let (target, base) = cx.target().await?;
        let missing = || format!("there is no document `{document}` on `{target}`");
        let text = text_at(repository, base, &document).await?.ok_or_else(missing)?;
        let read = Impl::read(document.as_str(), &text)?;
        let verified = read.status.waves_verified;
        if verified + 1 != number {
            let what = format!("wave {number} was to begin, and the document says that {verified} waves are verified");
            return Err(Violation { invariant: Invariant::I3, what }.into());
        }
        // SAW-38: by the table of the document, before any worktree.
        let problems = ownership::problems(&read.waves.waves, &read.waves.append_only);
        if !problems.is_empty() {
            let blocked = blocked(cx, number, BlockReason::Ownership, &problems, None)?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        let wave = read.wave(number).ok_or_else(|| format!("the document has no wave {number}"))?;
        let missing = missing_contracts(&read, wave);
        if !missing.is_empty() {
            let blocked = blocked(cx, number, BlockReason::Contract, &missing, None)?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        let sent = cx.memory().sent;
        let assignments = wave.agents.iter().map(|files| {
            let (_, section) = read
                .prompt(&files.agent)
                .ok_or_else(|| format!("the document has no prompt for agent {}", files.agent))?;
            let post = Post { wave: number, agent: files.agent.clone() };
            // SAW-45: who is told something else works again; the others keep what they have done.
            let generation = match sent.get(&post.label()) {
                Some(known) if known.section == *section => known.generation,
                Some(known) => known.generation + 1,
                None => 1,
            };
            let (document, section) = (document.clone(), section.clone());
            Ok::<_, NodeError>(Assignment { post, generation, wave_size: wave.agents.len(), base, document, section })
        });
        let assignments = assignments.collect::<Result<Vec<_>, _>>()?;
        for Assignment { post, generation, section, .. } in &assignments {
            let (label, sent) = (post.label(), Sent { generation: *generation, section: section.clone() });
            cx.update_memory(move |progress| _ = progress.sent.insert(label.clone(), sent.clone()));
        }
        cx.worktree_of(STAGING).await?.reset(base).await?;
        go_to(cx, State::WaveExecuting)?;
        // SAW-36: frozen from here on.
        goto!(
            cx,
            scout_and_wave::agents,
            Launch { wave: number, base, contracts_hash: read.contracts_hash, assignments }
        )
    }
}

/// I2: what agents of a wave provide or call must stand in the prompts of those who do (SAW-14).
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
