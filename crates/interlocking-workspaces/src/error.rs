//! What goes wrong with workspaces on git.

use interlocking_core::context::ContextError;
use interlocking_runtime::WorkspaceError;
use interlocking_worktree::{
    ArchiveError, BranchName, CherryPickError, CommitError, CommitId, CopyError, CreateBranchError, CreateCloneError,
    CreateError, DeleteBranchError, ExportError, FastForwardError, FetchError, FileError, GitError, MergeError,
    NameError, ObjectIdError, OpenCloneError, OpenWorktreeError, PoolError, RebaseError, RemoveCloneError, RemoveError,
    RepositoryPath, ResetError, SetupError, SwitchError, TakeInError, UnlockError, WorktreeError,
};
use std::path::PathBuf;
use std::time::Duration;

/// What goes wrong with workspaces on git. Unless an error says more, branches, index and files are as they were.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GitWorkspacesError {
    /// The run has other workspaces.
    #[error("the run's workspaces are not on git: give it `GitWorkspaces` with `Run::with_workspaces`")]
    NotOnGit,
    /// There is no branch to begin at and to land on.
    #[error(
        "there is no branch to begin at: the user's working tree is on none that has a commit; commit something, or name a branch \
         with `GitWorkspaces::with_target`"
    )]
    NoTarget,
    /// The branch to begin at, or to land on, is not there.
    #[error("there is no branch {branch} with a commit: make it, or name another")]
    NoBranch {
        /// The branch.
        branch: BranchName,
    },
    /// Workspaces that begin where each other stand.
    #[error("`{name}` begins at itself, by way of {}: let one of them begin elsewhere", by_way_of.join(", "))]
    Circle {
        /// The workspace.
        name: String,
        /// The others.
        by_way_of: Vec<String>,
    },
    /// There is a branch of the run's name: another run's, which goes on or left it.
    #[error(
        "the run's name is taken: there is a branch {branch}, at {at}; choose another name for the run, or have what is left of that \
         one removed"
    )]
    RunTaken {
        /// The branch.
        branch: BranchName,
        /// Where it is.
        at: CommitId,
    },
    /// The branch that a workspace is to have is somebody else's.
    #[error(
        "the branch {branch}, as `GitWorkspaces::with_branch_names` calls it, is taken by {by}: choose another name, or have that branch \
         removed"
    )]
    BranchTaken {
        /// The branch.
        branch: BranchName,
        /// Whose it is.
        by: String,
    },
    /// The workspace is to be read, and has no branch.
    #[error("every node of `{name}` is `read_only`, so it has no branch to change: do that in another workspace")]
    ReadOnly {
        /// The workspace.
        name: String,
    },
    /// The workspace is a clone, which knows nothing of other commits.
    #[error(
        "`{name}` is a clone, which has none of the repository's other commits: {operation} in a workspace that is a worktree"
    )]
    InClone {
        /// The workspace.
        name: String,
        /// What was to be done.
        operation: &'static str,
    },
    /// What children have committed cannot be read from the journal.
    #[error("what children have committed cannot be read: {reason}")]
    Unread {
        /// The journal's words.
        reason: String,
    },
    /// What is about to land cannot be recorded.
    #[error("what is about to land cannot be recorded: {reason}")]
    Unrecorded {
        /// The journal's words.
        reason: String,
    },
    /// A child run lands on the workspace of the map node that has started it, and that has none.
    #[error(
        "the map node that started this run names no workspace for it to land on: give it one in its table, or let the child give its \
         commit to it as its output"
    )]
    NowhereToLand,
    /// A git program held the files of the branch's working tree all the time.
    #[error("{branch} could not be advanced in {waited:?}: {problem}")]
    Busy {
        /// The branch.
        branch: BranchName,
        /// How long it was tried.
        waited: Duration,
        /// What was in the way.
        problem: Box<FastForwardError>,
    },
    /// The run is over, or stops.
    #[error("the run is over: its workspaces are not changed any more")]
    Over,
    /// A name is not one of a branch.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A worktree cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// There is no place for worktrees that are to be used again.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A clone cannot be made.
    #[error(transparent)]
    CreateClone(#[from] CreateCloneError),
    /// What makes a worktree ready failed; the worktree was removed, and is made again when it is needed.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A file could not be copied to a worktree; the worktree was removed, and is made again when it is needed.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A commit that a workspace is to stand at is not in the repository.
    #[error(
        "the commit {commit}, which `{name}` stood at, is not in {} any more ({reason}): whatever kept it, such as a reference below \
         refs/interlocking/archive, was deleted, or git has cleared up what a run that succeeded did not land; bring the commit back from a \
         copy of the repository, or fork the run from before the node that made it",
        repository.display()
    )]
    CommitGone {
        /// The workspace.
        name: String,
        /// The commit.
        commit: CommitId,
        /// The repository.
        repository: PathBuf,
        /// Git's words.
        reason: String,
    },
    /// What is committed is not what was examined. The journal is not told of the commit: the workspace is to stand where it stood.
    #[error(
        "somebody changed {path} in `{name}` between its examination and its commit; no agent is at work then, so one has left something \
         behind that is"
    )]
    ChangedMeanwhile {
        /// The workspace.
        name: String,
        /// The first file.
        path: RepositoryPath,
    },
    /// A file in a worktree is none, or is out of the worktree.
    #[error(transparent)]
    File(#[from] FileError),
    /// A branch to land on cannot be made.
    #[error(transparent)]
    CreateBranch(#[from] CreateBranchError),
    /// Changes cannot be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// What was committed in a clone cannot be brought back.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Commits cannot be merged: a conflict, for one.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// Commits cannot be picked: a conflict, for one.
    #[error(transparent)]
    CherryPick(#[from] CherryPickError),
    /// Commits cannot be rebased: a conflict, for one.
    #[error(transparent)]
    Rebase(#[from] RebaseError),
    /// A worktree cannot be taken back to a commit.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// The branch cannot be advanced: it moved, for one.
    #[error(transparent)]
    FastForward(#[from] FastForwardError),
    /// A commit cannot be kept in the archive.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A branch cannot be deleted.
    #[error(transparent)]
    DeleteBranch(#[from] DeleteBranchError),
    /// A worktree cannot be removed.
    #[error(transparent)]
    Remove(#[from] RemoveError),
    /// A clone cannot be removed.
    #[error(transparent)]
    RemoveClone(#[from] RemoveCloneError),
    /// A worktree is not there any more.
    #[error(transparent)]
    Open(#[from] OpenWorktreeError),
    /// A clone is not there any more.
    #[error(transparent)]
    OpenClone(#[from] OpenCloneError),
    /// Locks that a killed process left cannot be removed.
    #[error(transparent)]
    Unlock(#[from] UnlockError),
    /// A worktree is not what it was.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// What the journal has is no commit.
    #[error(transparent)]
    Commitless(#[from] ObjectIdError),
    /// The executor is another.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A directory cannot be made or removed.
    #[error("{}: {reason}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl From<ExportError> for GitWorkspacesError {
    fn from(error: ExportError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<TakeInError> for GitWorkspacesError {
    fn from(error: TakeInError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<GitWorkspacesError> for WorkspaceError {
    fn from(error: GitWorkspacesError) -> Self {
        Self::Unusable { reason: error.to_string() }
    }
}

/// Whether a lock of git's keeps files from being touched: of a program that is at work there, or was killed.
pub(crate) fn is_a_lock(error: &FastForwardError) -> bool {
    let FastForwardError::CheckedOut { problem, .. } = error else { return false };
    matches!(problem, SwitchError::Worktree(WorktreeError::IndexBusy { .. }))
}
