//! Checks before anything is merged: reports are compared with the branches.

use super::staging::{STAGING, text_of};
use super::{Predict, blocked};
use crate::document::{self, Impl};
use crate::graph::{Executed, Launch, Merged, scout_and_wave};
use crate::protocol::agent::Place;
use crate::protocol::deviation::misdirected;
use crate::protocol::prediction::{Discrepancy, predict, reconcile};
use crate::protocol::state::BlockReason;
use interlocking::prelude::*;
use interlocking::workspaces::text_at;
use std::collections::BTreeSet;

impl LogicHandler<scout_and_wave::predict> for Predict {
    async fn run(
        &self,
        executed: Executed,
        cx: &mut Cx<'_, scout_and_wave::predict>,
    ) -> Route<scout_and_wave::predict> {
        let Executed { launch, facts, .. } = &executed;
        let file = cx.entry()?.document()?.clone();
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        let wave = read.wave(launch.wave).ok_or_else(|| format!("the document has no wave {}", launch.wave))?;
        // An agent that is alone works on the staging branch.
        let alone_on = staging.branch().filter(|_| launch.only().is_some()).map(ToString::to_string);
        let later = (launch.wave + 1..).map_while(|wave| read.wave(wave)).flat_map(|wave| &wave.agents);
        let later: Vec<_> = later.map(|files| files.agent.clone()).collect();
        let mut orchestrators: BTreeSet<String> =
            read.waves.append_only.iter().map(|shared| shared.file.to_string()).collect();
        orchestrators.insert(file.to_string());
        // The reports are those of the document: it is the record, and a person may have corrected one.
        let mut reported = Vec::new();
        let (mut stopping, mut noted) = (Vec::new(), Vec::new());
        for (post, facts) in facts {
            let report = read.report(&post.agent).ok_or_else(|| format!("agent {} has no report", post.agent))?;
            let files = wave.agents.iter().find(|files| files.agent == post.agent);
            let files = files.ok_or_else(|| format!("wave {} has no agent {}", launch.wave, post.agent))?;
            reported.push((&post.agent, report, facts));
            let misdirected = misdirected(report, &later).into_iter().map(Discrepancy::from);
            let branch = alone_on.clone().unwrap_or_else(|| post.label());
            let place = Place { worktree: post.worktree(alone_on.is_some()), branch };
            let found = reconcile(files, &place, report, facts, &orchestrators);
            for discrepancy in found.into_iter().chain(misdirected) {
                match discrepancy.stops_the_merge() {
                    true => stopping.push(format!("{}: {discrepancy}", post.label())),
                    false => noted.push((post.clone(), discrepancy)),
                }
            }
        }
        let conflicts = predict(reported);
        if !noted.is_empty() {
            let heading = format!("Wave {} - Discrepancies", launch.wave);
            let lines: Vec<_> = noted.iter().map(|(post, said)| format!("Agent {}: {said}", post.agent)).collect();
            let text = document::with_list(file.as_str(), &text, &heading, &lines)?;
            staging.write_file(file.in_repository(), text).await?;
            staging.commit(format!("docs: discrepancies of wave {}", launch.wave)).await?;
        }
        if !conflicts.is_empty() {
            let wave = launch.wave;
            let blocked = blocked(cx, wave, BlockReason::Ownership, &conflicts, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        if !stopping.is_empty() {
            let wave = launch.wave;
            let blocked = blocked(cx, wave, BlockReason::AgentFailure, &stopping, Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_agent, blocked);
        }
        let (target, at) = cx.target().await?;
        let now = text_at(cx.repository()?, at, &file).await?.unwrap_or_default();
        let frozen = Impl::read(file.as_str(), &now).map(|read| read.contracts_hash);
        if frozen.as_ref() != Ok(&launch.contracts_hash) {
            let wave = launch.wave;
            let problem = format!("the contracts on `{target}` are not those that wave {wave} was launched with");
            let blocked = blocked(cx, wave, BlockReason::Contract, &[problem], Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        // SAW-113
        if at != launch.base {
            let (wave, base) = (launch.wave, launch.base);
            let problem = format!(
                "`{target}` is at {at}, and wave {wave} was launched at {base}: its worktrees have to be made anew"
            );
            let blocked = blocked(cx, wave, BlockReason::Contract, &[problem], Some(executed))?;
            return goto!(cx, scout_and_wave::blocked_contract, blocked);
        }
        if launch.only().is_none() {
            return goto!(cx, scout_and_wave::merge, executed);
        }
        // SAW-30: its work is on the staging branch already.
        let commit = cx.worktree_of(STAGING).await?.head();
        let agents = executed.facts.into_iter().map(|(post, _)| post.agent).collect();
        let Launch { wave, contracts_hash, .. } = executed.launch;
        goto!(cx, scout_and_wave::append, Merged { wave, agents, contracts_hash, commit })
    }
}
