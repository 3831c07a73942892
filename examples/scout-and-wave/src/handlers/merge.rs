//! Merges the branches of a wave on the staging branch.

use super::staging::{STAGING, change_document};
use super::{Merge, blocked};
use crate::document;
use crate::graph::{Executed, Merged, scout_and_wave};
use crate::protocol::agent::AgentLetter;
use crate::protocol::invariant::{Invariant, Violation};
use crate::protocol::prediction::Facts;
use crate::protocol::state::BlockReason;
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::MergeError;

impl LogicHandler<scout_and_wave::merge> for Merge {
    async fn run(&self, executed: Executed, cx: &mut Cx<'_, scout_and_wave::merge>) -> Route<scout_and_wave::merge> {
        let Executed { launch, facts } = executed;
        if !launch.descoped.is_empty() {
            let wave = launch.wave;
            change_document(cx, &format!("docs: agents of wave {wave} are descoped"), |file, text| {
                let line = |letter: &AgentLetter| format!("Agent {letter}: nothing of it is merged");
                let lines: Vec<_> = launch.descoped.iter().map(line).collect();
                document::with_list(file, text, &format!("Wave {wave} - Descoped"), &lines)
            })
            .await?;
        }
        for (post, Facts { head, .. }) in &facts {
            let mut staging = cx.worktree_of(STAGING).await?;
            let before = staging.head();
            match staging.merge(*head, format!("Merge {}", post.label())).await {
                // SAW-47: the commit is in the history already, whether or not the branch still exists.
                Ok(commit) if commit == before => {}
                Ok(_) => cx.note(format!("merged {}", post.label())),
                Err(GitWorkspacesError::Merge(error @ MergeError::Conflict { .. })) => {
                    let wave = launch.wave;
                    let what = format!("{} cannot be merged: {error}", post.label());
                    let problem = Violation { invariant: Invariant::I1, what };
                    let executed = Executed { launch, facts: facts.clone() };
                    let blocked = blocked(cx, wave, BlockReason::Ownership, &[problem], Some(executed))?;
                    return goto!(cx, scout_and_wave::blocked_contract, blocked);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let commit = cx.worktree_of(STAGING).await?.head();
        // SAW-28: removes their files; branches stay until the wave is verified, and longer (CON-115).
        cx.retire_child_workspaces::<scout_and_wave::agents>().await?;
        let agents = facts.into_iter().map(|(post, _)| post.agent).collect();
        let contracts_hash = launch.contracts_hash;
        goto!(cx, scout_and_wave::append, Merged { wave: launch.wave, agents, contracts_hash, commit })
    }
}
