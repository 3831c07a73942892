//! Runs the gate on the whole project, in the state that it will have once the wave has landed.

use super::staging::STAGING;
use super::{Verify, go_to};
use crate::document::Impl;
use crate::graph::{Blocked, Merged, scout_and_wave};
use crate::protocol::state::{BlockReason, State};
use interlocking::prelude::*;
use interlocking::workspaces::{diverged, text_at};

impl LogicHandler<scout_and_wave::verify> for Verify {
    async fn run(&self, merged: Merged, cx: &mut Cx<'_, scout_and_wave::verify>) -> Route<scout_and_wave::verify> {
        let (merged, problem) = match with_target(merged, cx).await? {
            (merged, Ok(read)) => {
                let checkout = cx.fresh_checkout(merged.commit).await?;
                match self.0.gate(&read.waves.gate, checkout.path()).await? {
                    Ok(()) => return goto!(cx, scout_and_wave::verified, merged),
                    Err(failure) => (merged, failure.to_string()),
                }
            }
            (merged, Err(problem)) => (merged, problem),
        };
        // An earlier failure of the gate is recorded already.
        if cx.memory().state != State::Blocked(BlockReason::Verification) {
            go_to(cx, State::Blocked(BlockReason::Verification))?;
        }
        let (wave, problems) = (merged.wave, vec![problem]);
        let (reason, merged) = (BlockReason::Verification, Some(merged));
        goto!(cx, scout_and_wave::blocked_verify, Blocked { wave, reason, problems, executed: None, merged })
    }
}

/// The document in the merge.
async fn read(merged: &Merged, cx: &Cx<'_, scout_and_wave::verify>) -> Result<Impl, NodeError> {
    let file = cx.entry()?.document()?.clone();
    let text = text_at(cx.repository()?, merged.commit, &file).await?.ok_or("the document is not there")?;
    Ok(Impl::read(file.as_str(), &text)?)
}

/// The merge, with others' commits on the target branch since the wave was launched, for example by a person who is asked about
/// the wave: what lands is what was verified. Beside it is the document in the merge, or the reason why the merge must not land: the
/// two conflict, or the contracts are others, which a merge of an earlier execution may have brought, too.
async fn with_target(
    mut merged: Merged,
    cx: &mut Cx<'_, scout_and_wave::verify>,
) -> Result<(Merged, Result<Impl, String>), NodeError> {
    let ((target, at), wave) = (cx.target().await?, merged.wave);
    if diverged(cx.repository()?, at, merged.commit).await? {
        let both = cx.worktree_of(STAGING).await?.merge(at, format!("Merge {target} into wave {wave}")).await;
        match both {
            Ok(commit) => merged.commit = commit,
            Err(error) if error.conflicts().is_some() => {
                let problem = format!(
                    "`{target}` has moved to {at} since wave {wave} was launched, and the two do not go together: {error}; change \
                     `{target}`, or merge it in the staging worktree and commit that"
                );
                return Ok((merged, Err(problem)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    // SAW-36
    let read = read(&merged, cx).await?;
    let is_as_frozen = read.contracts_hash == merged.contracts_hash;
    let changed =
        || format!("the contracts on `{target}` are not those that wave {wave} was made by: put them back there");
    Ok((merged, if is_as_frozen { Ok(read) } else { Err(changed()) }))
}
