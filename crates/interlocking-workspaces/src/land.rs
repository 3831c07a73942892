//! Landing: advancing the branch that it was all for.

use crate::error::{GitWorkspacesError, is_a_lock};
use crate::git_run::GitRun;
use crate::lock::lock;
use crate::settings::Settings;
use interlocking_worktree::{BranchName, CommitId, CreateBranchError, FastForwardError};
use std::time::{Duration, Instant};

/// How long it is waited between two looks at whether a git program has let go of the branch's files.
const BETWEEN: Duration = Duration::from_millis(50);

impl GitRun {
    /// The branch to land on.
    pub(crate) async fn landing_branch(&self) -> Result<BranchName, GitWorkspacesError> {
        match self.is_child() {
            true => Err(GitWorkspacesError::ChildLands),
            false => self.blocking((), |run| run.landing()).await,
        }
    }

    /// Whether the branch contains a commit that has the same files as `commit`.
    pub(crate) async fn has_landed_as(
        &self,
        branch: &BranchName,
        landed: CommitId,
        commit: CommitId,
    ) -> Result<bool, GitWorkspacesError> {
        let branch = branch.clone();
        self.blocking((), move |run| {
            let repository = &run.settings().repository;
            let Some(head) = repository.branch_head(&branch)? else { return Ok(false) };
            // One that did not land may be gone.
            let is_there = repository.commit(landed).is_ok() && repository.is_ancestor(landed, head)?;
            Ok(is_there && repository.diff(landed, commit)?.is_empty())
        })
        .await
    }

    /// Advances the branch to `commit`, which contains what the branch is at, from `from`, if that is given. Where it has `commit`
    /// already nothing is to be done: the process that had advanced it was killed before that was recorded.
    pub(crate) async fn land(
        &self,
        target: BranchName,
        from: Option<CommitId>,
        commit: CommitId,
    ) -> Result<(), GitWorkspacesError> {
        let begun = Instant::now();
        loop {
            let held = lock(self.settings().repository.common_directory(), target.as_str()).await;
            let branch = target.clone();
            match self.blocking(held, move |run| run.advance(&branch, from, commit)).await {
                Err(GitWorkspacesError::FastForward(problem)) if is_a_lock(&problem) => {
                    let waited = begun.elapsed();
                    if waited >= self.settings().patience {
                        let problem = Box::new(problem);
                        return Err(GitWorkspacesError::Busy { branch: target, waited, problem });
                    }
                }
                landed => return landed,
            }
            tokio::time::sleep(BETWEEN).await;
        }
    }

    fn advance(&self, branch: &BranchName, from: Option<CommitId>, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let Settings { repository, landing, .. } = self.settings();
        match repository.branch_head(branch)? {
            Some(head) if repository.is_ancestor(commit, head)? => {}
            Some(head) => match (repository.fast_forward(branch, commit, from.unwrap_or(head)), from) {
                // Somebody else has advanced it since it was looked at: whether to that, is seen next time.
                (Err(FastForwardError::Moved { .. }), None) => return self.advance(branch, from, commit),
                (advanced, _) => advanced?,
            },
            None if landing.as_ref() == Some(branch) => match repository.create_branch(branch, commit) {
                Err(CreateBranchError::Exists { .. }) => return self.advance(branch, from, commit),
                made => made?,
            },
            None => match from {
                Some(expected) => {
                    return Err(FastForwardError::Moved { branch: branch.clone(), expected, found: None }.into());
                }
                None => return Err(GitWorkspacesError::NoBranch { branch: branch.clone() }),
            },
        }
        *self.has_landed() = true;
        Ok(())
    }
}
