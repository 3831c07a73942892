//! The gate of a wave fails (SAW-33).

use super::{question, stop};
use crate::graph::{Blocked, BlockedQuestion, Merged, VerificationAnswer, scout_and_wave};
use crate::handlers::BlockedVerify;
use crate::handlers::staging::STAGING;
use interlocking::prelude::*;
use interlocking::workspaces::GitWorkspacesError;
use interlocking::worktree::CommitError;

impl HumanHandler<scout_and_wave::blocked_verify> for BlockedVerify {
    async fn ask(
        &self,
        blocked: &Blocked,
        cx: &mut Cx<'_, scout_and_wave::blocked_verify>,
    ) -> Result<BlockedQuestion, NodeError> {
        let ways = [
            "\"fixed\": you have put files right in the staging worktree; what is not committed there will be, and the gate runs again",
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
                let merged = blocked.merged.clone().ok_or("a wave without a merge is blocked by its gate")?;
                let mut staging = cx.worktree_of(STAGING).await?;
                // Kept as they are: a person may have merged the target branch.
                let adopted = staging.adopt_commits().await?;
                let commit = match staging.commit(format!("fix: the gate of wave {}, by hand", merged.wave)).await {
                    Ok(committed) => committed.unwrap_or(adopted),
                    Err(GitWorkspacesError::Commit(
                        error @ (CommitError::Unmerged { .. } | CommitError::OperationInProgress { .. }),
                    )) => {
                        let (merged, problems) = (Some(merged), vec![error.to_string()]);
                        return goto!(cx, self, Blocked { merged, problems, ..blocked });
                    }
                    Err(error) => return Err(error.into()),
                };
                goto!(cx, scout_and_wave::verify, Merged { commit, ..merged })
            }
        }
    }
}
