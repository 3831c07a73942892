//! Resetting a worktree to a commit.

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
    /// It is the main working tree, which is the user's: nothing in it is ever discarded.
    #[error("{} is the main working tree: nothing in it is discarded", path.display())]
    Main {
        /// The worktree.
        path: std::path::PathBuf,
    },
    /// It could not be moved to the commit.
    #[error(transparent)]
    Switch(#[from] SwitchError),
}

impl Worktree {
    /// Resets branch and files to `commit`, as `git reset --hard` and `git clean -ffdx` do: later commits leave the
    /// branch; uncommitted changes, untracked and ignored files, nested repositories and empty directories are
    /// discarded; and an unfinished merge or pick is forgotten. The contents of a submodule's directory stay.
    ///
    /// So a setup command that prepares the worktree must run again: [`Setup::run`](crate::Setup::run) does it. To keep
    /// the previous head, archive it first: [`crate::Repository::archive`].
    ///
    /// # Errors
    ///
    /// [`ResetError::Main`] in the main working tree. If another git process holds the index or moves the branch, or if
    /// another file system is mounted in the worktree, nothing is changed.
    pub fn reset_to(&self, commit: CommitId) -> Result<(), ResetError> {
        self.reset_to_except(commit, &[])
    }

    /// Like [`Worktree::reset_to`], but spares these paths: files there that are not files of the commit stay as they
    /// are, and so do directories with all their contents.
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

/// The files in a worktree's private directory of an unfinished merge, pick, revert or bisection.
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

/// The directories of an unfinished range of picks or reverts, or rebase.
const OPERATION_DIRECTORIES: [&str; 3] = ["sequencer", "rebase-merge", "rebase-apply"];

fn forget_operations(git: &gix::Repository) -> Result<(), GitError> {
    for name in OPERATIONS.into_iter().chain(OPERATION_DIRECTORIES) {
        delete_directory(git.git_dir().join(name))?;
    }
    Ok(())
}

/// The tree of a commit, after [checking it](crate::untrusted::tree).
pub(crate) fn tree_of(git: &gix::Repository, commit: CommitId) -> Result<gix::ObjectId, GitError> {
    let doing = || format!("reading the commit {commit}");
    let tree = git.find_commit(commit.git()).doing(doing)?.tree_id().doing(doing)?.detach();
    tree::check(git, tree)?;
    Ok(tree)
}
