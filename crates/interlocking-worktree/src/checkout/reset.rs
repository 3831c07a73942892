//! Taking a worktree back to a commit.

use crate::{
    checkout::switch::{Switch, SwitchError, Uncommitted},
    untrusted::tree,
    values::{
        git_error::{Doing as _, GitError},
        id::CommitId,
        path::RepositoryPath,
        signature::Signature,
    },
    worktrees::{remove::delete_directory, worktree::Worktree},
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
    /// Makes branch and files those of `commit`, as `git reset --hard` and `git clean -ffdx` do: later commits leave the
    /// branch, uncommitted changes, untracked files and ignored ones are discarded, nested repositories and empty directories
    /// too, and an unfinished merge or pick is forgotten. What is in the directory of a submodule stays.
    ///
    /// So what makes a worktree ready, such as a [`Setup`](crate::Setup) command, has to do so again:
    /// [`Setup::run`](crate::Setup::run) sees to it. To keep the head that is left, archive it first:
    /// [`crate::Repository::archive`].
    ///
    /// # Errors
    ///
    /// [`ResetError::Main`] in the main working tree. If another git process holds the index or moves the branch,
    /// or if another file system is mounted in the worktree, nothing was changed.
    pub fn reset_to(&self, commit: CommitId) -> Result<(), ResetError> {
        self.reset_to_except(commit, &[])
    }

    /// [`Worktree::reset_to`], but whatever is at these paths and is not a file of the commit stays as it is: files, and
    /// directories with all that is in them.
    ///
    /// # Errors
    ///
    /// See [`Worktree::reset_to`].
    pub fn reset_to_except(&self, commit: CommitId, spared: &[RepositoryPath]) -> Result<(), ResetError> {
        if self.is_main() {
            return Err(ResetError::Main { path: self.path().to_owned() });
        }
        let (git, head) = self.open_with_head().map_err(SwitchError::from)?;
        let tree = tree_of(&git, commit).map_err(SwitchError::from)?;
        let switch = Switch::prepare(&git, true, tree, Uncommitted::Discard { spared })?;
        switch.run(self.branch(), head, commit, &Signature::runtime(), format!("reset: moving to {commit}"))?;
        forget_operations(&git).map_err(SwitchError::from)?;
        Ok(())
    }
}

/// What git leaves in a worktree's private directory while a merge, pick, revert or bisection waits for a person.
const OPERATIONS: [&str; 9] = [
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
    "BISECT_LOG",
];

/// The same as directories: the rest of a range of picks or reverts, and rebases.
const OPERATION_DIRECTORIES: [&str; 3] = ["sequencer", "rebase-merge", "rebase-apply"];

fn forget_operations(git: &gix::Repository) -> Result<(), GitError> {
    for name in OPERATIONS.into_iter().chain(OPERATION_DIRECTORIES) {
        delete_directory(git.git_dir().join(name))?;
    }
    Ok(())
}

/// The tree of a commit, which is [a sound one](crate::untrusted::tree).
pub(crate) fn tree_of(git: &gix::Repository, commit: CommitId) -> Result<gix::ObjectId, GitError> {
    let doing = || format!("reading the commit {commit}");
    let tree = git.find_commit(commit.git()).doing(doing)?.tree_id().doing(doing)?.detach();
    tree::check(git, tree)?;
    Ok(tree)
}
