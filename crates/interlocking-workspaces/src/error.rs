//! Errors of workspaces on git.

use interlocking_core::context::ContextError;
use interlocking_core::run_id::RunId;
use interlocking_runtime::WorkspaceError;
use interlocking_worktree::{
    ArchiveError, BranchName, CherryPickError, CommitError, CommitId, Conflict, CopyError, CreateBranchError,
    CreateCloneError, CreateError, DeleteBranchError, ExportError, FastForwardError, FetchError, FileError, GitError,
    ImportError, MergeError, NameError, ObjectIdError, OpenCloneError, OpenWorktreeError, PoolError, RebaseError,
    RemoveError, RepositoryPath, ResetError, SetupError, SwitchError, UnlockError, WorktreeError,
};
use std::path::PathBuf;
use std::time::Duration;

/// Errors of workspaces on git. Unless an error says otherwise, branches, index and files are unchanged.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum GitWorkspacesError {
    /// The run's workspaces are not [`GitWorkspaces`](crate::GitWorkspaces).
    #[error("the run's workspaces are not on git: give it `GitWorkspaces` with `Run::with_workspaces`")]
    NotOnGit,
    /// There is no branch to begin at and to land on.
    #[error(
        "there is no branch to begin at: the user's working tree is on none that has a commit; commit something, or name a branch \
         with `GitWorkspaces::with_target`"
    )]
    NoTarget,
    /// The branch to begin at, or to land on, does not exist.
    #[error("there is no branch {branch} with a commit: make it, or name another")]
    NoBranch {
        /// The branch.
        branch: BranchName,
    },
    /// The bases of workspaces form a cycle.
    #[error("`{name}` begins at itself, by way of {}: let one of them begin elsewhere", through.join(", "))]
    BaseCycle {
        /// The workspace.
        name: String,
        /// The other workspaces of the cycle.
        through: Vec<String>,
    },
    /// There is a branch of the run's name: of another run, which is active or has left it behind.
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
    /// A branch of a run stays, because its head cannot be archived: it is not a readable commit.
    #[error(
        "the branch {branch} stays: its head, {at}, is not a readable commit; delete the branch if nothing of it is needed"
    )]
    BranchUnreadable {
        /// The branch.
        branch: BranchName,
        /// Its head.
        at: CommitId,
    },
    /// The branch that a workspace is to have belongs to another workspace or program.
    #[error(
        "the branch {branch}, as `GitWorkspaces::with_branch_names` calls it, is taken by {by}: choose another name, or have that branch \
         removed"
    )]
    BranchTaken {
        /// The branch.
        branch: BranchName,
        /// The owner of the branch.
        by: String,
    },
    /// The workspace is read-only and has no branch.
    #[error("every node of `{name}` is `read_only`, so it has no branch to change: do that in another workspace")]
    ReadOnly {
        /// The workspace.
        name: String,
    },
    /// The workspace is a clone, which does not have the repository's other commits.
    #[error(
        "`{name}` is a clone, which has none of the repository's other commits: {operation} in a workspace that is a worktree"
    )]
    InClone {
        /// The workspace.
        name: String,
        /// The operation.
        operation: &'static str,
    },
    /// The journal's records of what children have committed cannot be read.
    #[error("what children have committed cannot be read: {reason}")]
    JournalUnreadable {
        /// The journal's error.
        reason: String,
    },
    /// The commit that is about to land cannot be recorded in the journal.
    #[error("what is about to land cannot be recorded: {reason}")]
    JournalUnwritable {
        /// The journal's error.
        reason: String,
    },
    /// The map node that started this child run has no workspace for the child to land on.
    #[error(
        "the map node that started this run names no workspace for it to land on: name one in the map node's row, or let the child's \
         output be its commit"
    )]
    NowhereToLand,
    /// A git program kept the files of the branch's working tree locked for too long.
    #[error("{branch} could not be advanced in {waited:?}: {problem}")]
    Busy {
        /// The branch.
        branch: BranchName,
        /// How long landing was retried.
        waited: Duration,
        /// The last problem.
        problem: Box<FastForwardError>,
    },
    /// A program has a [`LeftoverRun`](crate::LeftoverRun) of the run that is being resumed.
    #[error(
        "a program is looking at what is left of run `{run}`, or removing it: let it end, then resume the run if it is still there"
    )]
    LookedAt {
        /// The root run.
        run: RunId,
    },
    /// The run has ended or is stopping.
    #[error("the run is over: its workspaces are not changed any more")]
    RunEnded,
    /// A name is not valid for a branch.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A worktree cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The pool of worktrees to reuse cannot be opened.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// A clone cannot be made.
    #[error(transparent)]
    CreateClone(#[from] CreateCloneError),
    /// A worktree's setup failed, or did not end in time. The worktree was removed, and is made again when it is needed.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The setup of a workspace could not be confined to it, and was not started. The workspace was removed, and is made
    /// again when it is needed.
    #[error("the setup of `{name}` was not started, because it cannot be confined: {reason}")]
    SetupNotConfined {
        /// The workspace.
        name: String,
        /// The sandbox's error.
        reason: String,
    },
    /// A file could not be copied to a worktree. The worktree was removed, and is made again when it is needed.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A commit that a workspace must be at is not in the repository.
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
        /// Git's error.
        reason: String,
    },
    /// The commit differs from what was examined. It is not recorded in the journal: the workspace's recorded commit
    /// stays as it was.
    #[error(
        "{path} in `{name}` was changed between its examination and its commit, when no agent is at work: a process that an agent left \
         running may have changed it; end that process, then try again"
    )]
    ChangedMeanwhile {
        /// The workspace.
        name: String,
        /// The first file that differs.
        path: RepositoryPath,
    },
    /// A path in a worktree is not a file, or leads out of the worktree.
    #[error(transparent)]
    File(#[from] FileError),
    /// A branch to land on cannot be made.
    #[error(transparent)]
    CreateBranch(#[from] CreateBranchError),
    /// Changes cannot be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Commits of a clone cannot be fetched into the repository.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// Commits cannot be merged, for example because of a conflict.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// Commits cannot be picked, for example because of a conflict.
    #[error(transparent)]
    CherryPick(#[from] CherryPickError),
    /// Commits cannot be rebased, for example because of a conflict.
    #[error(transparent)]
    Rebase(#[from] RebaseError),
    /// A worktree cannot be reset to a commit.
    #[error(transparent)]
    Reset(#[from] ResetError),
    /// A commit that is to land changes a file in a
    /// [reserved directory](crate::GitWorkspaces::with_reserved_directory).
    #[error(
        "{commit} does not land, because it changes {path}: {} belongs to the program that executes the run, and \
         agents do not write there",
        directory.display()
    )]
    Reserved {
        /// The commit.
        commit: CommitId,
        /// The file, or the first of several.
        path: RepositoryPath,
        /// The directory.
        directory: PathBuf,
    },
    /// The branch cannot be advanced, for example because it has moved.
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
    /// A worktree does not exist any more.
    #[error(transparent)]
    Open(#[from] OpenWorktreeError),
    /// A clone does not exist any more.
    #[error(transparent)]
    OpenClone(#[from] OpenCloneError),
    /// Locks that a killed process left cannot be removed.
    #[error(transparent)]
    Unlock(#[from] UnlockError),
    /// A worktree is not as it was when it was created or opened.
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    /// The journal's text is not a commit id.
    #[error(transparent)]
    InvalidCommitId(#[from] ObjectIdError),
    /// The executor's context does not offer what was asked for.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A directory cannot be made or removed.
    #[error("{}: {reason}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Something could not be read or written.
    #[error(transparent)]
    Git(#[from] GitError),
}

impl GitWorkspacesError {
    /// The conflicts, if they are why commits cannot be merged, picked or rebased.
    pub fn conflicts(&self) -> Option<&[Conflict]> {
        match self {
            Self::Merge(MergeError::Conflict { conflicts, .. })
            | Self::CherryPick(CherryPickError::Conflict { conflicts, .. })
            | Self::Rebase(RebaseError::Conflict { conflicts, .. }) => Some(conflicts),
            _ => None,
        }
    }

    /// Whether a branch was not advanced because it has moved.
    pub fn has_moved(&self) -> bool {
        use FastForwardError::{Moved, NotFastForward};
        matches!(self, Self::FastForward(Moved { .. } | NotFastForward { .. }))
    }
}

impl From<ExportError> for GitWorkspacesError {
    fn from(error: ExportError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<ImportError> for GitWorkspacesError {
    fn from(error: ImportError) -> Self {
        Self::Fetch(error.into())
    }
}

impl From<GitWorkspacesError> for WorkspaceError {
    fn from(error: GitWorkspacesError) -> Self {
        Self::Unusable { reason: error.to_string() }
    }
}

/// Whether git's lock file keeps files from being updated: a git program is at work there, or was killed.
pub(crate) fn is_a_lock(error: &FastForwardError) -> bool {
    let FastForwardError::CheckedOut { problem, .. } = error else { return false };
    matches!(problem, SwitchError::Worktree(WorktreeError::IndexBusy { .. }))
}
