//! Taking a worktree back to a commit.

use crate::{
    git_error::Doing as _,
    id::CommitId,
    signature::Signature,
    switch::{Switch, SwitchError, Uncommitted},
    worktree::Worktree,
};

/// A worktree could not be reset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResetError {
    /// It is the user's own working tree, from which nothing is ever discarded.
    #[error("{} is the main working tree: nothing in it is discarded", path.display())]
    Main {
        /// The worktree.
        path: std::path::PathBuf,
    },
    /// It could not be moved.
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

impl Worktree {
    /// Makes branch and files those of `commit`: later commits leave the branch, uncommitted changes and untracked
    /// files are discarded, and [`Worktree::status`] is empty. Ignored files stay, unless a file must be where they
    /// are.
    ///
    /// To keep the head that is left, archive it first: [`crate::Repository::archive`].
    ///
    /// # Errors
    ///
    /// [`ResetError::Main`] in the main working tree. If another git process holds the index or moves the branch,
    /// nothing was changed.
    pub fn reset_to(&self, commit: CommitId) -> Result<(), ResetError> {
        if self.is_main() {
            return Err(ResetError::Main { path: self.path().to_owned() });
        }
        let (git, head) = self.open_with_head().map_err(SwitchError::from)?;
        let tree = tree_of(&git, commit).map_err(SwitchError::from)?;
        let switch = Switch::prepare(&git, true, tree, Uncommitted::Discard)?;
        switch.run(head, commit, &Signature::runtime(), format!("reset: moving to {commit}"))?;
        Ok(())
    }
}

pub(crate) fn tree_of(git: &gix::Repository, commit: CommitId) -> Result<gix::ObjectId, crate::git_error::GitError> {
    let doing = || format!("reading the commit {commit}");
    Ok(git.find_commit(commit.git()).doing(doing)?.tree_id().doing(doing)?.detach())
}
