//! Landing: advancing the target branch. A child run lands on its parent, on the branch of the workspace of the map
//! node that started it.
//!
//! **Invariant:** a parent's workspace is advanced under its branch's lock, from the commit that the parent has
//! recorded, and then the new commit is recorded in the parent's journal, before anything else moves the branch. If the
//! process is killed between the two, nothing has landed: the process that resumes the parent resets the branch, and
//! the child, of which no outcome is recorded either, lands again.

use crate::error::{GitWorkspacesError, is_a_lock};
use crate::git_run::{GitRun, Parent};
use crate::lock::lock;
use crate::settings::Settings;
use interlocking_core::net::NodeIndex;
use interlocking_worktree::{BranchName, CommitId, CreateBranchError, FastForwardError};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// How long to wait before retrying while a git program locks the branch's files.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// A landing of a handler: the node, its visit and attempt, and the landing's number in the visit. An attempt finds what
/// earlier attempts of the visit have landed.
pub(crate) type Landing = (NodeIndex, u32, u32, u32);

impl GitRun {
    /// The commit with which a handler has called for this landing since the run was started or resumed; none if no
    /// handler has.
    pub(crate) fn begun_landing(&self, landing: Landing) -> Option<CommitId> {
        self.0.begun_landings.lock().unwrap_or_else(PoisonError::into_inner).get(&landing).copied()
    }

    /// Notes that a handler has called for this landing with `commit`.
    pub(crate) fn begin_landing(&self, landing: Landing, commit: CommitId) {
        self.0.begun_landings.lock().unwrap_or_else(PoisonError::into_inner).entry(landing).or_insert(commit);
    }

    /// The branch to land on.
    pub(crate) async fn landing_branch(&self) -> Result<BranchName, GitWorkspacesError> {
        let Some(parent) = &self.0.parent else { return self.blocking((), |run| run.landing()).await };
        Ok(parent.run.branch_name(parent.landing_workspace()?)?)
    }

    /// The branch to land on, and its head; for a parent's workspace, the commit that the parent has recorded.
    pub(crate) async fn landing_point(&self) -> Result<(BranchName, CommitId), GitWorkspacesError> {
        let Some(parent) = &self.0.parent else {
            return self
                .blocking((), |run| {
                    let branch = run.landing()?;
                    let head = run.head_of(&branch)?;
                    Ok((branch, head))
                })
                .await;
        };
        let name = parent.landing_workspace()?.to_owned();
        parent
            .run
            .blocking((), move |run| Ok((run.branch_name(&name)?, run.current_commit(&name, &mut Vec::new())?)))
            .await
    }

    /// Whether `landed` has landed on the branch and `commit` is the same work made again: it has the same files, and was
    /// not made on top of it. Waits for a landing under way, which may be that of an attempt that has timed out.
    pub(crate) async fn has_landed_as(
        &self,
        branch: &BranchName,
        landed: CommitId,
        commit: CommitId,
    ) -> Result<bool, GitWorkspacesError> {
        let branch = branch.clone();
        let held = lock(self.settings().repository.common_directory(), branch.as_str()).await;
        self.blocking(held, move |run| {
            let repository = &run.settings().repository;
            let Some(head) = repository.branch_head(&branch)? else { return Ok(false) };
            // A commit that did not land may be gone.
            let is_there = repository.commit(landed).is_ok() && repository.is_ancestor(landed, head)?;
            Ok(is_there && !repository.is_ancestor(landed, commit)? && repository.diff(landed, commit)?.is_empty())
        })
        .await
    }

