//! Merges the branches of a wave on the staging branch.

use super::staging::{STAGING, text_of};
use super::{Merge, blocked};
use crate::document;
use crate::graph::{Executed, Merged, scout_and_wave};
use crate::protocol::agent::AgentLetter;
use crate::protocol::invariant::{Invariant, Violation};
use crate::protocol::ownership::Wave;
use crate::protocol::prediction::Facts;
use crate::protocol::state::BlockReason;
use interlocking::prelude::*;
use std::collections::BTreeSet;

impl LogicHandler<scout_and_wave::merge> for Merge {
    async fn run(&self, executed: Executed, cx: &mut Cx<'_, scout_and_wave::merge>) -> Route<scout_and_wave::merge> {
        let Executed { launch, facts, .. } = &executed;
        let wave = launch.wave;
        let file = cx.entry()?.document()?.clone();
        let mut staging = cx.worktree_of(STAGING).await?;
        let before = text_of(&staging, &file).await?;
        let line = |letter: &AgentLetter| format!("Agent {letter}: nothing of it is merged");
        let lines: Vec<_> = launch.descoped.iter().map(line).collect();
        // A lost run may have written another list.
        let text = document::with_list(file.as_str(), &before, &descoped_heading(wave), &lines)?;
        if text != before {
            staging.write_file(file.in_repository(), text).await?;
            staging.commit(format!("docs: agents of wave {wave} are descoped")).await?;
        }
        for (post, Facts { head, .. }) in facts {
            let mut staging = cx.worktree_of(STAGING).await?;
            let before = staging.head();
            match staging.merge(*head, format!("Merge {}", post.label())).await {
                // SAW-47: the commit is in the history already, whether or not the branch still exists.
                Ok(commit) if commit == before => {}
                Ok(_) => cx.note(format!("merged {}", post.label())),
                Err(error) if error.conflicts().is_some() => {
                    let what = format!("{} cannot be merged: {error}", post.label());
                    let problem = Violation { invariant: Invariant::I1, what };
                    let blocked = blocked(cx, wave, BlockReason::Ownership, &[problem], Some(executed))?;
                    return goto!(cx, scout_and_wave::blocked_contract, blocked);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let commit = cx.worktree_of(STAGING).await?.head();
        // SAW-28: removes their files; branches stay until the wave is verified, and longer (CON-115).
        cx.retire_child_workspaces::<scout_and_wave::agents>().await?;
        let Executed { launch, facts, .. } = executed;
        let agents = facts.into_iter().map(|(post, _)| post.agent).collect();
        let contracts_hash = launch.contracts_hash;
        goto!(cx, scout_and_wave::append, Merged { wave, agents, contracts_hash, commit })
    }
}

/// The agents of a wave that are descoped by the document that its merge has written. A document that names them all is not one of
/// those: an agent that is alone works beside the document, and may have written that.
pub(super) fn descoped_in(file: &str, text: &str, number: u32, wave: &Wave) -> BTreeSet<AgentLetter> {
    let lines = document::list(file, text, &descoped_heading(number));
    let named = |line: &String| line.strip_prefix("Agent ")?.split_once(':')?.0.parse().ok();
    let is_of_wave = |letter: &AgentLetter| wave.agents.iter().any(|files| files.agent == *letter);
    let descoped: BTreeSet<_> = lines.iter().filter_map(named).filter(is_of_wave).collect();
    if descoped.len() < wave.agents.len() { descoped } else { BTreeSet::new() }
}

fn descoped_heading(wave: u32) -> String {
    format!("Wave {wave} - Descoped")
}
