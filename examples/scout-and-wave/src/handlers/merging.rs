//! Bringing a wave together on the staging branch.

use super::{Append, LONGEST, Merge, Predict, STAGING, blocked};
use crate::document::{self, Impl};
use crate::graph::{Executed, Merged, scout_and_wave};
use crate::protocol::append_only::{lines_of, only_adds, with_lines};
use crate::protocol::path::FilePath;
use crate::protocol::prediction::{Facts, predict, reconcile};
use crate::protocol::state::BlockReason;
use crate::workbench::{in_repository, text_at};
use interlocking::prelude::*;
use interlocking::workspaces::{Checkout, GitWorkspacesError};
use interlocking::worktree::MergeError;
use std::collections::BTreeSet;

impl LogicHandler<scout_and_wave::predict> for Predict {
    async fn run(
        &self,
        executed: Executed,
        cx: &mut Cx<'_, scout_and_wave::predict>,
    ) -> Route<scout_and_wave::predict> {
        let Executed { launch, facts } = &executed;
        let file = cx.entry()?.document.clone();
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        let wave = read.wave(launch.wave).ok_or_else(|| format!("the document has no wave {}", launch.wave))?;
        let mut orchestrators: BTreeSet<String> =
            read.waves.append_only.iter().map(|shared| shared.file.to_string()).collect();
        orchestrators.insert(file.to_string());
        // The reports are those of the document: it is the record, and a person may have put one right.
        let mut reported = Vec::new();
        let (mut stopping, mut noted) = (Vec::new(), Vec::new());
        for (post, facts) in facts {
            let report = read.report(&post.agent).ok_or_else(|| format!("agent {} has no report", post.agent))?;
            let files = wave.agents.iter().find(|files| files.agent == post.agent);
            let files = files.ok_or_else(|| format!("wave {} has no agent {}", launch.wave, post.agent))?;
            reported.push((&post.agent, report, facts));
            for discrepancy in reconcile(post, report, facts, files, &orchestrators) {
                match discrepancy.stops_the_merge() {
                    true => stopping.push(format!("{}: {discrepancy}", post.label())),
                    false => noted.push((post.clone(), discrepancy)),
                }
            }
        }
        let conflicts = predict(reported);
        if !noted.is_empty() {
            let lines: Vec<_> = noted.iter().map(|(post, said)| format!("Agent {}: {said}", post.agent)).collect();
            let heading = format!("Wave {} - Discrepancies", launch.wave);
            let text = document::with_list(file.as_str(), &text, &heading, &lines)?;
            staging.write_file(&file.in_repository()?, text).await?;
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
        goto!(cx, scout_and_wave::merge, executed)
    }
}

impl LogicHandler<scout_and_wave::merge> for Merge {
    async fn run(&self, executed: Executed, cx: &mut Cx<'_, scout_and_wave::merge>) -> Route<scout_and_wave::merge> {
        let Executed { launch, facts } = executed;
        let repository = cx.repository()?;
        let mut commit = cx.worktree_of(STAGING).await?.head();
        for (post, Facts { head, .. }) in &facts {
            // SAW-47, SAW-110: that it is merged shows in the history, whatever became of the branch.
            let (head, at) = (*head, commit);
            let is_merged = in_repository(repository.clone(), move |repository| Ok(repository.is_ancestor(head, at)?));
            if is_merged.await? {
                continue;
            }
            let mut staging = cx.worktree_of(STAGING).await?;
            commit = match staging.merge(head, format!("Merge {}", post.label())).await {
                Ok(commit) => commit,
                Err(GitWorkspacesError::Merge(error @ MergeError::Conflict { .. })) => {
                    let wave = launch.wave;
                    let executed = Executed { launch, facts: facts.clone() };
                    let blocked = blocked(cx, wave, BlockReason::Ownership, &[error], Some(executed))?;
                    return goto!(cx, scout_and_wave::blocked_contract, blocked);
                }
                Err(error) => return Err(error.into()),
            };
            cx.note(format!("merged {}", post.label()));
        }
        // SAW-28: their files; branches stay until the wave is verified, and longer (CON-115).
        cx.retire_child_workspaces::<scout_and_wave::agents>().await?;
        let agents = facts.into_iter().map(|(post, _)| post.agent).collect();
        let contracts_hash = launch.contracts_hash;
        goto!(cx, scout_and_wave::append, Merged { wave: launch.wave, agents, contracts_hash, commit })
    }
}

impl LogicHandler<scout_and_wave::append> for Append {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::append>) -> Route<scout_and_wave::append> {
        let file = cx.entry()?.document.clone();
        let mut staging = cx.worktree_of(STAGING).await?;
        let text = text_of(&staging, &file).await?;
        let read = Impl::read(file.as_str(), &text)?;
        for shared in &read.waves.append_only {
            let before = text_of(&staging, &shared.file).await?;
            let after = with_lines(&before, lines_of(shared, &merged.agents));
            if !only_adds(&before, &after) {
                return Err(format!("the lines for `{}` would change others", shared.file).into());
            }
            if after != before {
                staging.write_file(&shared.file.in_repository()?, after).await?;
            }
        }
        let committed = staging.commit(format!("Add the lines of wave {}", merged.wave)).await?;
        let commit = committed.unwrap_or(merged.commit);
        goto!(cx, scout_and_wave::verify, Merged { commit, ..merged })
    }
}

/// A file of the staging worktree.
pub(super) async fn text_of(staging: &Checkout<'_>, file: &FilePath) -> Result<String, NodeError> {
    let bytes = staging.read_file(&file.in_repository()?, LONGEST).await?;
    let bytes = bytes.ok_or_else(|| format!("there is no file `{file}`"))?;
    Ok(String::from_utf8(bytes).map_err(|error| format!("`{file}` is no text: {error}"))?)
}