    /// Advances the branch to `commit`, which contains the branch's head, from `from` if that is given. If the branch
    /// already contains `commit`, nothing needs to be done: the process that advanced it was killed before it recorded
    /// that.
    pub(crate) async fn land(
        &self,
        target: BranchName,
        from: Option<CommitId>,
        commit: CommitId,
    ) -> Result<(), GitWorkspacesError> {
        let begun = Instant::now();
        loop {
            let landed = match self.0.parent {
                Some(_) => self.land_on_parent(from, commit).await,
                None => {
                    let held = lock(self.settings().repository.common_directory(), target.as_str()).await;
                    let branch = target.clone();
                    self.blocking(held, move |run| run.advance(&branch, from, commit)).await
                }
            };
            match landed {
                Err(GitWorkspacesError::FastForward(problem)) if is_a_lock(&problem) => {
                    let waited = begun.elapsed();
                    if waited >= self.settings().landing_timeout {
                        let problem = Box::new(problem);
                        return Err(GitWorkspacesError::Busy { branch: target, waited, problem });
                    }
                }
                landed => return landed,
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Runs to its end even if the caller stops waiting, so that what has landed is recorded.
    async fn land_on_parent(&self, from: Option<CommitId>, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let child = self.clone();
        let landing = tokio::spawn(async move {
            let Some(parent) = &child.0.parent else { return Err(GitWorkspacesError::NowhereToLand) };
            let name = parent.landing_workspace()?.to_owned();
            let _held = parent.run.lock(&name).await;
            let workspace = name.clone();
            let advanced = parent.run.blocking((), move |run| run.advance_workspace(&name, from, commit)).await?;
            if let Some(at) = advanced {
                let recorded = parent.journal.landed(&workspace, &at.to_string()).await;
                recorded.map_err(|error| GitWorkspacesError::JournalUnwritable { reason: error.to_string() })?;
            }
            Ok(())
        });
        match landing.await {
            Ok(landed) => landed,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Err(GitWorkspacesError::RunEnded),
        }
    }

    /// Advances a workspace that a child lands on, unless it has that commit already. Returns the workspace's commit if
    /// the journal does not have it. Git work.
    fn advance_workspace(
        &self,
        name: &str,
        from: Option<CommitId>,
        commit: CommitId,
    ) -> Result<Option<CommitId>, GitWorkspacesError> {
        let (_, mut at) = self.writable(name)?;
        let (repository, branch) = (&self.settings().repository, self.branch_name(name)?);
        if !repository.is_ancestor(commit, at)? {
            if let Some(expected) = from.filter(|from| *from != at) {
                return Err(FastForwardError::Moved { branch, expected, found: Some(at) }.into());
            }
            repository.fast_forward(&branch, commit, at)?;
            at = self.moved(name, commit);
        }
        Ok(Some(at).filter(|_| !self.place(name).is_recorded()))
    }

    fn advance(&self, branch: &BranchName, from: Option<CommitId>, commit: CommitId) -> Result<(), GitWorkspacesError> {
        let Settings { repository, landing, .. } = self.settings();
        let head = repository.branch_head(branch)?;
        let has_it = head.map_or(Ok(false), |head| repository.is_ancestor(commit, head))?;
        if !has_it {
            self.refuse_reserved(head, commit)?;
        }
        match head {
            Some(_) if has_it => {}
            Some(head) => match (repository.fast_forward(branch, commit, from.unwrap_or(head)), from) {
                // The branch has moved since its head was read: check again.
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
        // If they cannot be read, more is archived at the end than is needed.
        *self.at_landing() = self.branches().unwrap_or_default().into_iter().collect();
        Ok(())
    }
}

impl Parent {
    /// The workspace to land on.
    fn landing_workspace(&self) -> Result<&str, GitWorkspacesError> {
        let name = self.workspace.as_deref().ok_or(GitWorkspacesError::NowhereToLand)?;
        if self.run.wanted(name).is_read_only {
            return Err(GitWorkspacesError::ReadOnly { name: name.to_owned() });
        }
        match self.run.is_clone(name) {
            true => Err(GitWorkspacesError::InClone { name: name.to_owned(), operation: "let children land" }),
            false => Ok(name),
        }
    }
}
