//! The gate of a wave fails (SAW-33).

use super::{question, stop};
use crate::graph::{Blocked, BlockedQuestion, Merged, VerificationAnswer, scout_and_wave};
use crate::handlers::BlockedVerify;
use crate::handlers::staging::STAGING;
use interlocking::prelude::*;

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
